'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');
const { WriteBatch } = require('cambium');
const { hasCode, openDatabase } = require('./helpers');

test('a batch is applied as a whole, over families', async (t) => {
  const db = await openDatabase(t);
  const other = await db.createColumnFamily('other');
  await db.put('gone', '1');
  const batch = new WriteBatch()
    .put('a', '1')
    .put('a', '2', { columnFamily: other })
    .delete('gone')
    .put('x1', '1')
    .put('x2', '2')
    .deleteRange('x1', 'x2')
    .put('s', '1')
    .singleDelete('s');
  assert.equal(batch.length, 8);
  await db.write(batch, { sync: true });
  assert.deepEqual(await db.keys({ keyEncoding: 'utf8' }).all(), ['a', 'x2']);
  assert.equal(await db.get('a', { columnFamily: other, encoding: 'utf8' }), '2');
  batch.clear().put('again', '1').delete('a', { columnFamily: other });
  batch.singleDelete('none', { columnFamily: other }).deleteRange('n', 'o', { columnFamily: other });
  db.writeSync(batch);
  assert.equal(await db.has('again'), true);
  assert.equal(await db.has('a', { columnFamily: other }), false);
});

test('a list of operations is a batch', async (t) => {
  const db = await openDatabase(t);
  const other = await db.createColumnFamily('other');
  await db.write([
    { type: 'put', key: 'a', value: '1' },
    { type: 'put', key: 'b', value: '2', columnFamily: 'other' },
    { type: 'put', key: 'c', value: '3', columnFamily: other },
    { type: 'put', key: 'd', value: '4' },
    { type: 'delete', key: 'd' },
  ]);
  db.writeSync([
    { type: 'deleteRange', start: 'c', end: 'd', columnFamily: other },
    { type: 'del', key: 'none' },
  ]);
  assert.deepEqual(await db.keys({ keyEncoding: 'utf8' }).all(), ['a']);
  assert.deepEqual(await db.keys({ keyEncoding: 'utf8', columnFamily: 'other' }).all(), ['b']);
  await assert.rejects(db.write([{ type: 'merge', key: 'a' }]), TypeError);
  await assert.rejects(db.write([{ type: 'put', key: 'a' }]), TypeError);
  await assert.rejects(db.write(5), TypeError);
  await assert.rejects(db.write([{ type: 'put', key: 'a', value: 'b', columnFamily: 'none' }]),
    hasCode('CAMBIUM_INVALID_ARGUMENT'));
});

test('save points', () => {
  const batch = new WriteBatch().put('a', '1').setSavePoint().put('b', '2').rollbackToSavePoint();
  assert.equal(batch.length, 1);
  batch.setSavePoint().put('c', '3').popSavePoint();
  assert.equal(batch.length, 2);
  assert.throws(() => batch.rollbackToSavePoint(), hasCode('CAMBIUM_NOT_FOUND'));
  assert.throws(() => batch.popSavePoint(), hasCode('CAMBIUM_NOT_FOUND'));
});

test('operations, bytes and appending', async (t) => {
  const db = await openDatabase(t);
  const other = await db.createColumnFamily('other');
  const batch = new WriteBatch().put('a\0', 'b').delete('c', { columnFamily: other }).deleteRange('d', 'e');
  const expected = [
    { type: 'put', columnFamilyId: 0, key: Buffer.from('a\0'), value: Buffer.from('b') },
    { type: 'delete', columnFamilyId: other.id, key: Buffer.from('c') },
    { type: 'deleteRange', columnFamilyId: 0, start: Buffer.from('d'), end: Buffer.from('e') },
  ];
  assert.deepEqual(batch.operations(), expected);
  const copy = WriteBatch.from(batch.toBuffer());
  assert.deepEqual(copy.operations(), expected);
  assert.equal(copy.append(batch).length, 6);
  assert.equal(copy.append(copy).length, 12);
  assert.throws(() => WriteBatch.from(Buffer.from('no batch')), hasCode('CAMBIUM_CORRUPTION'));
  assert.throws(() => batch.append({}), TypeError);
});

test('a batch with a key that is too long is refused until it is cleared', async (t) => {
  const db = await openDatabase(t);
  const batch = new WriteBatch().put(Buffer.alloc(70000), 'v').put('k', 'v');
  await assert.rejects(db.write(batch), hasCode('CAMBIUM_INVALID_ARGUMENT'));
  assert.equal(await db.has('k'), false);
  await db.write(batch.clear().put('k', 'v'));
  assert.equal(await db.has('k'), true);
});

test('a batch cannot be used while it is written', async (t) => {
  const db = await openDatabase(t);
  const batch = new WriteBatch().put('a', '1');
  const writing = db.write(batch);
  assert.throws(() => batch.put('b', '2'), hasCode('CAMBIUM_BUSY'));
  assert.throws(() => batch.clear(), hasCode('CAMBIUM_BUSY'));
  assert.throws(() => batch.length, hasCode('CAMBIUM_BUSY'));
  await assert.rejects(db.write(batch), hasCode('CAMBIUM_BUSY'));
  await writing;
  batch.put('b', '2');
  await db.write(batch);
  assert.equal(await db.has('b'), true);
});

test('wrong types in batches are TypeErrors', () => {
  const batch = new WriteBatch();
  assert.throws(() => batch.put(5, 'v'), TypeError);
  assert.throws(() => batch.put('k'), TypeError);
  assert.throws(() => batch.put('k', 'v', { columnFamily: 'name' }), TypeError);
  assert.throws(() => batch.deleteRange('k'), TypeError);
  assert.equal(batch.length, 0);
});
