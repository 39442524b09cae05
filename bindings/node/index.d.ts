/// <reference types="node" />
/// <reference lib="esnext.disposable" />

/** A key or a value: strings are stored as UTF-8. */
export type Bytes = string | NodeJS.ArrayBufferView;
export type Encoding = 'buffer' | 'utf8';
/** A value as an encoding returns it. */
export type Decoded<E extends Encoding | undefined> = E extends 'utf8' ? string : Buffer;

// ---- Errors ----

export class CambiumError extends Error {
  constructor(message: string, code?: string);
  /** For example 'CAMBIUM_CORRUPTION'. */
  readonly code: string;
  /** The database takes no writes until it is opened again. */
  readonly fatal: boolean;
}
export class NotFoundError extends CambiumError {}
export class CorruptionError extends CambiumError {}
export class NotSupportedError extends CambiumError {}
export class InvalidArgumentError extends CambiumError {}
export class IOError extends CambiumError {}
export class NoSpaceError extends IOError {}
export class LockedError extends IOError {}
export class PathNotFoundError extends IOError {}
export class DeniedError extends IOError {}
export class IncompleteError extends CambiumError {}
export class ShutdownInProgressError extends CambiumError {}
export class TimedOutError extends CambiumError {}
export class LockTimeoutError extends TimedOutError {}
export class AbortedError extends CambiumError {}
export class OutOfMemoryError extends AbortedError {}
export class BusyError extends CambiumError {}
export class DeadlockError extends BusyError {}
export class LockLimitError extends BusyError {}
export class ExpiredError extends CambiumError {}
export class TryAgainError extends CambiumError {}
export class ColumnFamilyDroppedError extends CambiumError {}
/**
 * A database, an iterator, a snapshot or a backup engine was used after it was closed, or a transaction or an indexed
 * batch after it had ended.
 */
export class ClosedError extends CambiumError {}

// ---- Options ----

/** A number of bytes, also as a text such as '64M'. */
export type Size = number | bigint | string;
export type Compression = 'none' | 'lz4' | 'zstd';

export interface Comparator {
  name: string;
  /** Returns a negative number, 0, or a positive number. If it throws, the process ends. */
  compare(a: Buffer, b: Buffer): number;
}

export type FilterAnswer = undefined | boolean | 'keep' | 'remove' | { value: Bytes } | { skipUntil: Bytes };

export interface CompactionFilter {
  name: string;
  /** Asked first about values that are not in the index; the value is read only if the answer is 'undetermined'. */
  filterKey?(key: Buffer, level: number): FilterAnswer | 'undetermined';
  filter(key: Buffer, value: Buffer, level: number): FilterAnswer;
  /** Gets the exceptions of the filter; without it they are uncaught. The entry is kept. */
  onError?(error: unknown): void;
}

/** Options of a column family. docs/OPTIONS.md of Cambium describes them. */
export interface ColumnFamilyOptions {
  comparator?: 'bytewise' | 'reverse-bytewise' | Comparator;
  compactionFilter?: CompactionFilter;
  /** Sets the defaults of RocksDB first. */
  rocksdbCompatibility?: boolean;
  indexType?: 'btree' | 'lsm';
  pageSize?: Size;
  filterBitsPerKey?: number;
  writeBufferSize?: Size;
  maxWriteBufferNumber?: number;
  enableBlobFiles?: boolean;
  minBlobSize?: Size;
  largeValueSize?: Size;
  blobCompressionType?: Compression;
  blobFileSize?: Size;
  valueClustering?: 'off' | 'auto' | 'full';
  enableBlobGarbageCollection?: boolean;
  blobGarbageCollectionAgeCutoff?: number;
  blobGarbageCollectionForceThreshold?: number;
  sweepRatio?: number;
  compactionStyle?: 'level' | 'lazyLevel';
  level0FileNumCompactionTrigger?: number;
  level0SlowdownWritesTrigger?: number;
  level0StopWritesTrigger?: number;
  targetFileSizeBase?: Size;
  targetFileSizeMultiplier?: number;
  maxBytesForLevelBase?: Size;
  maxBytesForLevelMultiplier?: number;
  numLevels?: number;
  compression?: Compression;
  /** Any option by the library's own name, such as 'write_buffer_size'. */
  [name: `${string}_${string}`]: string | number | bigint | boolean | undefined;
}

