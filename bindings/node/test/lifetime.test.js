'use strict';

const assert = require('node:assert/strict');
const { spawnSync } = require('node:child_process');
const { join } = require('node:path');
const { test } = require('node:test');
const { setTimeout: sleep } = require('node:timers/promises');
const v8 = require('node:v8');
const vm = require('node:vm');
const { BackupEngine, Database, WriteBatch } = require('cambium');
const { directory, hasCode, openDatabase } = require('./helpers');

v8.setFlagsFromString('--expose-gc');
const collect = vm.runInNewContext('gc');

const closed = hasCode('CAMBIUM_CLOSED');

// Collects until `isDone`, because finalizers run later.
async function collectUntil(isDone) {
  for (let i = 0; i < 100; ++i) {
    collect();
    await sleep(10);
    if (await isDone()) return true;
  }
  return false;
}

test('each call of a closed database is a ClosedError', async (t) => {
  const path = join(directory(t), 'db');
  const db = await Database.open(path, { createIfMissing: true });
  const family = await db.createColumnFamily('family');
  await db.close();
  const calls = {
    get: () => db.get('k'),
    getSync: () => db.getSync('k'),
    getSyncText: () => db.getSync('k', { encoding: 'utf8' }),
    has: () => db.has('k'),
    multiGet: () => db.multiGet(['k']),
    put: () => db.put('k', 'v'),
    putSync: () => db.putSync('k', 'v'),
    putFamily: () => db.put('k', 'v', { columnFamily: family }),
    delete: () => db.delete('k'),
    singleDelete: () => db.singleDelete('k'),
    deleteRange: () => db.deleteRange('a', 'b'),
    write: () => db.write(new WriteBatch()),
    putIfAbsent: () => db.putIfAbsent('k', 'v'),
    putIfAbsentSync: () => db.putIfAbsentSync('k', 'v'),
    compareAndSet: () => db.compareAndSet('k', 'v', 'w'),
    compareAndDelete: () => db.compareAndDelete('k', 'v', { columnFamily: family }),
    writeIf: () => db.writeIf([], []),
    writeIfCondition: () => db.writeIf([], [{ type: 'isAbsent', key: 'k' }]),
    batchFamily: () => new WriteBatch().put('k', 'v', { columnFamily: family }),
    iterator: () => db.iterator(),
    keys: () => db.keys(),
    values: () => db.values(),
    cursor: () => db.cursor(),
    snapshot: () => db.snapshot(),
    flush: () => db.flush(),
    syncLog: () => db.syncLog(),
    compactRange: () => db.compactRange(),
    waitForCompact: () => db.waitForCompact(),
    verifyChecksums: () => db.verifyChecksums(),
    property: () => db.property('cambium.stats'),
    propertyNumber: () => db.propertyNumber('cambium.num-runs'),
    identity: () => db.identity,
    latestSequenceNumber: () => db.latestSequenceNumber,
    options: () => db.options(),
    setOptions: () => db.setOptions({}),
    setDBOptions: () => db.setDBOptions({}),
    ticker: () => db.statistics.ticker('rocksdb.memtable.hit'),
    statistics: () => db.statistics.toString(),
    approximateSizes: () => db.approximateSizes([]),
    checkpoint: () => db.checkpoint('x'),
    startTrace: () => db.startTrace('x'),
    endTrace: () => db.endTrace(),
    createColumnFamily: () => db.createColumnFamily('x'),
    dropColumnFamily: () => db.dropColumnFamily(family),
    share: () => db.share(),
  };
  for (const [name, call] of Object.entries(calls)) {
    await assert.rejects(async () => call(), closed, name);
  }
  assert.equal(family.name, 'family');
});

test('close may be called again', async (t) => {
  const path = join(directory(t), 'db');
  const db = await Database.open(path, { createIfMissing: true });
  await Promise.all([db.close(), db.close()]);
  await db.close();
  db.closeSync();
  const again = Database.openSync(path);
  const closing = again.close();
  assert.throws(() => again.closeSync(), hasCode('CAMBIUM_BUSY'));
  await closing;
  again.closeSync();
});

