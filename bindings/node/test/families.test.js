'use strict';

const assert = require('node:assert/strict');
const { join } = require('node:path');
const { test } = require('node:test');
const { Database } = require('cambium');
const { directory, hasCode, openDatabase } = require('./helpers');

test('families are created, used, listed, opened and dropped', async (t) => {
  const path = join(directory(t), 'db');
  const db = await Database.open(path, { createIfMissing: true });
  const one = await db.createColumnFamily('one', { minBlobSize: 99 });
  const two = db.createColumnFamilySync('two');
  assert.deepEqual([one.name, one.database, typeof one.id], ['one', db, 'number']);
  assert.notEqual(one.id, two.id);
  assert.equal(db.columnFamily('one'), one);
  assert.equal(db.columnFamily('none'), undefined);
  assert.deepEqual(db.columnFamilies.map(({ name }) => name).sort(), ['default', 'one', 'two']);
  await db.put('key', 'of default');
  await db.put('key', 'of one', { columnFamily: one });
  db.putSync('key', 'of two', { columnFamily: 'two' });
  assert.equal(await db.get('key', { columnFamily: one, encoding: 'utf8' }), 'of one');
  assert.equal(db.getSync('key', { columnFamily: two, encoding: 'utf8' }), 'of two');
  assert.equal(db.hasSync('key', { columnFamily: 'one' }), true);
  assert.deepEqual(await db.values({ columnFamily: 'two', valueEncoding: 'utf8' }).all(), ['of two']);
  assert.equal(db.cursor({ columnFamily: one }).seekToFirstSync(), true);
  assert.equal(db.options({ columnFamily: one }).minBlobSize, '99');
  await db.setOptions({ minBlobSize: 98 }, { columnFamily: one });
  assert.equal(db.options({ columnFamily: 'one' }).minBlobSize, '98');
  assert.equal(db.propertyNumber('cambium.num-entries-active-mem-table', { columnFamily: one }), 1n);
  await db.flush({ columnFamily: one });
  await db.compactRange({ columnFamily: one });
  await db.delete('key', { columnFamily: two });
  await db.deleteRange('a', 'z', { columnFamily: two });
  db.dropColumnFamilySync('two');
  await db.close();

  assert.deepEqual((await Database.listColumnFamilies(path)).sort(), ['default', 'one']);
  await assert.rejects(Database.open(path), hasCode('CAMBIUM_INVALID_ARGUMENT'));
  const names = await Database.open(path, { columnFamilies: ['one'] });
  assert.equal(await names.get('key', { columnFamily: 'one', encoding: 'utf8' }), 'of one');
  await names.close();
  const withOptions = Database.openSync(path, {
    columnFamilies: { default: { minBlobSize: 5 }, one: { writeBufferSize: '1M' } },
    readOnly: true,
  });
  assert.equal(withOptions.options().minBlobSize, '5');
  assert.equal(withOptions.getSync('key', { columnFamily: 'one', encoding: 'utf8' }), 'of one');
  withOptions.closeSync();
});

test('missing families are created with createMissingColumnFamilies', async (t) => {
  const path = join(directory(t), 'db');
  const options = { createIfMissing: true, columnFamilies: ['new'] };
  await assert.rejects(Database.open(path, options), hasCode('CAMBIUM_INVALID_ARGUMENT'));
  const db = await Database.open(path, { ...options, createMissingColumnFamilies: true, minBlobSize: 321 });
  assert.equal(db.columnFamily('new').name, 'new');
  assert.equal(db.options().minBlobSize, '321');
  assert.equal(db.options({ columnFamily: 'new' }).minBlobSize, '512');
  await db.close();
});

test('a dropped family cannot be used, and its name can be used again', async (t) => {
  const db = await openDatabase(t);
  const old = await db.createColumnFamily('name');
  await db.put('key', 'old', { columnFamily: old });
  await db.dropColumnFamily(old);
  await assert.rejects(db.put('key', 'x', { columnFamily: old }), hasCode('CAMBIUM_COLUMN_FAMILY_DROPPED'));
  await assert.rejects(db.put('key', 'x', { columnFamily: 'name' }), hasCode('CAMBIUM_INVALID_ARGUMENT'));
  const made = await db.createColumnFamily('name');
  assert.notEqual(made.id, old.id);
  assert.equal(await db.get('key', { columnFamily: 'name' }), undefined);
  await assert.rejects(db.createColumnFamily('name'), hasCode('CAMBIUM_INVALID_ARGUMENT'));
  await assert.rejects(db.dropColumnFamily('default'), hasCode('CAMBIUM_INVALID_ARGUMENT'));
  assert.throws(() => db.createColumnFamilySync('a\0b'), TypeError);
});

test('a family of another database is refused', async (t) => {
  const one = await openDatabase(t);
  const two = await openDatabase(t);
  const family = await two.createColumnFamily('other');
  const refused = hasCode('CAMBIUM_INVALID_ARGUMENT', 'another database');
  await assert.rejects(one.get('key', { columnFamily: family }), refused);
  assert.throws(() => one.putSync('key', 'value', { columnFamily: family }), refused);
  assert.throws(() => one.iterator({ columnFamily: family }), refused);
  await assert.rejects(one.dropColumnFamily(family), refused);
});
