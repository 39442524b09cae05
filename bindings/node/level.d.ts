import { AbstractDatabaseOptions, AbstractLevel, AbstractOpenOptions } from 'abstract-level';
import { Database, DatabaseOptions } from './index';

export type CambiumLevelOptions<KDefault, VDefault> = AbstractDatabaseOptions<KDefault, VDefault> &
  Omit<DatabaseOptions, 'comparator'>;

/** A database with the interface of abstract-level. */
export class CambiumLevel<KDefault = string, VDefault = string> extends AbstractLevel<
  string | Buffer | Uint8Array,
  KDefault,
  VDefault
> {
  /** The directory is created, with its parents, unless `createIfMissing` is false. */
  constructor(location: string, options?: CambiumLevelOptions<KDefault, VDefault>);
  readonly location: string;
  /** What abstract-level has not; null while the level is not open. */
  readonly database: Database | null;
  open(): Promise<void>;
  open(options: AbstractOpenOptions & Omit<DatabaseOptions, 'comparator'>): Promise<void>;
  static destroy(location: string): Promise<void>;
}