export type StatisticsLevel =
  | 'disableAll'
  | 'exceptHistogramOrTimers'
  | 'exceptTimers'
  | 'exceptDetailedTimers'
  | 'all';

export type EventName =
  | 'memtableSealed'
  | 'flushBegin'
  | 'flush'
  | 'compactionBegin'
  | 'compaction'
  | 'logGc'
  | 'tableFileStarted'
  | 'tableFileCreated'
  | 'tableFileDeleted'
  | 'blobFileStarted'
  | 'blobFileCreated'
  | 'blobFileDeleted'
  | 'stall'
  | 'backgroundError';

/** The details of an event. `error` is there if the job failed. */
export interface EventDetails {
  readonly error?: CambiumError;
  readonly [name: string]: string | number | boolean | string[] | CambiumError | undefined;
}

/** Options of a database and of its default column family. */
export interface DatabaseOptions extends ColumnFamilyOptions {
  readOnly?: boolean;
  /** Transactions lock the keys that they use, so that others wait for them. */
  transactionLocks?: boolean | TransactionLocks;
  /** The column families to open: their names, or their options by name. The default one is always opened. */
  columnFamilies?: readonly string[] | Readonly<Record<string, ColumnFamilyOptions>>;
  createIfMissing?: boolean;
  createMissingColumnFamilies?: boolean;
  errorIfExists?: boolean;
  walRecoveryMode?: 'tolerateCorruptedTailRecords' | 'absoluteConsistency' | 'pointInTime';
  lockWaitMicros?: number;
  pageCacheSize?: Size;
  dbWriteBufferSize?: Size;
  maxTotalWalSize?: Size;
  maxSpaceAmplification?: number;
  minSpaceLimit?: Size;
  minPunchSize?: Size;
  allowMmapReads?: boolean;
  maxOpenFiles?: number;
  maxBackgroundJobs?: number;
  /** Counts what the database does; true is 'exceptDetailedTimers'. */
  statistics?: boolean | StatisticsLevel;
  rateLimiter?: RateLimiter;
  writeBufferManager?: WriteBufferManager;
  /** Gets each line of the log; null drops them. Without it they go to the file LOG. */
  infoLog?: ((line: string, level: 'debug' | 'info' | 'warn' | 'error') => void) | null;
  infoLogLevel?: 'debug' | 'info' | 'warn' | 'error';
  /** Called after events of background work, in their order on each thread of the library. */
  onEvent?(name: EventName, details: EventDetails): void;
}

export interface OpenOptions extends DatabaseOptions {
  signal?: AbortSignal;
}

export interface FamilyOption {
  /** A column family, or the name of an open one; the default one without it. */
  columnFamily?: ColumnFamily | string;
}

export interface ReadOptions {
  snapshot?: Snapshot;
  verifyChecksums?: boolean;
  fillCache?: boolean;
  asyncIO?: boolean;
  durableOnly?: boolean;
  pinMappedValues?: boolean;
}

export interface GetOptions<E extends Encoding | undefined = Encoding | undefined> extends ReadOptions, FamilyOption {
  encoding?: E;
}

export interface WriteOptions {
  /** The write, and all before it, survives a power cut when the call has ended. */
  sync?: boolean;
  /** Fails with an IncompleteError where the write would wait. */
  noSlowdown?: boolean;
  disableWAL?: boolean;
}

export interface WithSignal {
  signal?: AbortSignal;
}

export interface RangeOptions {
  gt?: Bytes;
  gte?: Bytes;
  lt?: Bytes;
  lte?: Bytes;
  /** Keys that begin with these bytes. Excludes the other bounds. */
  prefix?: Bytes;
}

export interface IteratorOptions<
  K extends Encoding | undefined = Encoding | undefined,
  V extends Encoding | undefined = Encoding | undefined,
> extends ReadOptions,
    FamilyOption,
    RangeOptions,
    WithSignal {
  reverse?: boolean;
  limit?: number;
  keyEncoding?: K;
  valueEncoding?: V;
  /** The most bytes that are read ahead at once; 64 KiB without it. */
  highWaterMarkBytes?: number;
}

export interface CursorOptions<
  K extends Encoding | undefined = Encoding | undefined,
  V extends Encoding | undefined = Encoding | undefined,
> extends ReadOptions,
    FamilyOption,
    RangeOptions {
  keyEncoding?: K;
  valueEncoding?: V;
  /** False: moves read no values. */
  values?: boolean;
}

