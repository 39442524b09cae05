'use strict';

const assert = require('node:assert/strict');
const { join } = require('node:path');
const { test } = require('node:test');
const { Database, LockedError, IOError, version } = require('cambium');
const { directory, hasCode, openDatabase } = require('./helpers');

test('a database is created only with createIfMissing', async (t) => {
  const path = join(directory(t), 'db');
  await assert.rejects(Database.open(path), hasCode('CAMBIUM_INVALID_ARGUMENT', 'create_if_missing'));
  assert.throws(() => Database.openSync(path), hasCode('CAMBIUM_INVALID_ARGUMENT'));
  const db = await Database.open(path, { createIfMissing: true });
  assert.equal(db.path, path);
  assert.equal(db.readOnly, false);
  assert.equal(db.isOpen, true);
  await db.close();
  assert.equal(db.isOpen, false);
  await assert.rejects(
    Database.open(path, { errorIfExists: true }),
    hasCode('CAMBIUM_INVALID_ARGUMENT', 'error_if_exists'),
  );
});

test('a database that is open elsewhere is locked', async (t) => {
  const db = await openDatabase(t);
  await assert.rejects(Database.open(db.path), (error) => {
    assert.ok(error instanceof LockedError && error instanceof IOError);
    return error.code === 'CAMBIUM_LOCKED' && error.name === 'LockedError';
  });
});

test('openSync and closeSync open and close', async (t) => {
  const path = join(directory(t), 'db');
  const db = Database.openSync(path, { createIfMissing: true });
  db.putSync('key', 'value');
  db.closeSync();
  db.closeSync();
  const again = Database.openSync(path);
  assert.equal(again.getSync('key').toString(), 'value');
  again.closeSync();
});

test('a read only database refuses writes, and several may have it open', async (t) => {
  const path = join(directory(t), 'db');
  const db = await Database.open(path, { createIfMissing: true });
  await db.put('key', 'value');
  await db.close();
  const one = await Database.open(path, { readOnly: true });
  const two = Database.openSync(path, { readOnly: true });
  assert.equal(one.readOnly, true);
  assert.equal(await one.get('key', { encoding: 'utf8' }), 'value');
  assert.equal(two.getSync('key', { encoding: 'utf8' }), 'value');
  await assert.rejects(one.put('key', 'other'), hasCode('CAMBIUM_NOT_SUPPORTED'));
  assert.throws(() => two.putSync('key', 'other'), hasCode('CAMBIUM_NOT_SUPPORTED'));
  await one.close();
  two.closeSync();
});

test('paths must be strings without zero bytes', async () => {
  await assert.rejects(Database.open(5), TypeError);
  await assert.rejects(Database.open('a\0b'), TypeError);
  assert.throws(() => new Database(), TypeError);
});

test('the version is that of the library', () => {
  assert.match(version, /^\d+\.\d+\.\d+$/);
});
