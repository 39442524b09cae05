// Compiled, not run: uses each public function with its types.
import { AbstractLevel } from 'abstract-level';
import {
  BackupEngine,
  BackupInfo,
  BatchOperation,
  ClosedError,
  ColumnFamily,
  Condition,
  Cursor,
  Database,
  EntryIterator,
  IndexedBatch,
  IOError,
  LockedError,
  RateLimiter,
  SharedDatabase,
  Snapshot,
  Statistics,
  Transaction,
  TryAgainError,
  version,
  WriteBatch,
  WriteBufferManager,
} from 'cambium';
import { CambiumLevel } from 'cambium/level';

export async function reads(db: Database, snapshot: Snapshot): Promise<void> {
  const bytes: Buffer | undefined = await db.get('key');
  const text: string | undefined = await db.get('key', { encoding: 'utf8', snapshot });
  const bytesSync: Buffer | undefined = db.getSync(new Uint8Array(3));
  const textSync: string | undefined = db.getSync('key', { encoding: 'utf8' });
  const many: (string | undefined)[] = await db.multiGet(['a', Buffer.from('b')], { encoding: 'utf8' });
  const manySync: (Buffer | undefined)[] = db.multiGetSync(['a'], { columnFamily: ['default'] });
  const has: boolean = (await db.has('key')) && db.hasSync('key');
  // @ts-expect-error: a number is no key
  await db.get(5);
  // @ts-expect-error: there is no such encoding
  await db.get('key', { encoding: 'hex' });
  console.log(bytes, text, bytesSync, textSync, many, manySync, has);
}

export async function iterators(db: Database, signal: AbortSignal): Promise<void> {
  for await (const [key, value] of db) console.log(key.readUInt8(0), value.length);
  for await (const [key, value] of db.iterator({ keyEncoding: 'utf8', gte: 'a', lt: 'b', signal })) {
    console.log(key.toUpperCase(), value.readUInt8(0));
  }
  for (const key of db.keys({ keyEncoding: 'utf8', prefix: 'x', reverse: true, limit: 3 })) console.log(key.length);
  const values: EntryIterator<string> = db.values({ valueEncoding: 'utf8' });
  const chunk: string[] = await values.nextChunk(10);
  values.seek('k');
  values.close();
  const cursor: Cursor<string, Buffer> = db.cursor({ keyEncoding: 'utf8' });
  if (await cursor.seek('a')) console.log(cursor.key.length, cursor.value.length, cursor.valueSize, chunk);
}

export async function writes(db: Database, family: ColumnFamily): Promise<void> {
  await db.put('key', 'value', { sync: true, columnFamily: family });
  db.putSync('key', Buffer.alloc(1));
  await db.delete('key', { columnFamily: 'other' });
  await db.singleDelete('key');
  await db.deleteRange('a', 'b');
  const batch: WriteBatch = new WriteBatch().put('a', 'b').delete('c', { columnFamily: family }).deleteRange('d', 'e');
  const operations: BatchOperation[] = batch.operations();
  await db.write(batch, { noSlowdown: true });
  await db.write([
    { type: 'put', key: 'a', value: 'b' },
    { type: 'delete', key: 'a' },
    { type: 'deleteRange', start: 'a', end: 'b', columnFamily: family },
  ]);
  // @ts-expect-error: a put has a value
  await db.write([{ type: 'put', key: 'a' }]);
  const conditions: Condition[] = [{ type: 'isAbsent', key: 'a', columnFamily: family }];
  const written: boolean[] = [
    await db.putIfAbsent('key', 'value', { sync: true, columnFamily: family }),
    db.putIfAbsentSync('key', 'value'),
    await db.compareAndSet('key', 'old', Buffer.alloc(1), { noSlowdown: true }),
    db.compareAndSetSync('key', 'old', 'new', { columnFamily: 'other' }),
    await db.compareAndDelete('key', 'old'),
    db.compareAndDeleteSync('key', 'old'),
    await db.writeIf(batch, conditions, { sync: true }),
    db.writeIfSync([{ type: 'delete', key: 'a' }], [{ type: 'hasValue', key: 'a', value: 'b' }]),
  ];
  // @ts-expect-error: that a key has a value needs a value
  await db.writeIf(batch, [{ type: 'hasValue', key: 'a' }]);
  console.log(written);
  console.log(operations, WriteBatch.from(batch.toBuffer()).length);
}

