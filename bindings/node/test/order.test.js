'use strict';

const assert = require('node:assert/strict');
const { spawnSync } = require('node:child_process');
const { join } = require('node:path');
const { test } = require('node:test');
const { Worker } = require('node:worker_threads');
const { Database } = require('cambium');
const { directory, hasCode, openDatabase } = require('./helpers');

const byLength = {
  name: 'test.ByLength',
  compare: (a, b) => a.length - b.length || Buffer.compare(a, b),
};
const ignoringCase = {
  name: 'test.IgnoringCase',
  compare: (a, b) => {
    const [left, right] = [a.toString().toLowerCase(), b.toString().toLowerCase()];
    return left < right ? -1 : left > right ? 1 : 0;
  },
};

test('the reverse order of bytes', async (t) => {
  const db = await openDatabase(t, { comparator: 'reverse-bytewise' });
  for (const key of 'abcdef') db.putSync(key, key);
  const keys = (options) => {
    const sync = db.keys({ keyEncoding: 'utf8', ...options }).allSync().join('');
    assert.equal(db.keys({ keyEncoding: 'utf8', ...options, reverse: true }).allSync().reverse().join(''), sync);
    return sync;
  };
  assert.equal(keys({}), 'fedcba');
  assert.equal(keys({ gte: 'd' }), 'dcba');
  assert.equal(keys({ gt: 'd' }), 'cba');
  assert.equal(keys({ lte: 'd' }), 'fed');
  assert.equal(keys({ lt: 'd' }), 'fe');
  assert.equal(keys({ gt: 'e', lte: 'b' }), 'dcb');
  assert.equal(keys({ gt: 'a' }), '');
  assert.equal(keys({ lte: 'a' }), 'fedcba');
  assert.equal(keys({ gt: 'dd', lte: 'bb' }), 'dc');
  assert.equal(db.hasSync('c'), true);
  assert.equal(await db.has('cc'), false);
  assert.throws(() => db.iterator({ prefix: 'a' }), hasCode('CAMBIUM_INVALID_ARGUMENT'));
  assert.throws(() => db.cursor({ gt: 'a' }), TypeError);
  const cursor = db.cursor({ gte: 'd', lt: 'b', keyEncoding: 'utf8' });
  assert.equal(cursor.seekToFirstSync(), true);
  assert.equal(cursor.key, 'd');
});

test('an iterator that has to look up its bounds sees the state of its beginning', async (t) => {
  const db = await openDatabase(t, { comparator: 'reverse-bytewise' });
  for (const key of 'abc') await db.put(key, '');
  const iterator = db.keys({ gt: 'c', keyEncoding: 'utf8' });
  await db.put('bb', '');
  assert.deepEqual(await iterator.all(), ['b', 'a']);
  const snapshot = db.snapshot();
  const ofSnapshot = db.keys({ lte: 'b', keyEncoding: 'utf8', snapshot });
  snapshot.close();
  await db.put('d', '');
  assert.deepEqual(ofSnapshot.allSync(), ['c', 'bb', 'b']);
  const unread = db.keys({ gt: 'c' });
  unread.close();
  assert.equal(db.propertyNumber('cambium.num-snapshots'), 0n);
});

test('another order than the stored one is an error', async (t) => {
  const path = join(directory(t), 'db');
  const db = await Database.open(path, { createIfMissing: true, comparator: 'reverse-bytewise' });
  await db.close();
  await assert.rejects(Database.open(path), hasCode('CAMBIUM_INVALID_ARGUMENT'));
});

test('a comparator in JavaScript orders the keys', async (t) => {
  const path = join(directory(t), 'db');
  const options = { createIfMissing: true, comparator: byLength, writeBufferSize: '64K' };
  const db = await Database.open(path, options);
  const keys = ['ccc', 'a', 'bb', 'b', 'aa', 'dddd'];
  await Promise.all(keys.map((key) => db.put(key, key)));
  const sorted = ['a', 'b', 'aa', 'bb', 'ccc', 'dddd'];
  assert.deepEqual(await db.keys({ keyEncoding: 'utf8' }).all(), sorted);
  assert.deepEqual(await db.keys({ keyEncoding: 'utf8', reverse: true }).all(), sorted.toReversed());
  assert.deepEqual(await db.keys({ keyEncoding: 'utf8', gt: 'b', lte: 'ccc' }).all(), ['aa', 'bb', 'ccc']);
  assert.equal(await db.get('bb', { encoding: 'utf8' }), 'bb');
  assert.equal(await db.has('b'), true);
  assert.deepEqual(await db.multiGet(['ccc', 'x'], { encoding: 'utf8' }), ['ccc', undefined]);
  const cursor = db.cursor({ keyEncoding: 'utf8', gte: 'b' });
  assert.equal(await cursor.seekToFirst(), true);
  assert.equal(cursor.key, 'b');
  cursor.close();
  await db.flush();
  await db.compactRange();
  await db.deleteRange('aa', 'ccc');
  assert.deepEqual(await db.keys({ keyEncoding: 'utf8' }).all(), ['a', 'b', 'ccc', 'dddd']);
  await db.close();
  const again = await Database.open(path, options);
  assert.deepEqual(await again.keys({ keyEncoding: 'utf8' }).all(), ['a', 'b', 'ccc', 'dddd']);
  await assert.rejects(Database.verify(path, { comparator: byLength }), hasCode('CAMBIUM_LOCKED'));
  await again.close();
  assert.deepEqual(await Database.verify(path, { comparator: byLength, deep: true }), []);
});

