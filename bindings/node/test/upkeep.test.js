'use strict';

const assert = require('node:assert/strict');
const { existsSync } = require('node:fs');
const { join } = require('node:path');
const { test } = require('node:test');
const { Database } = require('cambium');
const { directory, hasCode, openDatabase } = require('./helpers');

test('flush and compactRange', async (t) => {
  const db = await openDatabase(t);
  for (let i = 0; i < 100; ++i) await db.put(`key${i}`, 'value');
  await db.flush();
  assert.equal(db.propertyNumber('rocksdb.num-entries-active-mem-table'), 0n);
  await db.put('key', 'value');
  db.flushSync({ wait: false });
  await db.compactRange();
  await db.waitForCompact();
  await db.deleteRange('key1', 'key5');
  await db.compactRange({ start: 'key1', end: 'key5', blobGarbageCollectionPolicy: 'force', clusterValues: true });
  db.compactRangeSync({ blobGarbageCollectionPolicy: 'disable', blobGarbageCollectionAgeCutoff: 0.5 });
  db.waitForCompactSync();
  await db.syncLog();
  assert.equal((await db.keys().all()).length, 57);
  await assert.rejects(db.compactRange({ blobGarbageCollectionPolicy: 'x' }), hasCode('CAMBIUM_INVALID_ARGUMENT'));
});

test('properties', async (t) => {
  const db = await openDatabase(t);
  await db.put('key', 'value');
  assert.equal(db.propertyNumber('cambium.num-entries-active-mem-table'), 1n);
  assert.equal(db.property('rocksdb.num-snapshots'), '0');
  assert.equal(typeof JSON.parse(db.property('cambium.space-json')), 'object');
  assert.equal(db.property('cambium.none'), undefined);
  assert.equal(db.propertyNumber('cambium.none'), undefined);
  assert.equal(db.propertyNumber('cambium.stats'), undefined);
  assert.equal(typeof db.latestSequenceNumber, 'bigint');
  assert.throws(() => db.property(5), TypeError);
});

test('the identity is 32 digits, or the library is too old', async (t) => {
  const db = await openDatabase(t);
  try {
    assert.match(db.identity, /^[0-9a-f]{32}$/);
  } catch (error) {
    assert.ok(hasCode('CAMBIUM_NOT_SUPPORTED', 'too old')(error), error);
  }
});

test('verifyChecksums finds nothing, or the library is too old', async (t) => {
  const db = await openDatabase(t);
  await db.put('key', Buffer.alloc(5000));
  await db.flush();
  try {
    await db.verifyChecksums();
    db.verifyChecksumsSync({ snapshot: db.snapshot() });
  } catch (error) {
    assert.ok(hasCode('CAMBIUM_NOT_SUPPORTED', 'too old')(error), error);
  }
});

test('approximate sizes', async (t) => {
  const db = await openDatabase(t);
  for (let i = 0; i < 100; ++i) await db.put(`a${i}`, Buffer.alloc(2000, i));
  const ranges = [
    ['a', 'b'],
    ['b', Buffer.from('c')],
  ];
  assert.equal((await db.approximateSizes(ranges, { includeFiles: false, includeMemtables: true }))[1], 0);
  assert.ok((await db.approximateSizes(ranges, { includeFiles: false, includeMemtables: true }))[0] > 100_000);
  await db.flush();
  const sizes = db.approximateSizesSync(ranges);
  assert.ok(sizes[0] > 200_000 && sizes[1] === 0, String(sizes));
  assert.deepEqual(await db.approximateSizes([]), []);
});

test('statistics', async (t) => {
  const db = await openDatabase(t, { statistics: true });
  await db.put('key', 'value');
  await db.get('key');
  const { statistics } = db;
  assert.equal(statistics.level, 'exceptDetailedTimers');
  assert.equal(statistics.ticker('rocksdb.number.keys.written'), 1n);
  const histogram = statistics.histogram('rocksdb.db.get.micros');
  assert.equal(histogram.count, 1n);
  assert.ok(histogram.max >= histogram.min && histogram.average >= 0 && histogram.standardDeviation === 0);
  assert.ok([histogram.median, histogram.p95, histogram.p99].every((figure) => typeof figure === 'number'));
  assert.equal(typeof histogram.sum, 'bigint');
  assert.match(statistics.toString(), /rocksdb\.number\.keys\.written/);
  statistics.level = 'disableAll';
  await db.put('key', 'value');
  assert.equal(statistics.ticker('rocksdb.number.keys.written'), 1n);
  assert.equal(statistics.level, 'disableAll');
  assert.throws(() => (statistics.level = 'some'), hasCode('CAMBIUM_INVALID_ARGUMENT'));
  assert.throws(() => statistics.ticker('none'), hasCode('CAMBIUM_INVALID_ARGUMENT'));
  assert.throws(() => statistics.histogram('none'), hasCode('CAMBIUM_INVALID_ARGUMENT'));
});

test('without the option there are no statistics', async (t) => {
  const db = await openDatabase(t);
  await db.put('key', 'value');
  assert.equal(db.statistics.ticker('rocksdb.number.keys.written'), 0n);
  assert.equal(db.statistics.toString(), '');
  assert.equal(db.statistics.level, 'disableAll');
});

test('checkpoints are databases', async (t) => {
  const root = directory(t);
  const db = await openDatabase(t, {}, join(root, 'db'));
  await db.put('key', 'value');
  await db.checkpoint(join(root, 'one'));
  db.checkpointSync(join(root, 'two'), { logSizeForFlush: 1_000_000n });
  await db.put('key', 'later');
  for (const name of ['one', 'two']) {
    const copy = await Database.open(join(root, name));
    assert.equal(await copy.get('key', { encoding: 'utf8' }), 'value');
    await copy.close();
  }
  await assert.rejects(db.checkpoint(join(root, 'one')), hasCode('CAMBIUM_INVALID_ARGUMENT'));
  assert.throws(() => db.checkpointSync(join(root, 'x'), { logSizeForFlush: -1 }), TypeError);
});

test('traces', async (t) => {
  const root = directory(t);
  const db = await openDatabase(t, {}, join(root, 'db'));
  await db.startTrace(join(root, 'one'), {
    maxTraceFileSize: 2 ** 20,
    samplingFrequency: 1n,
    leaveOut: ['get', 'multiGet'],
    preserveWriteOrder: true,
    includeValues: true,
  });
  await db.put('key', 'value');
  await db.endTrace();
  db.startTraceSync(join(root, 'two'));
  db.endTraceSync();
  assert.ok(existsSync(join(root, 'one')) && existsSync(join(root, 'two')));
  await assert.rejects(db.endTrace());
  await assert.rejects(db.startTrace(join(root, 'one')));
  assert.throws(() => db.startTraceSync(join(root, 'x'), { leaveOut: ['all'] }), hasCode('CAMBIUM_INVALID_ARGUMENT'));
});
