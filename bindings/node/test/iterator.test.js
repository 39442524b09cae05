'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');
const { hasCode, openDatabase, texts } = require('./helpers');

async function openLetters(t, options) {
  const db = await openDatabase(t, options);
  await db.write([...'abcdefgh'].map((key) => ({ type: 'put', key, value: key.toUpperCase() })));
  return db;
}

const asText = { keyEncoding: 'utf8', valueEncoding: 'utf8' };

test('for await and for read all entries in order', async (t) => {
  const db = await openLetters(t);
  const seen = [];
  for await (const [key, value] of db) seen.push(`${key}${value}`);
  assert.equal(seen.join(' '), 'aA bB cC dD eE fF gG hH');
  const again = [];
  for (const [key, value] of db) again.push(`${key}${value}`);
  assert.deepEqual(again, seen);
  assert.deepEqual(texts(await db.iterator().all()), [...'abcdefgh'].map((key) => [key, key.toUpperCase()]));
});

test('ranges in both directions', async (t) => {
  const db = await openLetters(t);
  const keys = (options) => {
    const sync = db.keys({ keyEncoding: 'utf8', ...options }).allSync().join('');
    assert.equal(db.keys({ keyEncoding: 'utf8', ...options, reverse: true }).allSync().reverse().join(''), sync);
    return sync;
  };
  assert.equal(keys({ gte: 'c' }), 'cdefgh');
  assert.equal(keys({ gt: 'c' }), 'defgh');
  assert.equal(keys({ lte: 'c' }), 'abc');
  assert.equal(keys({ lt: 'c' }), 'ab');
  assert.equal(keys({ gte: 'b', lte: 'd' }), 'bcd');
  assert.equal(keys({ gt: 'b', lt: 'd' }), 'c');
  assert.equal(keys({ gt: 'd', lt: 'b' }), '');
  assert.equal(keys({ gte: Buffer.from('g') }), 'gh');
  assert.equal(keys({ gte: '' }), 'abcdefgh');
  assert.equal(keys({ lt: '' }), '');
});

test('prefixes, also of bytes 255', async (t) => {
  const db = await openDatabase(t);
  const keys = [[1], [1, 255], [1, 255, 255], [1, 255, 255, 0], [2], [255], [255, 255], [255, 255, 1]].map((bytes) =>
    Buffer.from(bytes),
  );
  for (const key of keys) await db.put(key, '');
  const found = (...prefix) => db.keys({ prefix: Buffer.from(prefix) }).allSync();
  assert.deepEqual(found(1, 255), keys.slice(1, 4));
  assert.deepEqual(found(255, 255), keys.slice(6));
  assert.deepEqual(found(), keys);
  assert.deepEqual(found(3), []);
});

test('bounds that exclude each other are TypeErrors', async (t) => {
  const db = await openDatabase(t);
  assert.throws(() => db.iterator({ gt: 'a', gte: 'a' }), TypeError);
  assert.throws(() => db.iterator({ lt: 'a', lte: 'a' }), TypeError);
  assert.throws(() => db.iterator({ prefix: 'a', lte: 'a' }), TypeError);
  assert.throws(() => db.iterator({ gt: 5 }), TypeError);
  assert.throws(() => db.iterator({ limit: -1 }), TypeError);
  assert.throws(() => db.iterator({ limit: 1.5 }), TypeError);
  assert.throws(() => db.iterator({ highWaterMarkBytes: -1 }), TypeError);
  assert.throws(() => db.iterator({ keyEncoding: 'hex' }), TypeError);
});

test('limits', async (t) => {
  const db = await openLetters(t);
  assert.equal(db.keys({ keyEncoding: 'utf8', limit: 3 }).allSync().join(''), 'abc');
  assert.equal((await db.keys({ limit: 0 }).all()).length, 0);
  assert.equal((await db.keys({ limit: 100 }).all()).length, 8);
  const iterator = db.keys({ limit: 3, keyEncoding: 'utf8' });
  assert.deepEqual(await iterator.nextChunk(2), ['a', 'b']);
  assert.deepEqual(await iterator.nextChunk(2), ['c']);
  assert.deepEqual(await iterator.nextChunk(2), []);
});

test('keys and values alone', async (t) => {
  const db = await openLetters(t);
  assert.deepEqual(await db.keys({ keyEncoding: 'utf8', gte: 'g' }).all(), ['g', 'h']);
  assert.deepEqual(await db.values({ valueEncoding: 'utf8', gte: 'g' }).all(), ['G', 'H']);
  assert.deepEqual(db.values({ lt: 'b' }).allSync(), [Buffer.from('A')]);
  const large = Buffer.alloc(3000, 'v');
  await db.put('large', large);
  await db.flush();
  assert.deepEqual(await db.keys({ keyEncoding: 'utf8', gt: 'h' }).all(), ['large']);
  assert.deepEqual(await db.values({ gt: 'h', pinMappedValues: true }).all(), [large]);
});