test('keys with different bytes may be equal', async (t) => {
  const db = await openDatabase(t, { comparator: ignoringCase });
  await db.put('Key', '1');
  await db.put('kEY', '2');
  assert.equal(await db.get('KEY', { encoding: 'utf8' }), '2');
  assert.equal((await db.keys().all()).length, 1);
  assert.deepEqual(await db.keys({ gt: 'KEY' }).all(), []);
  assert.equal((await db.keys({ lte: 'KEY' }).all()).length, 1);
});

test('a comparator in JavaScript for one column family', async (t) => {
  const db = await openDatabase(t);
  const family = await db.createColumnFamily('other', { comparator: byLength });
  for (const key of ['bb', 'a', 'c']) await db.put(key, '', { columnFamily: family });
  assert.deepEqual(await db.keys({ columnFamily: family, keyEncoding: 'utf8' }).all(), ['a', 'c', 'bb']);
  assert.throws(() => db.getSync('a'), hasCode('CAMBIUM_NOT_SUPPORTED', 'synchronous'));
});

test('a database with a comparator in JavaScript has no synchronous calls', async (t) => {
  const db = await openDatabase(t, { comparator: byLength });
  const refused = hasCode('CAMBIUM_NOT_SUPPORTED', 'synchronous');
  assert.throws(() => db.getSync('a'), refused);
  assert.throws(() => db.putSync('a', 'b'), refused);
  assert.throws(() => db.iterator().nextSync(), refused);
  assert.throws(() => db.cursor().seekToFirstSync(), refused);
  assert.throws(() => db.flushSync(), refused);
  assert.throws(() => db.closeSync(), refused);
  assert.throws(() => db.share(), hasCode('CAMBIUM_NOT_SUPPORTED'));
  assert.equal(db.isOpen, true);
  assert.throws(() => Database.openSync(db.path, { comparator: byLength }), hasCode('CAMBIUM_INVALID_ARGUMENT'));
});

test('a comparator must have a name and a function', async (t) => {
  const path = join(directory(t), 'db');
  const open = (comparator) => Database.open(path, { createIfMissing: true, comparator });
  await assert.rejects(open({ name: 'x' }), TypeError);
  await assert.rejects(open({ compare: () => 0 }), TypeError);
  await assert.rejects(open(() => 0), hasCode('CAMBIUM_INVALID_ARGUMENT'));
});

test('a comparator in JavaScript needs the main thread', async (t) => {
  const path = join(directory(t), 'db');
  const code = `
    const { Database } = require(${JSON.stringify(require.resolve('cambium'))});
    const { parentPort } = require('node:worker_threads');
    Database.open(${JSON.stringify(path)}, { createIfMissing: true, comparator: { name: 'x', compare: () => 0 } })
      .catch((error) => parentPort.postMessage(error.code));`;
  const worker = new Worker(code, { eval: true });
  assert.equal(await new Promise((resolve) => worker.once('message', resolve)), 'CAMBIUM_NOT_SUPPORTED');
});

function runScript(t, body) {
  const path = join(directory(t), 'db');
  const script = `
    const { Database } = require(${JSON.stringify(require.resolve('cambium'))});
    (async () => { ${body} })();`;
  return spawnSync(process.execPath, ['-e', script, path], { encoding: 'utf8', timeout: 30_000 });
}

test('a comparator that throws, or returns no number, ends the process with its error', (t) => {
  for (const [compare, text] of [
    ["() => { throw new Error('broken order') }", 'broken order'],
    ["() => 'less'", 'must return a number'],
    ['() => NaN', 'must return a number'],
  ]) {
    const result = runScript(t, `
      const db = await Database.open(process.argv[1],
        { createIfMissing: true, comparator: { name: 'broken', compare: ${compare} } });
      await db.put('a', '1');
      await db.put('b', '2');
      console.log('not reached');`);
    assert.equal(result.signal, 'SIGABRT', result.stderr);
    assert.ok(result.stderr.includes(text), result.stderr);
    assert.equal(result.stdout, '');
  }
});

test('process.exit() ends at once although a call waits for the comparator', (t) => {
  const result = runScript(t, `
    const compare = (a, b) => Buffer.compare(a, b);
    const db = await Database.open(process.argv[1], { createIfMissing: true, comparator: { name: 'own', compare } });
    await db.put('a', '1');
    db.put('b', '2').then(() => {});
    db.put('c', '2').then(() => {});
    const until = Date.now() + 200;
    while (Date.now() < until);
    process.exit(7);`);
  assert.equal(result.status, 7, result.stderr);
});

test('process.exit() ends at once although Database.verify() waits for the comparator', (t) => {
  const result = runScript(t, `
    const options = { createIfMissing: true, comparator: { name: 'own', compare: (a, b) => Buffer.compare(a, b) } };
    const db = await Database.open(process.argv[1], options);
    for (let i = 0; i < 50; ++i) await db.put('key' + i, 'value');
    await db.flush();
    await db.close();
    Database.verify(process.argv[1], { comparator: options.comparator }).catch(() => {});
    setTimeout(() => process.exit(8), 3);`);
  assert.equal(result.status, 8, result.stderr);
});

test('a process that does not close such a database ends', (t) => {
  const result = runScript(t, `
    const compare = (a, b) => Buffer.compare(a, b);
    const db = await Database.open(process.argv[1], { createIfMissing: true, comparator: { name: 'own', compare } });
    await db.put('a', '1');
    await db.put('b', '1');
    const iterator = db.iterator();
    await iterator.nextChunk(1);
    console.log('end');`);
  assert.equal(result.status, 0, result.stderr);
  assert.equal(result.stdout, 'end\n');
});
