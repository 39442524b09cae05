'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');
const { hasCode, openDatabase } = require('./helpers');

test('put, get, has and delete, as promises', async (t) => {
  const db = await openDatabase(t);
  assert.equal(await db.put('key', 'value'), undefined);
  assert.deepEqual(await db.get('key'), Buffer.from('value'));
  assert.equal(await db.get('key', { encoding: 'utf8' }), 'value');
  assert.equal(await db.get('key', { encoding: 'utf8', pinMappedValues: true }), 'value');
  assert.equal(await db.get('none'), undefined);
  assert.equal(await db.has('key'), true);
  assert.equal(await db.has('ke'), false);
  assert.equal(await db.delete('key', { sync: true }), undefined);
  assert.equal(await db.get('key'), undefined);
  await db.put('single', '1');
  await db.singleDelete('single');
  assert.equal(await db.has('single'), false);
});

test('put, get, has and delete, synchronously', async (t) => {
  const db = await openDatabase(t);
  assert.equal(db.putSync('key', 'value', { sync: true }), undefined);
  assert.deepEqual(db.getSync('key'), Buffer.from('value'));
  assert.equal(db.getSync('key', { encoding: 'utf8', verifyChecksums: false, fillCache: false }), 'value');
  assert.equal(db.getSync('none'), undefined);
  assert.equal(db.hasSync('key'), true);
  assert.equal(db.hasSync('none'), false);
  db.deleteSync('key');
  assert.equal(db.getSync('key'), undefined);
  db.putSync('single', '1');
  db.singleDeleteSync('single');
  assert.equal(db.hasSync('single'), false);
});

test('an option that a call does not have is an error', async (t) => {
  const db = await openDatabase(t);
  await db.put('key', 'value');
  const misspelt = { fillcache: false };
  const code = hasCode('CAMBIUM_INVALID_ARGUMENT');
  await assert.rejects(db.get('key', misspelt), code);
  await assert.rejects(db.get('key', { sync: true }), code);
  await assert.rejects(db.multiGet(['key'], misspelt), code);
  await assert.rejects(db.has('key', misspelt), code);
  await assert.rejects(db.verifyChecksums(misspelt), code);
  await assert.rejects(db.put('key', 'value', { Sync: true }), code);
  await assert.rejects(db.delete('key', { snapshot: db.snapshot() }), code);
  await assert.rejects(db.deleteRange('a', 'b', misspelt), code);
  await assert.rejects(db.write([{ type: 'put', key: 'a', value: '1' }], { columnFamily: 'default' }), code);
  for (const call of [
    () => db.getSync('key', misspelt),
    () => db.multiGetSync(['key'], misspelt),
    () => db.hasSync('key', misspelt),
    () => db.putSync('key', 'value', misspelt),
    () => db.iterator({ gte: 'a', Reverse: true }),
    () => db.keys({ encoding: 'utf8' }),
    () => db.cursor({ reverse: true }),
  ]) {
    assert.throws(call, code);
  }
  assert.throws(() => db.getSync('key', misspelt), /fillcache.*fillCache/);
  assert.equal(await db.get('key', { encoding: 'utf8', fillCache: false, signal: undefined }), 'value');
  assert.equal(await db.get('a'), undefined);
});

test('keys and values may be any view, and zero bytes count', async (t) => {
  const db = await openDatabase(t);
  const bytes = new Uint8Array([9, 0, 1, 0, 2, 9]);
  const key = bytes.subarray(1, 5);
  await db.put(key, new DataView(bytes.buffer, 2, 3));
  db.putSync(new Uint16Array([0]), 'zeros');
  assert.deepEqual(await db.get(Buffer.from([0, 1, 0, 2])), Buffer.from([1, 0, 2]));
  assert.equal(db.getSync('\0\0', { encoding: 'utf8' }), 'zeros');
  await db.put('\0', '\0\0');
  assert.deepEqual(db.getSync(Buffer.from([0])), Buffer.from([0, 0]));
  const long = 'ü'.repeat(1000);
  await db.put(long, long);
  assert.equal(db.getSync(long, { encoding: 'utf8' }), long);
  assert.equal(db.getSync(Buffer.from(long)).length, 2000);
  for (let size = 500; size < 520; ++size) {
    db.putSync('ä'.repeat(size / 2), String(size));
    db.putSync('a'.repeat(size), String(size));
    assert.equal(db.getSync(Buffer.alloc(size, 'a'), { encoding: 'utf8' }), String(size));
  }
});

test('keys and values may be empty', async (t) => {
  const db = await openDatabase(t);
  await db.put('', '');
  assert.deepEqual(await db.get(''), Buffer.alloc(0));
  assert.deepEqual(db.getSync(Buffer.alloc(0)), Buffer.alloc(0));
  assert.equal(await db.get('', { encoding: 'utf8' }), '');
  assert.equal(await db.has(''), true);
  assert.deepEqual(await db.iterator().all(), [[Buffer.alloc(0), Buffer.alloc(0)]]);
  await db.put('empty value', Buffer.alloc(0), { sync: true });
  assert.deepEqual(await db.multiGet(['', 'empty value', 'none']), [Buffer.alloc(0), Buffer.alloc(0), undefined]);
});