test('closing ends iterators, cursors and snapshots', async (t) => {
  const path = join(directory(t), 'db');
  const db = await Database.open(path, { createIfMissing: true });
  for (const key of 'abc') await db.put(key, key);
  const iterator = db.iterator();
  await iterator.next();
  const chunks = db.iterator();
  const cursor = db.cursor();
  await cursor.seekToFirst();
  const snapshot = db.snapshot();
  const ofSnapshot = db.iterator({ snapshot });
  await db.close();
  await assert.rejects(iterator.next(), closed);
  assert.throws(() => iterator.nextSync(), closed);
  await assert.rejects(chunks.nextChunk(), closed);
  assert.throws(() => chunks.nextChunkSync(), closed);
  assert.throws(() => chunks.seek('a'), closed);
  await assert.rejects(chunks.all(), closed);
  await assert.rejects(cursor.next(), closed);
  assert.throws(() => cursor.seekSync('a'), closed);
  assert.throws(() => cursor.key, closed);
  assert.throws(() => cursor.value, closed);
  assert.throws(() => cursor.valid, closed);
  assert.throws(() => snapshot.sequenceNumber, closed);
  await assert.rejects(ofSnapshot.nextChunk(), closed);
  for (const each of [iterator, chunks, cursor, snapshot, ofSnapshot]) each.close();
  const again = await Database.open(path);
  assert.equal((await again.keys().all()).length, 3);
  await again.close();
});

test('close waits for the calls that have begun', async (t) => {
  const path = join(directory(t), 'db');
  const db = await Database.open(path, { createIfMissing: true });
  const writes = Array.from({ length: 300 }, (_, i) => db.put(`key${i}`, Buffer.alloc(1000)));
  const iterator = db.iterator();
  const reading = iterator.nextChunk();
  assert.throws(() => db.closeSync(), hasCode('CAMBIUM_BUSY'));
  assert.equal(db.isOpen, true);
  const closing = db.close();
  await assert.rejects(db.get('key0'), closed);
  await Promise.all([...writes, reading, closing]);
  const again = await Database.open(path);
  assert.equal((await again.keys().all()).length, 300);
  await again.close();
});

test('iterators, cursors and snapshots keep their database open', async (t) => {
  const path = join(directory(t), 'db');
  const make = async () => {
    const db = await Database.open(path, { createIfMissing: true });
    for (let i = 0; i < 3000; ++i) db.putSync(`key${i}`, Buffer.alloc(100));
    return { iterator: db.iterator(), cursor: db.cursor(), snapshot: db.snapshot() };
  };
  const { iterator, cursor, snapshot } = await make();
  for (let i = 0; i < 10; ++i) {
    collect();
    await sleep(2);
  }
  let entries = 0;
  for await (const entry of iterator) {
    entries += entry.length / 2;
    if (entries % 1000 === 0) collect();
  }
  assert.equal(entries, 3000);
  assert.equal(await cursor.seekToLast(), true);
  assert.equal(await snapshot.database.get('key1', { snapshot, encoding: 'utf8' }), '\0'.repeat(100));
  await snapshot.database.close();
});

test('a database without references is closed by the garbage collector', async (t) => {
  const path = join(directory(t), 'db');
  await (async () => {
    const db = await Database.open(path, { createIfMissing: true });
    await db.put('key', 'value');
    const iterator = db.iterator();
    await iterator.next();
    db.snapshot();
    db.cursor();
  })();
  let again;
  const isClosed = await collectUntil(async () => {
    again = await Database.open(path).catch(() => undefined);
    return again !== undefined;
  });
  assert.ok(isClosed);
  assert.equal(await again.get('key', { encoding: 'utf8' }), 'value');
  await again.close();
});

test('iterators and snapshots without references are released', async (t) => {
  const db = await openDatabase(t);
  await db.put('key', 'value');
  (() => {
    for (let i = 0; i < 100; ++i) {
      db.snapshot();
      db.iterator({ snapshot: db.snapshot() });
      new WriteBatch().put('key', Buffer.alloc(200_000));
    }
  })();
  assert.ok(db.propertyNumber('cambium.num-snapshots') > 100n);
  assert.ok(await collectUntil(() => db.propertyNumber('cambium.num-snapshots') === 0n));
});