export interface CompactRangeOptions extends FamilyOption {
  start?: Bytes;
  end?: Bytes;
  blobGarbageCollectionPolicy?: 'force' | 'disable' | 'useDefault';
  blobGarbageCollectionAgeCutoff?: number;
  clusterValues?: boolean;
}

export interface FlushOptions extends FamilyOption {
  wait?: boolean;
}

export interface ApproximateSizesOptions extends FamilyOption {
  includeMemtables?: boolean;
  includeFiles?: boolean;
}

export interface CheckpointOptions {
  logSizeForFlush?: number | bigint;
}

export interface TraceOptions {
  maxTraceFileSize?: number | bigint;
  samplingFrequency?: number | bigint;
  leaveOut?: readonly ('get' | 'write' | 'iteratorSeek' | 'iteratorSeekForPrev' | 'multiGet')[];
  preserveWriteOrder?: boolean;
  includeValues?: boolean;
}

/** Options as texts. */
export type OptionTexts = Record<string, string>;

// ---- Writing ----

export type Operation =
  | ({ type: 'put'; key: Bytes; value: Bytes } & FamilyOption)
  | ({ type: 'delete' | 'del'; key: Bytes } & FamilyOption)
  | ({ type: 'deleteRange'; start: Bytes; end: Bytes } & FamilyOption);

/** What a key must be when `Database.writeIf()` writes a batch. */
export type Condition =
  | ({ type: 'isAbsent'; key: Bytes } & FamilyOption)
  | ({ type: 'hasValue'; key: Bytes; value: Bytes } & FamilyOption);

export type BatchOperation =
  | { type: 'put'; columnFamilyId: number; key: Buffer; value: Buffer }
  | { type: 'delete'; columnFamilyId: number; key: Buffer }
  | { type: 'deleteRange'; columnFamilyId: number; start: Buffer; end: Buffer };

export interface BatchFamilyOption {
  columnFamily?: ColumnFamily;
}

/** Operations that a database applies as a whole, over all its column families. */
export class WriteBatch {
  constructor();
  static from(bytes: NodeJS.ArrayBufferView): WriteBatch;
  readonly length: number;
  put(key: Bytes, value: Bytes, options?: BatchFamilyOption): this;
  delete(key: Bytes, options?: BatchFamilyOption): this;
  singleDelete(key: Bytes, options?: BatchFamilyOption): this;
  deleteRange(start: Bytes, end: Bytes, options?: BatchFamilyOption): this;
  append(other: WriteBatch): this;
  clear(): this;
  setSavePoint(): this;
  rollbackToSavePoint(): this;
  popSavePoint(): this;
  operations(): BatchOperation[];
  toBuffer(): Buffer;
}

// ---- Reading ----

export class Snapshot {
  private constructor();
  readonly database: Database;
  readonly sequenceNumber: bigint;
  close(): void;
  [Symbol.dispose](): void;
}

/** Reads entries, keys or values of a range in order. */
export class EntryIterator<T> implements AsyncIterableIterator<T>, Iterable<T> {
  private constructor();
  readonly database: Database;
  next(): Promise<IteratorResult<T, undefined>>;
  nextSync(): IteratorResult<T, undefined>;
  return(value?: undefined): Promise<IteratorResult<T, undefined>>;
  /** Up to `count` entries; the list is empty at the end only. */
  nextChunk(count?: number): Promise<T[]>;
  nextChunkSync(count?: number): T[];
  all(): Promise<T[]>;
  allSync(): T[];
  seek(key: Bytes): void;
  close(): void;
  [Symbol.dispose](): void;
  [Symbol.asyncDispose](): Promise<void>;
  [Symbol.asyncIterator](): this;
  [Symbol.iterator](): IterableIterator<T>;
}

// ---- Transactions ----

export interface TransactionOptions extends WriteOptions {
  /** Whether the transaction begins with a snapshot. By default optimistic ones do, those with locks do not. */
  snapshot?: boolean;
  /** Reads see the newest state, also if the transaction has a snapshot. */
  readNewest?: boolean;
  /** The others are for databases with `transactionLocks`. Times are in milliseconds; Infinity: without limit. */
  deadlockDetect?: boolean;
  lockTimeout?: number;
  expiration?: number;
  /** Bytes; 0: no limit. */
  maxWriteBatchSize?: number;
  /** If false, the commit of a transaction that is not prepared is an InvalidArgumentError. */
  skipPrepare?: boolean;
}

