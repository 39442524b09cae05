'use strict';

const assert = require('node:assert/strict');
const { readdirSync, statSync, truncateSync } = require('node:fs');
const { join } = require('node:path');
const { test } = require('node:test');
const { BackupEngine, Database } = require('cambium');
const { directory, hasCode, openDatabase } = require('./helpers');

test('backups are made, listed, verified, restored, purged and deleted', async (t) => {
  const root = directory(t);
  const db = await openDatabase(t, {}, join(root, 'db'));
  const engine = await BackupEngine.open(join(root, 'backups'));
  t.after(() => engine.close());
  for (const value of ['one', 'two', 'three']) {
    await db.put('key', value);
    await engine.createBackup(db, { flush: value === 'two' });
  }
  const list = await engine.list();
  assert.deepEqual(list.map(({ id }) => id), [1, 2, 3]);
  assert.equal(list[2].sequenceNumber, db.latestSequenceNumber);
  assert.ok(list.every(({ size, files, timestamp, checked }) => size > 0 && files > 0 && timestamp > 1e9 && checked));
  await engine.verify(1);
  await engine.verify(2, { checksums: true });
  await assert.rejects(engine.verify(9), hasCode('CAMBIUM_NOT_FOUND'));
  await engine.restore(1, join(root, 'restored1'));
  await engine.restoreLatest(join(root, 'restored3'));
  for (const [name, value] of [['restored1', 'one'], ['restored3', 'three']]) {
    const copy = await Database.open(join(root, name));
    assert.equal(await copy.get('key', { encoding: 'utf8' }), value);
    await copy.close();
  }
  await engine.purge(2);
  assert.deepEqual((await engine.list()).map(({ id }) => id), [2, 3]);
  await engine.delete(2);
  await engine.collectGarbage();
  assert.deepEqual((await engine.list()).map(({ id }) => id), [3]);
  assert.deepEqual(await engine.listCorrupted(), []);
  await db.close();
  engine.setVerifyChecksums(false);
  await engine.createBackupOffline(join(root, 'db'));
  assert.equal((await engine.list())[1].checked, false);

  const second = BackupEngine.open(join(root, 'backups'));
  await assert.rejects(second, hasCode('CAMBIUM_LOCKED'));
  engine.stopBackup();
  await assert.rejects(engine.createBackupOffline(join(root, 'db')), hasCode('CAMBIUM_INCOMPLETE'));
});

test('an engine for reading lists and restores only', async (t) => {
  const root = directory(t);
  const db = await openDatabase(t, {}, join(root, 'db'));
  await db.put('key', 'value');
  await assert.rejects(BackupEngine.open(join(root, 'backups'), { readOnly: true }), hasCode('CAMBIUM_PATH_NOT_FOUND'));
  const writing = await BackupEngine.open(join(root, 'backups'), { lockWaitMicros: 10 });
  await writing.createBackup(db);
  await writing.close();
  const reading = await BackupEngine.open(join(root, 'backups'), { readOnly: true });
  assert.equal((await reading.list()).length, 1);
  await assert.rejects(reading.createBackup(db));
  await reading.restoreLatest(join(root, 'restored'));
  await reading.close();
});

test('a damaged record of a backup is listed', async (t) => {
  const root = directory(t);
  const db = await openDatabase(t, {}, join(root, 'db'));
  const engine = await BackupEngine.open(join(root, 'backups'));
  await engine.createBackup(db);
  await engine.close();
  const damage = (path) => {
    for (const name of readdirSync(path)) {
      const each = join(path, name);
      if (statSync(each).isDirectory()) damage(each);
      else if (statSync(each).size > 0) truncateSync(each, 1);
    }
  };
  damage(join(root, 'backups'));
  const again = await BackupEngine.open(join(root, 'backups'), { readOnly: true }).catch((error) => error);
  if (again instanceof Error) {
    assert.equal(again.code, 'CAMBIUM_CORRUPTION');
    return;
  }
  assert.deepEqual(await again.listCorrupted(), [1]);
  assert.deepEqual(await again.list(), []);
  await assert.rejects(again.restoreLatest(join(root, 'x')), hasCode('CAMBIUM_CORRUPTION'));
  await again.close();
});

test('an engine cannot be used after close, and waits for its calls', async (t) => {
  const root = directory(t);
  const db = await openDatabase(t, {}, join(root, 'db'));
  const engine = await BackupEngine.open(join(root, 'backups'));
  const backup = engine.createBackup(db);
  assert.throws(() => engine.setVerifyChecksums(true), hasCode('CAMBIUM_BUSY'));
  const closing = engine.close();
  assert.equal(engine.close(), closing);
  await backup;
  await closing;
  await assert.rejects(engine.list(), hasCode('CAMBIUM_CLOSED'));
  assert.throws(() => engine.stopBackup(), hasCode('CAMBIUM_CLOSED'));
  await db.close();
  const other = await BackupEngine.open(join(root, 'backups'));
  await assert.rejects(other.createBackup(db), hasCode('CAMBIUM_CLOSED'));
  await other.close();
  assert.throws(() => new BackupEngine(), TypeError);
});