test('chunks are small at first, and one entry may be larger than a chunk', async (t) => {
  const db = await openDatabase(t);
  const sizes = [10, 5000, 100_000, 3, 300_000, 0, 70_000];
  for (const [i, size] of sizes.entries()) await db.put(`key${i}`, Buffer.alloc(size, i));
  for (const highWaterMarkBytes of [0, 1, 4096, 100_000, 10_000_000]) {
    const entries = await db.iterator({ highWaterMarkBytes }).all();
    assert.deepEqual(entries.map(([, value]) => value.length), sizes);
    entries.forEach(([, value], i) => assert.ok(value.equals(Buffer.alloc(sizes[i], i))));
    const back = db.iterator({ highWaterMarkBytes, reverse: true }).allSync();
    assert.deepEqual(back.map(([, value]) => value.length), sizes.toReversed());
  }
});

test('many entries in chunks, by each way of reading', async (t) => {
  const db = await openDatabase(t);
  const count = 5000;
  const all = Array.from({ length: count }, (_, i) => String(i).padStart(6, '0'));
  await db.write(all.map((key) => ({ type: 'put', key, value: `value of ${key}` })));
  const expected = all.map((key) => [key, `value of ${key}`]);
  assert.deepEqual(await db.iterator(asText).all(), expected);
  assert.deepEqual(db.iterator({ ...asText, reverse: true }).allSync(), expected.toReversed());
  const seen = [];
  for await (const entry of db.iterator(asText)) seen.push(entry);
  assert.deepEqual(seen, expected);
  const chunks = [];
  const iterator = db.iterator(asText);
  for (let chunk = await iterator.nextChunk(7); chunk.length > 0; chunk = iterator.nextChunkSync(7)) {
    assert.ok(chunk.length <= 7);
    chunks.push(...chunk);
  }
  assert.deepEqual(chunks, expected);
  iterator.close();
});

test('next() may be called again before it has ended', async (t) => {
  const db = await openLetters(t);
  const iterator = db.keys({ keyEncoding: 'utf8' });
  const results = await Promise.all(Array.from({ length: 10 }, () => iterator.next()));
  assert.deepEqual(results.map(({ value }) => value), [...'abcdefgh', undefined, undefined]);
  assert.deepEqual(await iterator.next(), { done: true, value: undefined });
  assert.deepEqual(iterator.nextSync(), { done: true, value: undefined });
});

test('leaving a loop closes the iterator', async (t) => {
  const db = await openLetters(t);
  const iterator = db.iterator();
  for await (const entry of iterator) {
    assert.equal(entry.length, 2);
    break;
  }
  await assert.rejects(iterator.nextChunk(), hasCode('CAMBIUM_CLOSED'));
  assert.deepEqual(await iterator.next(), { done: true, value: undefined });
  const sync = db.iterator();
  for (const [key] of sync) if (key.toString() === 'c') break;
  assert.throws(() => sync.nextChunkSync(), hasCode('CAMBIUM_CLOSED'));
  assert.deepEqual(await db.iterator().return(5), { done: true, value: 5 });
});

test('seek continues from a key, in the direction of the iterator', async (t) => {
  const db = await openLetters(t);
  const iterator = db.keys({ keyEncoding: 'utf8', gte: 'b', lt: 'g' });
  assert.deepEqual(await iterator.nextChunk(2), ['b', 'c']);
  iterator.seek('e');
  assert.deepEqual(await iterator.nextChunk(5), ['e', 'f']);
  assert.deepEqual(await iterator.nextChunk(5), []);
  iterator.seek(Buffer.from('a'));
  assert.deepEqual(iterator.nextChunkSync(1), ['b']);
  iterator.close();
  assert.throws(() => iterator.seek('a'), hasCode('CAMBIUM_CLOSED'));
  const back = db.keys({ keyEncoding: 'utf8', reverse: true });
  back.seek('dd');
  assert.equal((await back.nextChunk()).join(''), 'dcba');
  back.close();
});

test('only one read at a time', async (t) => {
  const db = await openLetters(t);
  const iterator = db.iterator();
  const reading = iterator.nextChunk(1);
  await assert.rejects(iterator.nextChunk(1), hasCode('CAMBIUM_BUSY'));
  assert.throws(() => iterator.nextChunkSync(1), hasCode('CAMBIUM_BUSY'));
  assert.throws(() => iterator.seek('a'), hasCode('CAMBIUM_BUSY'));
  iterator.close();
  assert.equal((await reading).length, 1);
  await assert.rejects(iterator.nextChunk(1), hasCode('CAMBIUM_CLOSED'));
});

test('an iterator sees the state of its beginning', async (t) => {
  const db = await openLetters(t);
  const iterator = db.keys({ keyEncoding: 'utf8' });
  await db.put('a2', 'new');
  await db.delete('b');
  assert.equal((await iterator.all()).join(''), 'abcdefgh');
  assert.deepEqual(await db.keys({ keyEncoding: 'utf8', lt: 'c' }).all(), ['a', 'a2']);
});
