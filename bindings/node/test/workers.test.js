'use strict';

const assert = require('node:assert/strict');
const { once } = require('node:events');
const { join } = require('node:path');
const { test } = require('node:test');
const { Worker } = require('node:worker_threads');
const { Database } = require('cambium');
const { directory, hasCode, openDatabase } = require('./helpers');

// Starts a worker whose code has `Database`, `workerData` and `parentPort`.
function start(workerData, body) {
  const code = `
    const { Database } = require(${JSON.stringify(require.resolve('cambium'))});
    const { parentPort, workerData } = require('node:worker_threads');
    (async () => { ${body} })();`;
  return new Worker(code, { eval: true, workerData });
}

test('a worker has the addon of its own, and closes its databases at its end', async (t) => {
  const path = join(directory(t), 'db');
  const worker = start({ path }, `
    const db = await Database.open(workerData.path, { createIfMissing: true });
    await db.put('key', 'from the worker');
    globalThis.kept = [db, db.iterator(), db.snapshot()];
    parentPort.postMessage('done');`);
  await once(worker, 'message');
  if (worker.threadId !== -1) await once(worker, 'exit');
  const db = await openDatabase(t, {}, path);
  assert.equal(await db.get('key', { encoding: 'utf8' }), 'from the worker');
});

test('threads share an open database', async (t) => {
  const db = await openDatabase(t);
  const family = await db.createColumnFamily('family');
  await db.put('key', 'from the main thread');
  const workers = Array.from({ length: 4 }, (_, number) =>
    start({ shared: db.share(), number }, `
      const db = Database.attach(workerData.shared);
      const { number } = workerData;
      for (let i = 0; i < 200; ++i) {
        await db.put('key' + number + '.' + i, 'value');
        db.putSync('sync' + number + '.' + i, Buffer.alloc(100), { columnFamily: 'family' });
      }
      const value = await db.get('key', { encoding: 'utf8' });
      const snapshot = db.snapshot();
      let entries = 0;
      for await (const entry of db.iterator({ snapshot })) entries += entry.length / 2;
      await db.close();
      parentPort.postMessage({ value, entries });`));
  for (const [message] of await Promise.all(workers.map((worker) => once(worker, 'message')))) {
    assert.equal(message.value, 'from the main thread');
    assert.ok(message.entries > 200);
  }
  assert.equal((await db.keys().all()).length, 801);
  assert.equal((await db.keys({ columnFamily: family }).all()).length, 800);
});

test('the database stays open until the last thread has closed it', async (t) => {
  const path = join(directory(t), 'db');
  const db = await Database.open(path, { createIfMissing: true });
  const shared = db.share();
  const second = Database.attach(shared);
  await db.close();
  await assert.rejects(Database.open(path), hasCode('CAMBIUM_LOCKED'));
  await second.put('key', 'value');
  await second.createColumnFamily('new');
  second.closeSync();
  assert.throws(() => Database.attach(shared), hasCode('CAMBIUM_CLOSED'));
  assert.throws(() => Database.attach({}), TypeError);
  assert.throws(() => Database.attach(5), TypeError);
  await openDatabase(t, { columnFamilies: ['new'] }, path);
});

test('a database that threads share takes no comparator in JavaScript', async (t) => {
  const db = await openDatabase(t);
  const early = db.share();
  const comparator = { name: 'own', compare: (a, b) => Buffer.compare(a, b) };
  const other = Database.attach(early);
  await assert.rejects(db.createColumnFamily('x', { comparator }), hasCode('CAMBIUM_NOT_SUPPORTED', 'share'));
  await other.close();
  const alone = await openDatabase(t);
  const shared = alone.share();
  await alone.createColumnFamily('x', { comparator });
  assert.throws(() => Database.attach(shared), hasCode('CAMBIUM_NOT_SUPPORTED', 'shared'));
});

test('a family that another thread has created can be used', async (t) => {
  const db = await openDatabase(t);
  const other = Database.attach(db.share());
  t.after(() => other.close());
  const family = await other.createColumnFamily('family');
  await other.put('key', 'value', { columnFamily: family });
  assert.equal(await db.get('key', { columnFamily: 'family', encoding: 'utf8' }), 'value');
  assert.deepEqual(db.columnFamilies.map(({ name }) => name).sort(), ['default', 'family']);
  await assert.rejects(db.get('key', { columnFamily: family }), hasCode('CAMBIUM_INVALID_ARGUMENT'));
});

test('a worker may be terminated while calls run', async (t) => {
  const path = join(directory(t), 'db');
  const db = await Database.open(path, { createIfMissing: true });
  for (let round = 0; round < 5; ++round) {
    const worker = start({ shared: db.share() }, `
      const db = Database.attach(workerData.shared);
      parentPort.postMessage('started');
      const iterator = db.iterator({ highWaterMarkBytes: 1 });
      for (;;) {
        await Promise.all([db.put('key', Buffer.alloc(100000)), db.get('key'), iterator.nextChunk(1)]);
      }`);
    await once(worker, 'message');
    await new Promise((resolve) => setTimeout(resolve, 5 * round));
    await worker.terminate();
  }
  await db.put('key', 'value');
  await db.close();
  // The workers were users too: the database is closed, and can be opened.
  const again = await Database.open(path);
  await again.close();
});

test('a worker may be terminated while its filter is being asked', async (t) => {
  const path = join(directory(t), 'db');
  const worker = start({ path }, `
    const compactionFilter = { name: 'slow', filter: () => false };
    const db = await Database.open(workerData.path, { createIfMissing: true, compactionFilter });
    for (let i = 0; i < 2000; ++i) await db.put('key' + i, 'value');
    db.compactRange().catch(() => {});
    parentPort.postMessage('started');`);
  await once(worker, 'message');
  await worker.terminate();
  const db = await openDatabase(t, {}, path);
  assert.equal((await db.keys().all()).length, 2000);
});
