'use strict';

const assert = require('node:assert/strict');
const { spawnSync } = require('node:child_process');
const { join } = require('node:path');
const { test } = require('node:test');
const { Database } = require('cambium');
const { CambiumLevel } = require('cambium/level');
const { directory } = require('./helpers');

test("abstract-level's own suite passes", (t) => {
  const suite = join(__dirname, 'level', 'suite.js');
  const result = spawnSync(process.execPath, [suite, directory(t)], { encoding: 'utf8', maxBuffer: 2 ** 26 });
  const summary = /# tests (\d+)\n# pass {2}(\d+)\n/.exec(result.stdout);
  assert.equal(result.status, 0, result.stdout.slice(-3000) + result.stderr);
  t.diagnostic(`${summary[2]} of ${summary[1]} assertions passed`);
  assert.equal(summary[1], summary[2]);
  assert.ok(Number(summary[1]) > 5000);
});

test('a level has the options of databases, and the database itself', async (t) => {
  const location = join(directory(t), 'with', 'parents', 'db');
  const level = new CambiumLevel(location, { valueEncoding: 'json', minBlobSize: 123, indexType: 'lsm', unknown: 1 });
  assert.equal(level.database, null);
  await level.put('key', { a: 1 }, { sync: true });
  assert.deepEqual(await level.get('key'), { a: 1 });
  assert.equal(level.location, location);
  assert.ok(level.database instanceof Database);
  assert.equal(level.database.options().minBlobSize, '123');
  assert.equal(level.database.options().indexType, 'kLsm');
  await level.close();
  const reading = new CambiumLevel(location, { readOnly: true, indexType: 'lsm' });
  assert.equal(await reading.get('key'), '{"a":1}');
  await assert.rejects(reading.put('key', 'x'), { code: 'CAMBIUM_NOT_SUPPORTED' });
  await reading.close();
  await CambiumLevel.destroy(location);
  const ordered = new CambiumLevel(location, { comparator: 'reverse-bytewise' });
  await assert.rejects(ordered.open(), (error) => error.cause instanceof TypeError);
  assert.throws(() => new CambiumLevel(''), TypeError);
});

test('clear() with limits, snapshots and nothing to delete', async (t) => {
  const level = new CambiumLevel(join(directory(t), 'db'));
  await level.clear();
  const keys = Array.from({ length: 2500 }, (_, i) => String(i).padStart(4, '0'));
  await level.batch(keys.map((key) => ({ type: 'put', key, value: '' })));
  await level.clear({ limit: 2100 });
  assert.equal((await level.keys().next()), '2100');
  await level.clear({ gt: '9', lt: '1' });
  const snapshot = level.snapshot();
  await level.put('9999', '');
  await level.clear({ snapshot, reverse: true });
  await snapshot.close();
  assert.deepEqual(await level.keys().all(), ['9999']);
  await level.close();
});
