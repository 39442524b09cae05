'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');
const { hasCode, openDatabase } = require('./helpers');

test('reads of a snapshot see its state', async (t) => {
  const db = await openDatabase(t);
  await db.put('key', 'old');
  const snapshot = db.snapshot();
  assert.equal(snapshot.sequenceNumber, db.latestSequenceNumber);
  assert.equal(snapshot.database, db);
  await db.put('key', 'new');
  await db.put('later', 'new');
  assert.equal(snapshot.sequenceNumber, db.latestSequenceNumber - 2n);
  assert.equal(db.propertyNumber('cambium.num-snapshots'), 1n);
  const options = { snapshot, encoding: 'utf8' };
  assert.equal(await db.get('key', options), 'old');
  assert.equal(db.getSync('key', options), 'old');
  assert.equal(await db.has('later', { snapshot }), false);
  assert.deepEqual(await db.multiGet(['key', 'later'], options), ['old', undefined]);
  assert.deepEqual(await db.values({ snapshot, valueEncoding: 'utf8' }).all(), ['old']);
  const cursor = db.cursor({ snapshot });
  assert.equal(cursor.seekSync('later'), false);
  snapshot.close();
  snapshot.close();
  assert.equal(db.propertyNumber('cambium.num-snapshots'), 1n, 'the cursor still reads it');
  cursor.close();
  assert.equal(db.propertyNumber('cambium.num-snapshots'), 0n);
});

test('a closed snapshot is refused, but iterators that read it go on', async (t) => {
  const db = await openDatabase(t);
  await db.put('key', 'old');
  const snapshot = db.snapshot();
  const iterator = db.iterator({ snapshot, valueEncoding: 'utf8' });
  const reading = db.get('key', { snapshot, encoding: 'utf8' });
  snapshot.close();
  await db.put('key', 'new');
  assert.equal(await reading, 'old');
  assert.equal((await iterator.nextChunk())[0][1], 'old');
  iterator.close();
  const refused = hasCode('CAMBIUM_CLOSED', 'snapshot');
  await assert.rejects(db.get('key', { snapshot }), refused);
  assert.throws(() => db.iterator({ snapshot }), refused);
  assert.throws(() => snapshot.sequenceNumber, refused);
});

test('a snapshot of another database is refused', async (t) => {
  const one = await openDatabase(t);
  const two = await openDatabase(t);
  const snapshot = two.snapshot();
  await assert.rejects(one.get('key', { snapshot }), hasCode('CAMBIUM_INVALID_ARGUMENT', 'another database'));
});
