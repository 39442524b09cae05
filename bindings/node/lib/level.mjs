import level from './level.js';

export const { CambiumLevel } = level;
export default level;