/** Options of a database whose transactions lock their keys. Times are in milliseconds; Infinity: without limit. */
export interface TransactionLocks {
  /** The most locks of a column family at a time; Infinity without it. */
  maxLocks?: number;
  stripes?: number;
  lockTimeout?: number;
  writeLockTimeout?: number;
}

export interface TransactionInfo {
  id: bigint;
  /** Tracked keys. */
  keys: number;
  puts: number;
  deletes: number;
  /** Milliseconds since it began. */
  elapsed: number;
  /** It has expired, and another transaction has taken one of its locks. */
  hasLostLocks: boolean;
  /** `prepare()` has succeeded, in this or in an earlier process. */
  isPrepared: boolean;
}

export interface OverlayGetOptions<E extends Encoding | undefined = Encoding | undefined> extends FamilyOption {
  encoding?: E;
}
export interface GetForUpdateOptions<E extends Encoding | undefined = Encoding | undefined>
  extends OverlayGetOptions<E> {
  /** With locks: others may read the key for update too, also with `shared`. */
  shared?: boolean;
}

/**
 * What transactions and indexed batches have in common. Promises of one object wait for each other. A synchronous call
 * throws a BusyError while a promise is not fulfilled.
 */
declare abstract class Overlay {
  readonly database: Database;
  readonly isOpen: boolean;
  get<E extends Encoding | undefined = undefined>(
    key: Bytes,
    options?: OverlayGetOptions<E>,
  ): Promise<Decoded<E> | undefined>;
  getSync<E extends Encoding | undefined = undefined>(
    key: Bytes,
    options?: OverlayGetOptions<E>,
  ): Decoded<E> | undefined;
  put(key: Bytes, value: Bytes, options?: FamilyOption): Promise<void>;
  putSync(key: Bytes, value: Bytes, options?: FamilyOption): void;
  delete(key: Bytes, options?: FamilyOption): Promise<void>;
  deleteSync(key: Bytes, options?: FamilyOption): void;
  iterator<K extends Encoding | undefined = undefined, V extends Encoding | undefined = undefined>(
    options?: IteratorOptions<K, V>,
  ): EntryIterator<[Decoded<K>, Decoded<V>]>;
  keys<K extends Encoding | undefined = undefined>(options?: IteratorOptions<K>): EntryIterator<Decoded<K>>;
  values<V extends Encoding | undefined = undefined>(
    options?: IteratorOptions<Encoding | undefined, V>,
  ): EntryIterator<Decoded<V>>;
  setSavePoint(): void;
  rollbackToSavePoint(): void;
  popSavePoint(): void;
  [Symbol.dispose](): void;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Reads and writes that take effect together, or not at all, and only if no tracked key was written by others. */
export class Transaction extends Overlay {
  private constructor();
  /** Tracks the key, whether it exists or not. */
  getForUpdate<E extends Encoding | undefined = undefined>(
    key: Bytes,
    options?: GetForUpdateOptions<E>,
  ): Promise<Decoded<E> | undefined>;
  getForUpdateSync<E extends Encoding | undefined = undefined>(
    key: Bytes,
    options?: GetForUpdateOptions<E>,
  ): Decoded<E> | undefined;
  undoGetForUpdate(key: Bytes, options?: FamilyOption): void;
  write(batch: WriteBatch): Promise<void>;
  writeSync(batch: WriteBatch): void;
  /**
   * The first of two phases, for a transaction with a name, in a database with `transactionLocks`: records it. It can
   * then only be read, committed or rolled back, and remains prepared until then, also if the database is closed.
   */
  prepare(): Promise<void>;
  prepareSync(): void;
  /** Ends the transaction. After an error nothing is written, and it has not ended. Closes its iterators. */
  commit(): Promise<void>;
  commitSync(): void;
  /**
   * Ends the transaction: at once, or if it is prepared, when that is recorded. After an error it is still prepared. A
   * second call does nothing.
   */
  rollback(): Promise<void>;
  rollbackSync(): void;
  setSnapshot(): void;
  clearSnapshot(): void;
  readonly snapshotSequenceNumber: bigint | undefined;
  /** Can be set once, in a database with `transactionLocks`. */
  name: string;
  readonly info: TransactionInfo;
}

/** A batch that can be read before it is written. */
export class IndexedBatch extends Overlay {
  private constructor();
  getFromBatch<E extends Encoding | undefined = undefined>(
    key: Bytes,
    options?: OverlayGetOptions<E>,
  ): Promise<Decoded<E> | undefined>;
  getFromBatchSync<E extends Encoding | undefined = undefined>(
    key: Bytes,
    options?: OverlayGetOptions<E>,
  ): Decoded<E> | undefined;
  deleteRange(start: Bytes, end: Bytes, options?: FamilyOption): Promise<void>;
  deleteRangeSync(start: Bytes, end: Bytes, options?: FamilyOption): void;
  write(options?: WriteOptions): Promise<void>;
  writeSync(options?: WriteOptions): void;
  readonly length: number;
  clear(): void;
  close(): void;
}

/** Stands at one entry, and moves in both directions. Moves return whether it stands at an entry afterwards. */
export class Cursor<K = Buffer, V = Buffer> {
  private constructor();
  readonly database: Database;
  readonly valid: boolean;
  readonly key: K;
  readonly value: V;
  readonly valueSize: number;
  seekToFirst(): Promise<boolean>;
  seekToFirstSync(): boolean;
  seekToLast(): Promise<boolean>;
  seekToLastSync(): boolean;
  seek(key: Bytes): Promise<boolean>;
  seekSync(key: Bytes): boolean;
  seekForPrev(key: Bytes): Promise<boolean>;
  seekForPrevSync(key: Bytes): boolean;
  next(): Promise<boolean>;
  nextSync(): boolean;
  prev(): Promise<boolean>;
  prevSync(): boolean;
  close(): void;
  [Symbol.dispose](): void;
}

export class ColumnFamily {
  private constructor();
  readonly database: Database;
  readonly name: string;
  readonly id: number;
}

export interface HistogramData {
  median: number;
  p95: number;
  p99: number;
  average: number;
  standardDeviation: number;
  max: number;
  min: number;
  count: bigint;
  sum: bigint;
}

export class Statistics {
  private constructor();
  level: StatisticsLevel;
  ticker(name: string): bigint;
  histogram(name: string): HistogramData;
  toString(): string;
}

// ---- Databases ----

/** What Database.attach() takes in another thread. It can be sent to a worker. */
export interface SharedDatabase {
  readonly cambium: number;
}

export interface SalvageResult {
  /** How many things were lost. */
  lost: number;
  /** How many values may be old or of deleted keys. */
  unproven: number;
}

export class Database {
  private constructor();
  static open(path: string, options?: OpenOptions): Promise<Database>;
  static openSync(path: string, options?: DatabaseOptions): Database;
  static attach(shared: SharedDatabase): Database;
  static destroy(path: string, options?: DatabaseOptions): Promise<void>;
  static repair(path: string, options?: DatabaseOptions): Promise<void>;
  static salvage(
    path: string,
    out: string,
    options?: DatabaseOptions & { includeUnproven?: boolean },
  ): Promise<SalvageResult>;
  static verify(path: string, options?: DatabaseOptions & { deep?: boolean }): Promise<string[]>;
  static listColumnFamilies(path: string, options?: DatabaseOptions): Promise<string[]>;
  static checkpointOffline(path: string, directory: string, options?: DatabaseOptions): Promise<void>;
  static loadLatestOptions(
    path: string,
    options?: { ignoreUnknownOptions?: boolean },
  ): Promise<{ database: OptionTexts; columnFamilies: Record<string, OptionTexts> }>;

