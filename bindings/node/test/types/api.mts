// Compiled, not run: the types of the modules for import.
import { Database } from 'cambium';

export const open: Promise<Database> = Database.open('path');