export async function opening(): Promise<Database> {
  try {
    return await Database.open('path', {
      createIfMissing: true,
      writeBufferSize: '64M',
      indexType: 'lsm',
      min_blob_size: 100,
      columnFamilies: { other: { comparator: 'reverse-bytewise', compression: 'zstd' } },
      comparator: { name: 'own', compare: (a, b) => Buffer.compare(a, b) },
      compactionFilter: { name: 'own', filter: (key, value) => value.length > key.length && { value: 'new' } },
      rateLimiter: new RateLimiter(1e6),
      writeBufferManager: new WriteBufferManager(1e6, { allowStall: true }),
      infoLog: (line, level) => console.log(level, line),
      onEvent: (name, details) => console.log(name, details.error?.code),
      statistics: 'all',
    });
  } catch (error) {
    if (error instanceof LockedError || error instanceof ClosedError) console.log(error.code, error.fatal);
    if (error instanceof IOError) return Database.openSync('path', { readOnly: true });
    throw error;
  }
}

export async function upkeep(db: Database, backups: BackupEngine): Promise<void> {
  const shared: SharedDatabase = db.share();
  const list: BackupInfo[] = await backups.list();
  const statistics: Statistics = db.statistics;
  const counts: bigint[] = [statistics.ticker('rocksdb.memtable.hit'), statistics.histogram('rocksdb.db.get').sum];
  const number: bigint | undefined = db.propertyNumber('cambium.num-runs');
  const text: string | undefined = db.property('cambium.stats', { columnFamily: 'default' });
  const sizes: number[] = await db.approximateSizes([['a', 'b']], { includeMemtables: true });
  const options: Record<string, string> = db.options();
  await db.setOptions({ minBlobSize: '1K' });
  await db.setDBOptions({ pageCacheSize: 2 ** 24 });
  await db.compactRange({ start: 'a', blobGarbageCollectionPolicy: 'force' });
  await db.startTrace('trace', { leaveOut: ['get'] });
  const loaded = await Database.loadLatestOptions('path');
  console.log(Database.attach(shared), list[0].id, counts, number, text, sizes, options, version, loaded.database);
}

export async function disposal(): Promise<void> {
  await using db = await Database.open('path');
  using snapshot = db.snapshot();
  using iterator = db.iterator({ snapshot });
  using cursor = db.cursor();
  await using backups = await BackupEngine.open('backups');
  console.log(iterator, cursor, backups);
}

export function level(): AbstractLevel<string | Buffer | Uint8Array, string, number> {
  return new CambiumLevel<string, number>('path', { valueEncoding: 'json', writeBufferSize: '1M' });
}

export async function transactions(path: string): Promise<void> {
  const db = await Database.open(path, { transactionLocks: { lockTimeout: Infinity, maxLocks: 5 } });
  const count: number = await db.transact(
    async (transaction: Transaction) => {
      const value: string | undefined = await transaction.getForUpdate('a', { encoding: 'utf8', shared: true });
      transaction.putSync('a', value ?? '');
      return 1;
    },
    { attempts: 3, sync: true, snapshot: true, readNewest: true, deadlockDetect: true, lockTimeout: 5, expiration: 6 },
  );
  const text: string = db.transactSync((transaction) => transaction.getSync('a', { encoding: 'utf8' }) ?? '');
  const transaction = db.transaction();
  const bytes: Buffer | undefined = transaction.getForUpdateSync('a');
  for await (const [key, value] of transaction.iterator({ keyEncoding: 'utf8' })) console.log(key.at(0), value.length);
  await transaction.write(new WriteBatch());
  transaction.name = 'name';
  const sequence: bigint | undefined = transaction.snapshotSequenceNumber;
  const { id, elapsed } = transaction.info;
  await transaction.prepare();
  await transaction.commit();
  for (const prepared of db.preparedTransactions()) {
    const isPrepared: boolean = prepared.info.isPrepared;
    if (isPrepared) await prepared.rollback();
    else prepared.rollbackSync();
  }
  db.transaction({ skipPrepare: false }).prepareSync();
  const batch: IndexedBatch = db.indexedBatch({ maxBytes: 100 });
  const own: Buffer | undefined = await batch.getFromBatch('a');
  await batch.deleteRange('a', 'b', { columnFamily: 'x' });
  await batch.write({ sync: true });
  // @ts-expect-error: a transaction is made by a database
  new Transaction();
  // @ts-expect-error: a transaction deletes no ranges
  transaction.deleteRange('a', 'b');
  console.log(count, text, bytes, sequence, id + 1n, elapsed + 1, own, batch.length, TryAgainError);
}