  readonly path: string;
  readonly readOnly: boolean;
  readonly isOpen: boolean;
  share(): SharedDatabase;
  close(): Promise<void>;
  closeSync(): void;
  [Symbol.dispose](): void;
  [Symbol.asyncDispose](): Promise<void>;

  readonly columnFamilies: ColumnFamily[];
  columnFamily(name: string): ColumnFamily | undefined;
  createColumnFamily(name: string, options?: ColumnFamilyOptions): Promise<ColumnFamily>;
  createColumnFamilySync(name: string, options?: ColumnFamilyOptions): ColumnFamily;
  dropColumnFamily(columnFamily: ColumnFamily | string): Promise<void>;
  dropColumnFamilySync(columnFamily: ColumnFamily | string): void;

  get<E extends Encoding | undefined = undefined>(
    key: Bytes,
    options?: GetOptions<E> & WithSignal,
  ): Promise<Decoded<E> | undefined>;
  getSync<E extends Encoding | undefined = undefined>(key: Bytes, options?: GetOptions<E>): Decoded<E> | undefined;
  multiGet<E extends Encoding | undefined = undefined>(
    keys: readonly Bytes[],
    options?: MultiGetOptions<E> & WithSignal,
  ): Promise<(Decoded<E> | undefined)[]>;
  multiGetSync<E extends Encoding | undefined = undefined>(
    keys: readonly Bytes[],
    options?: MultiGetOptions<E>,
  ): (Decoded<E> | undefined)[];
  has(key: Bytes, options?: ReadOptions & FamilyOption & WithSignal): Promise<boolean>;
  hasSync(key: Bytes, options?: ReadOptions & FamilyOption): boolean;