test('values stay valid after the database is closed', async (t) => {
  const path = join(directory(t), 'db');
  const db = await Database.open(path, { createIfMissing: true });
  const large = Buffer.alloc(300_000, 'large');
  await db.put('large', large);
  await db.put('small', 'small');
  const values = [await db.get('large'), db.getSync('large'), db.getSync('small'), ...(await db.values().all())];
  const [pinned] = await db.values({ pinMappedValues: true }).all();
  await db.close();
  collect();
  assert.ok([values[0], values[1], values[3], pinned].every((value) => value.equals(large)));
  assert.ok(values[2].equals(Buffer.from('small')) && values[4].equals(values[2]));
});

function run(t, body) {
  const path = join(directory(t), 'db');
  const script = `
    const { Database } = require(${JSON.stringify(require.resolve('cambium'))});
    const path = process.argv[1];
    (async () => { ${body} })();`;
  const result = spawnSync(process.execPath, ['-e', script, path], { encoding: 'utf8', timeout: 30_000 });
  return { path, result };
}

test('objects can be disposed of', { skip: !Symbol.asyncDispose }, async (t) => {
  const path = join(directory(t), 'db');
  const db = await Database.open(path, { createIfMissing: true });
  const snapshot = db.snapshot();
  const iterator = db.iterator();
  const cursor = db.cursor();
  for (const each of [snapshot, iterator, cursor]) each[Symbol.dispose]();
  assert.throws(() => snapshot.sequenceNumber, closed);
  await assert.rejects(iterator.nextChunk(), closed);
  await assert.rejects(cursor.next(), closed);
  const other = db.iterator();
  await other[Symbol.asyncDispose]();
  await db[Symbol.asyncDispose]();
  assert.equal(db.isOpen, false);
  const sync = Database.openSync(path);
  sync[Symbol.dispose]();
  assert.equal(sync.isOpen, false);
  const backups = await BackupEngine.open(join(directory(t), 'backups'));
  await backups[Symbol.asyncDispose]();
  await assert.rejects(backups.list(), closed);
});

test('a process that ends with an open database closes it', async (t) => {
  const { path, result } = run(t, `
    const db = await Database.open(path, { createIfMissing: true });
    await db.put('key', 'value');
    globalThis.kept = [db, db.iterator(), db.snapshot()];
    await globalThis.kept[1].next();`);
  assert.equal(result.status, 0, result.stderr);
  const db = await Database.open(path, { walRecoveryMode: 'absoluteConsistency' });
  assert.equal(await db.get('key', { encoding: 'utf8' }), 'value');
  await db.close();
});

test('a process may exit while calls run', async (t) => {
  for (const end of ['process.exit(3);', "throw new Error('uncaught');", '']) {
    const { path, result } = run(t, `
      const db = await Database.open(path, { createIfMissing: true });
      await db.put('key', 'value');
      for (let i = 0; i < 200; ++i) db.put('key' + i, Buffer.alloc(10000)).catch(() => {});
      db.iterator().nextChunk().catch(() => {});
      ${end}`);
    assert.equal(result.signal, null, result.stderr);
    assert.equal(result.status, end === '' ? 0 : end.includes('exit') ? 3 : 1, result.stderr);
    const db = await Database.open(path);
    assert.equal(await db.get('key', { encoding: 'utf8' }), 'value');
    await db.close();
  }
});

test('a transaction that is collected is rolled back, unless it is prepared', async (t) => {
  const path = join(directory(t), 'db');
  const options = { createIfMissing: true, transactionLocks: { writeLockTimeout: 1 } };
  let db = await Database.open(path, options);
  (() => {
    const prepared = db.transaction();
    prepared.name = 't';
    prepared.putSync('a', '1');
    prepared.prepareSync();
    db.transaction().putSync('b', '1');
  })();
  assert.ok(await collectUntil(() => db.put('b', '2').then(() => true, () => false)));
  collect();
  await assert.rejects(db.put('a', '2'), hasCode('CAMBIUM_LOCK_TIMEOUT'));
  await db.close();
  db = await Database.open(path, options);
  const found = db.preparedTransactions();
  assert.deepEqual(found.map((transaction) => transaction.name), ['t']);
  await found[0].commit();
  assert.equal(await db.get('a', { encoding: 'utf8' }), '1');
  await db.close();
});