test('values of 1 byte, around the size of the pool, and of 64 MiB', async (t) => {
  const db = await openDatabase(t);
  for (const size of [1, 4095, 4096, 60000, 65535, 65536, 65537, 200000]) {
    const value = Buffer.alloc(size, `${size},`);
    await db.put('key', value);
    assert.ok(value.equals(db.getSync('key')), `${size} bytes, synchronously`);
    assert.ok(value.equals(await db.get('key')), `${size} bytes`);
    assert.equal(db.getSync('key', { encoding: 'utf8' }), value.toString());
    assert.ok(value.equals((await db.iterator().all())[0][1]), `${size} bytes, iterator`);
  }
  const large = Buffer.alloc(64 * 1024 * 1024, 'large value;');
  await db.put('large', large);
  assert.ok(large.equals(await db.get('large')));
  assert.ok(large.equals(db.getSync('large')));
  assert.ok(large.equals(db.multiGetSync(['large'])[0]));
  for (const [, value] of db.iterator({ gte: 'large' })) assert.ok(large.equals(value));
  assert.ok((await db.keys().all()).length === 2);
});

test('buffers that were returned are independent of each other and of later calls', async (t) => {
  const db = await openDatabase(t);
  for (let i = 0; i < 200; ++i) db.putSync(`key${i}`, Buffer.alloc(1000, i));
  const values = Array.from({ length: 200 }, (_, i) => db.getSync(`key${i}`));
  values[0].fill(255);
  for (let i = 1; i < 200; ++i) assert.ok(values[i].equals(Buffer.alloc(1000, i)), `value ${i}`);
  const given = Buffer.from('before');
  const write = db.put('given', given);
  given.fill('x');
  await write;
  assert.equal(db.getSync('given', { encoding: 'utf8' }), 'before');
});

test('deleteRange deletes from the start to before the end', async (t) => {
  const db = await openDatabase(t);
  for (const key of 'abcdef') db.putSync(key, key);
  await db.deleteRange('b', 'd');
  assert.deepEqual(await db.keys({ keyEncoding: 'utf8' }).all(), ['a', 'd', 'e', 'f']);
  db.deleteRangeSync('e', Buffer.from('z'));
  assert.deepEqual(await db.keys({ keyEncoding: 'utf8' }).all(), ['a', 'd']);
  await assert.rejects(db.deleteRange('z', 'a'), hasCode('CAMBIUM_INVALID_ARGUMENT'));
});

test('multiGet reads at one state, from one column family or several', async (t) => {
  const db = await openDatabase(t);
  const other = await db.createColumnFamily('other');
  await db.put('a', '1');
  await db.put('a', '2', { columnFamily: other });
  assert.deepEqual(await db.multiGet(['a', 'b'], { encoding: 'utf8' }), ['1', undefined]);
  assert.deepEqual(db.multiGetSync(['a'], { columnFamily: 'other' }), [Buffer.from('2')]);
  assert.deepEqual(await db.multiGet(['a', 'a'], { columnFamily: ['default', other], encoding: 'utf8' }), ['1', '2']);
  assert.deepEqual(await db.multiGet([]), []);
  await assert.rejects(db.multiGet(['a'], { columnFamily: [] }), TypeError);
  await assert.rejects(db.multiGet('a'), TypeError);
  await assert.rejects(db.multiGet([5]), TypeError);
  const keys = Array.from({ length: 2000 }, (_, i) => `many${i}`);
  await db.write(keys.map((key) => ({ type: 'put', key, value: key })));
  assert.deepEqual(await db.multiGet(keys, { encoding: 'utf8' }), keys);
});

test('wrong types are TypeErrors, and nothing is written', async (t) => {
  const db = await openDatabase(t);
  for (const key of [undefined, null, 5, {}, [], true, Symbol('key')]) {
    await assert.rejects(db.get(key), TypeError);
    await assert.rejects(db.put(key, 'value'), TypeError);
    await assert.rejects(db.put('key', key), TypeError);
    assert.throws(() => db.getSync(key), TypeError);
    assert.throws(() => db.putSync(key, 'value'), TypeError);
    assert.throws(() => db.putSync('key', key), TypeError);
    await assert.rejects(db.delete(key), TypeError);
  }
  await assert.rejects(db.get('key', { encoding: 'hex' }), TypeError);
  await assert.rejects(db.get('key', { columnFamily: 5 }), TypeError);
  await assert.rejects(db.get('key', { snapshot: {} }), TypeError);
  assert.deepEqual(await db.keys().all(), []);
});

test('a key that is too long is an error', async (t) => {
  const db = await openDatabase(t);
  const longest = Buffer.alloc(64 * 1024);
  await db.put(longest, 'fits');
  assert.equal(await db.get(longest, { encoding: 'utf8' }), 'fits');
  await assert.rejects(db.put(Buffer.alloc(64 * 1024 + 1), 'value'), hasCode('CAMBIUM_INVALID_ARGUMENT'));
});

test('options of writes', async (t) => {
  const db = await openDatabase(t);
  await db.put('a', '1', { noSlowdown: true, disableWAL: true });
  assert.equal(await db.get('a', { durableOnly: true }), undefined);
  await db.syncLog();
  assert.equal(await db.get('a', { durableOnly: true, encoding: 'utf8', asyncIO: false }), '1');
  await db.put('a', '2');
  db.syncLogSync();
  assert.equal(db.getSync('a', { durableOnly: true, encoding: 'utf8' }), '2');
  await assert.rejects(db.put('a', '1', { sync: true, disableWAL: true }), hasCode('CAMBIUM_INVALID_ARGUMENT'));
});

test('many calls at once', async (t) => {
  const db = await openDatabase(t);
  const numbers = Array.from({ length: 500 }, (_, i) => i);
  await Promise.all(numbers.map((i) => db.put(`key${i}`, `value${i}`)));
  const values = await Promise.all(numbers.map((i) => db.get(`key${i}`, { encoding: 'utf8' })));
  assert.deepEqual(values, numbers.map((i) => `value${i}`));
});