  put(key: Bytes, value: Bytes, options?: WriteOptions & FamilyOption & WithSignal): Promise<void>;
  putSync(key: Bytes, value: Bytes, options?: WriteOptions & FamilyOption): void;
  delete(key: Bytes, options?: WriteOptions & FamilyOption & WithSignal): Promise<void>;
  deleteSync(key: Bytes, options?: WriteOptions & FamilyOption): void;
  singleDelete(key: Bytes, options?: WriteOptions & FamilyOption & WithSignal): Promise<void>;
  singleDeleteSync(key: Bytes, options?: WriteOptions & FamilyOption): void;
  deleteRange(start: Bytes, end: Bytes, options?: WriteOptions & FamilyOption & WithSignal): Promise<void>;
  deleteRangeSync(start: Bytes, end: Bytes, options?: WriteOptions & FamilyOption): void;
  write(batch: WriteBatch | Iterable<Operation>, options?: WriteOptions & WithSignal): Promise<void>;
  writeSync(batch: WriteBatch | Iterable<Operation>, options?: WriteOptions): void;

  /** Sets the value of a key that does not exist. This and those below return whether they have written. */
  putIfAbsent(key: Bytes, value: Bytes, options?: WriteOptions & FamilyOption & WithSignal): Promise<boolean>;
  putIfAbsentSync(key: Bytes, value: Bytes, options?: WriteOptions & FamilyOption): boolean;
  /** Sets the value of a key that has the value `expected`. */
  compareAndSet(
    key: Bytes,
    expected: Bytes,
    value: Bytes,
    options?: WriteOptions & FamilyOption & WithSignal,
  ): Promise<boolean>;
  compareAndSetSync(key: Bytes, expected: Bytes, value: Bytes, options?: WriteOptions & FamilyOption): boolean;
  /** Deletes a key that has the value `expected`. */
  compareAndDelete(key: Bytes, expected: Bytes, options?: WriteOptions & FamilyOption & WithSignal): Promise<boolean>;
  compareAndDeleteSync(key: Bytes, expected: Bytes, options?: WriteOptions & FamilyOption): boolean;
  /** Applies a batch as a whole if all conditions hold at that moment. */
  writeIf(
    batch: WriteBatch | Iterable<Operation>,
    conditions: Iterable<Condition>,
    options?: WriteOptions & WithSignal,
  ): Promise<boolean>;
  writeIfSync(
    batch: WriteBatch | Iterable<Operation>,
    conditions: Iterable<Condition>,
    options?: WriteOptions,
  ): boolean;

  iterator<K extends Encoding | undefined = undefined, V extends Encoding | undefined = undefined>(
    options?: IteratorOptions<K, V>,
  ): EntryIterator<[Decoded<K>, Decoded<V>]>;
  keys<K extends Encoding | undefined = undefined>(options?: IteratorOptions<K>): EntryIterator<Decoded<K>>;
  values<V extends Encoding | undefined = undefined>(
    options?: IteratorOptions<Encoding | undefined, V>,
  ): EntryIterator<Decoded<V>>;
  cursor<K extends Encoding | undefined = undefined, V extends Encoding | undefined = undefined>(
    options?: CursorOptions<K, V>,
  ): Cursor<Decoded<K>, Decoded<V>>;
  [Symbol.asyncIterator](): EntryIterator<[Buffer, Buffer]>;
  [Symbol.iterator](): IterableIterator<[Buffer, Buffer]>;
  snapshot(): Snapshot;
  /** Begins a transaction: an optimistic one, unless the database was opened with `transactionLocks`. */
  transaction(options?: TransactionOptions): Transaction;
  /**
   * The transactions that were prepared before the database was opened, in the order of their names. Their keys are
   * locked. Commit each, or roll it back; what is neither remains prepared. Each is returned once.
   */
  preparedTransactions(): Transaction[];
  /**
   * Calls `work` with a transaction, and commits it. Repeats that after a conflict, up to 10 `attempts`. After another
   * error of `work` it is rolled back. If it is prepared, and its commit fails, it remains prepared.
   */
  transact<T>(
    work: (transaction: Transaction) => T | Promise<T>,
    options?: TransactionOptions & { attempts?: number },
  ): Promise<T>;
  transactSync<T>(
    work: (transaction: Transaction) => T,
    options?: TransactionOptions & { attempts?: number },
  ): T;
  /** An empty batch of at most `maxBytes` (0: no limit) that can be read before it is written. */
  indexedBatch(options?: { maxBytes?: number }): IndexedBatch;
  readonly latestSequenceNumber: bigint;

