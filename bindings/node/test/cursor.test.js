'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');
const { hasCode, openDatabase } = require('./helpers');

async function openCursor(t, options) {
  const db = await openDatabase(t);
  for (const key of ['b', 'd', 'f']) await db.put(key, key.toUpperCase());
  const cursor = db.cursor({ keyEncoding: 'utf8', valueEncoding: 'utf8', ...options });
  return { cursor, db };
}

test('a cursor moves in both directions, with promises', async (t) => {
  const { cursor, db } = await openCursor(t);
  assert.equal(cursor.database, db);
  assert.equal(cursor.valid, false);
  assert.equal(await cursor.seekToFirst(), true);
  assert.deepEqual([cursor.valid, cursor.key, cursor.value, cursor.valueSize], [true, 'b', 'B', 1]);
  assert.equal(await cursor.next(), true);
  assert.equal(cursor.key, 'd');
  assert.equal(await cursor.prev(), true);
  assert.equal(await cursor.prev(), false);
  assert.equal(cursor.valid, false);
  assert.equal(await cursor.seekToLast(), true);
  assert.equal(cursor.value, 'F');
  assert.equal(await cursor.next(), false);
  assert.equal(await cursor.seek('c'), true);
  assert.equal(cursor.key, 'd');
  assert.equal(await cursor.seekForPrev('c'), true);
  assert.equal(cursor.key, 'b');
  assert.equal(await cursor.seek('g'), false);
  assert.equal(await cursor.seekForPrev('a'), false);
});

test('a cursor moves in both directions, synchronously', async (t) => {
  const { cursor } = await openCursor(t);
  assert.equal(cursor.seekToFirstSync(), true);
  assert.equal(cursor.nextSync(), true);
  assert.equal(cursor.key, 'd');
  assert.equal(cursor.prevSync(), true);
  assert.equal(cursor.key, 'b');
  assert.equal(cursor.seekToLastSync(), true);
  assert.equal(cursor.key, 'f');
  assert.equal(cursor.seekSync('e'), true);
  assert.equal(cursor.key, 'f');
  assert.equal(cursor.seekForPrevSync(Buffer.from('e')), true);
  assert.equal(cursor.key, 'd');
});

test('a cursor that is not at an entry has no key and no value', async (t) => {
  const { cursor } = await openCursor(t);
  assert.throws(() => cursor.key, hasCode('CAMBIUM_INVALID_ARGUMENT'));
  assert.throws(() => cursor.value, hasCode('CAMBIUM_INVALID_ARGUMENT'));
  assert.throws(() => cursor.valueSize, hasCode('CAMBIUM_INVALID_ARGUMENT'));
  assert.equal(await cursor.next(), false);
  await assert.rejects(cursor.seek(5), TypeError);
});

test('bounds and prefixes of cursors', async (t) => {
  const { cursor, db } = await openCursor(t, { gte: 'c', lt: 'f' });
  assert.equal(await cursor.seekToFirst(), true);
  assert.equal(cursor.key, 'd');
  assert.equal(await cursor.next(), false);
  const prefixed = db.cursor({ prefix: 'f', keyEncoding: 'utf8' });
  assert.equal(prefixed.seekToFirstSync(), true);
  assert.equal(prefixed.key, 'f');
  assert.equal(db.cursor({ gt: 'd', keyEncoding: 'utf8' }).seekToFirstSync(), true);
});

test('without values, the value is read when it is asked for', async (t) => {
  const { db } = await openCursor(t);
  await db.put('large', Buffer.alloc(5000, 'x'));
  await db.flush();
  const cursor = db.cursor({ values: false });
  assert.equal(await cursor.seek('large'), true);
  assert.ok(Math.abs(cursor.valueSize - 5000) < 50);
  assert.deepEqual(cursor.value, Buffer.alloc(5000, 'x'));
  assert.deepEqual(cursor.key, Buffer.from('large'));
});

test('one call of a cursor at a time, and none after close', async (t) => {
  const { cursor } = await openCursor(t);
  const moving = cursor.seekToFirst();
  await assert.rejects(cursor.next(), hasCode('CAMBIUM_BUSY'));
  assert.throws(() => cursor.nextSync(), hasCode('CAMBIUM_BUSY'));
  assert.throws(() => cursor.key, hasCode('CAMBIUM_BUSY'));
  assert.throws(() => cursor.valid, hasCode('CAMBIUM_BUSY'));
  cursor.close();
  await moving.catch(() => {});
  cursor.close();
  await assert.rejects(cursor.next(), hasCode('CAMBIUM_CLOSED'));
  assert.throws(() => cursor.key, hasCode('CAMBIUM_CLOSED'));
});
