'use strict';

const assert = require('node:assert/strict');
const { existsSync, openSync, writeSync, closeSync, readdirSync, readFileSync } = require('node:fs');
const { join } = require('node:path');
const { test } = require('node:test');
const { CorruptionError, Database } = require('cambium');
const { directory, hasCode } = require('./helpers');

const large = Buffer.alloc(3000, 'a value in the log');

async function makeDatabase(path) {
  const db = await Database.open(path, { createIfMissing: true });
  for (let i = 0; i < 20; ++i) await db.put(`key${i}`, large);
  await db.put('damaged', Buffer.alloc(3000, 'DAMAGE ME'));
  const other = await db.createColumnFamily('other');
  await db.put('key', 'value', { columnFamily: other });
  await db.flush();
  await db.close();
}

// Changes a byte of a value in a log file.
function damage(path) {
  for (const name of readdirSync(path).filter((each) => each.endsWith('.log'))) {
    const at = readFileSync(join(path, name)).indexOf('DAMAGE ME');
    if (at < 0) continue;
    const file = openSync(join(path, name), 'r+');
    writeSync(file, '!', at + 100);
    closeSync(file);
    return;
  }
  throw new Error('the value is in no log file');
}

test('verify finds damage', async (t) => {
  const path = join(directory(t), 'db');
  await makeDatabase(path);
  assert.deepEqual(await Database.verify(path), []);
  assert.deepEqual(await Database.verify(path, { deep: true }), []);
  assert.deepEqual(await Database.verify(path, { deep: true, columnFamilies: ['other'] }), []);
  damage(path);
  const problems = await Database.verify(path, { deep: true });
  assert.ok(problems.length > 0 && problems.every((line) => typeof line === 'string'));
  await assert.rejects(Database.verify(join(path, 'none')), hasCode('CAMBIUM_PATH_NOT_FOUND'));
});

test('reads of damaged values are CorruptionErrors; other keys stay readable', async (t) => {
  const path = join(directory(t), 'db');
  await makeDatabase(path);
  damage(path);
  const db = await Database.open(path, { columnFamilies: ['other'], readOnly: true });
  t.after(() => db.close());
  await assert.rejects(db.get('damaged'), (error) => {
    assert.ok(error instanceof CorruptionError);
    return error.code === 'CAMBIUM_CORRUPTION' && error.fatal === false && /\.log/.test(error.message);
  });
  assert.throws(() => db.getSync('damaged'), hasCode('CAMBIUM_CORRUPTION'));
  await assert.rejects(db.multiGet(['key0', 'damaged']), hasCode('CAMBIUM_CORRUPTION'));
  assert.ok(large.equals(await db.get('key0')));
  // A scan has the entries before the damage, then the error; after a seek it goes on.
  const iterator = db.keys({ keyEncoding: 'utf8' });
  assert.equal((await iterator.all()).length, 21);
  const entries = db.iterator({ keyEncoding: 'utf8' });
  await assert.rejects(entries.nextChunk(), hasCode('CAMBIUM_CORRUPTION'));
  entries.seek('key');
  assert.equal((await entries.nextChunk(1))[0][0], 'key0');
  const back = db.iterator({ keyEncoding: 'utf8', reverse: true });
  let seen = 0;
  await assert.rejects(async () => {
    for await (const entry of back) seen += entry.length / 2;
  }, hasCode('CAMBIUM_CORRUPTION'));
  assert.equal(seen, 20);
});

test('salvage makes a new database of what survives', async (t) => {
  const root = directory(t);
  const path = join(root, 'db');
  await makeDatabase(path);
  damage(path);
  const result = await Database.salvage(path, join(root, 'out'), { columnFamilies: ['other'], includeUnproven: true });
  assert.ok(result.lost > 0 && result.unproven >= 0);
  const db = await Database.open(join(root, 'out'), { columnFamilies: ['other'] });
  assert.ok(large.equals(await db.get('key19')));
  assert.equal(await db.get('damaged'), undefined);
  assert.equal(await db.get('key', { columnFamily: 'other', encoding: 'utf8' }), 'value');
  await db.close();
});

test('repair replaces a damaged database', async (t) => {
  const path = join(directory(t), 'db');
  await makeDatabase(path);
  damage(path);
  await Database.repair(path);
  assert.ok(existsSync(`${path}.damaged`));
  assert.deepEqual(await Database.verify(path, { deep: true }), []);
});

test('destroy deletes the files', async (t) => {
  const path = join(directory(t), 'db');
  await makeDatabase(path);
  await Database.destroy(path);
  await assert.rejects(Database.open(path), hasCode('CAMBIUM_INVALID_ARGUMENT'));
  await Database.destroy(path);
});

test('a checkpoint of a closed database', async (t) => {
  const root = directory(t);
  await makeDatabase(join(root, 'db'));
  await Database.checkpointOffline(join(root, 'db'), join(root, 'copy'));
  assert.deepEqual(await Database.listColumnFamilies(join(root, 'copy')), ['default', 'other']);
  await assert.rejects(
    Database.checkpointOffline(join(root, 'db'), join(root, 'copy')),
    hasCode('CAMBIUM_INVALID_ARGUMENT'),
  );
});