  flush(options?: FlushOptions): Promise<void>;
  flushSync(options?: FlushOptions): void;
  syncLog(): Promise<void>;
  syncLogSync(): void;
  compactRange(options?: CompactRangeOptions & WithSignal): Promise<void>;
  compactRangeSync(options?: CompactRangeOptions): void;
  waitForCompact(): Promise<void>;
  waitForCompactSync(): void;
  verifyChecksums(options?: ReadOptions): Promise<void>;
  verifyChecksumsSync(options?: ReadOptions): void;

  property(name: string, options?: FamilyOption): string | undefined;
  propertyNumber(name: string, options?: FamilyOption): bigint | undefined;
  readonly identity: string | undefined;
  options(options?: FamilyOption): OptionTexts;
  setOptions(changes: ColumnFamilyOptions, options?: FamilyOption): Promise<void>;
  setOptionsSync(changes: ColumnFamilyOptions, options?: FamilyOption): void;
  setDBOptions(changes: DatabaseOptions): Promise<void>;
  setDBOptionsSync(changes: DatabaseOptions): void;
  readonly statistics: Statistics;
  approximateSizes(ranges: Iterable<readonly [Bytes, Bytes]>, options?: ApproximateSizesOptions): Promise<number[]>;
  approximateSizesSync(ranges: Iterable<readonly [Bytes, Bytes]>, options?: ApproximateSizesOptions): number[];

  checkpoint(directory: string, options?: CheckpointOptions): Promise<void>;
  checkpointSync(directory: string, options?: CheckpointOptions): void;
  startTrace(path: string, options?: TraceOptions): Promise<void>;
  startTraceSync(path: string, options?: TraceOptions): void;
  endTrace(): Promise<void>;
  endTraceSync(): void;
}

export interface MultiGetOptions<E extends Encoding | undefined = Encoding | undefined> extends ReadOptions {
  /** One column family, or one for each key. */
  columnFamily?: ColumnFamily | string | readonly (ColumnFamily | string)[];
  encoding?: E;
}

// ---- Backups and limits ----

export interface BackupInfo {
  id: number;
  /** When the backup began, in seconds since 1970. */
  timestamp: number;
  size: number;
  files: number;
  sequenceNumber: bigint;
  checked: boolean;
}

export interface BackupEngineOptions {
  readOnly?: boolean;
  lockWaitMicros?: number;
}

export class BackupEngine {
  private constructor();
  static open(directory: string, options?: BackupEngineOptions): Promise<BackupEngine>;
  close(): Promise<void>;
  createBackup(database: Database, options?: { flush?: boolean }): Promise<void>;
  createBackupOffline(path: string): Promise<void>;
  setVerifyChecksums(value: boolean): void;
  stopBackup(): void;
  list(): Promise<BackupInfo[]>;
  listCorrupted(): Promise<number[]>;
  verify(id: number, options?: { checksums?: boolean }): Promise<void>;
  restore(id: number, directory: string): Promise<void>;
  restoreLatest(directory: string): Promise<void>;
  delete(id: number): Promise<void>;
  purge(count: number): Promise<void>;
  collectGarbage(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

export class RateLimiter {
  constructor(bytesPerSecond: number | bigint, options?: { refillPeriodMicros?: number; fairness?: number });
  bytesPerSecond: number;
}

export class WriteBufferManager {
  constructor(bufferSize: number | bigint, options?: { allowStall?: boolean });
  readonly enabled: boolean;
  bufferSize: number;
  readonly memoryUsage: number;
  readonly mutableMemtableMemoryUsage: number;
  setAllowStall(value: boolean): void;
}

/** The version of the library, for example '0.1.0'. */
export const version: string;
