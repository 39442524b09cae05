'use strict';

const assert = require('node:assert/strict');
const { existsSync, readFileSync } = require('node:fs');
const { join } = require('node:path');
const { test } = require('node:test');
const { Database, RateLimiter, WriteBufferManager } = require('cambium');
const { databaseOptions, familyOptions } = require('../lib/option_names');
const { directory, hasCode, openDatabase } = require('./helpers');

test('every option can be given by either form of its name', async (t) => {
  const path = join(directory(t), 'db');
  const first = await Database.open(path, { createIfMissing: true });
  const defaults = first.options();
  await first.close();
  const names = [...databaseOptions, ...familyOptions];
  const camel = (name) => name.replace(/_([a-z])/g, (_, letter) => letter.toUpperCase());
  assert.deepEqual(Object.keys(defaults).filter((name) => name !== 'comparator').sort(), names.map(camel).sort());
  const asCamel = Object.fromEntries(names.map((name) => [camel(name), defaults[camel(name)]]));
  const asSnake = Object.fromEntries(names.map((name) => [name, defaults[camel(name)]]));
  for (const options of [asCamel, asSnake]) {
    const db = await Database.open(path, options);
    assert.deepEqual(db.options(), defaults);
    await db.close();
  }
});

const documented = join(__dirname, '..', '..', '..', 'docs', 'OPTIONS.md');
test('the names are those of docs/OPTIONS.md', { skip: !existsSync(documented) }, () => {
  const objects = ['write_buffer_manager', 'rate_limiter', 'file_system', 'clock', 'random_source', 'executor',
    'info_log', 'statistics', 'listeners', 'comparator', 'compaction_filter', 'compaction_filter_factory'];
  const listed = (heading) => {
    const section = readFileSync(documented, 'utf8').split(`### ${heading}\n`)[1].split(/\n####? /)[0];
    return [...section.matchAll(/^\| `(\w+)` \|/gm)].map((match) => match[1]).filter((name) => !objects.includes(name));
  };
  assert.deepEqual(listed('DBOptions'), databaseOptions);
  assert.deepEqual(listed('ColumnFamilyOptions'), familyOptions);
});

test('short names of enumerators, texts of sizes, and numbers', async (t) => {
  const db = await openDatabase(t, {
    indexType: 'lsm',
    compression: 'zstd',
    blobCompressionType: 'lz4',
    compactionStyle: 'lazyLevel',
    walRecoveryMode: 'pointInTime',
    writeBufferSize: '8M',
    minBlobSize: 1000n,
    maxSpaceAmplification: 2.5,
    enableBlobFiles: true,
    valueClustering: 'auto',
    pageSize: undefined,
  });
  const options = db.options();
  assert.equal(options.indexType, 'kLsm');
  assert.equal(options.compression, 'kZSTD');
  assert.equal(options.blobCompressionType, 'kLZ4Compression');
  assert.equal(options.compactionStyle, 'kCompactionStyleLazyLevel');
  assert.equal(options.walRecoveryMode, 'kPointInTimeRecovery');
  assert.equal(options.writeBufferSize, String(8 * 1024 * 1024));
  assert.equal(options.minBlobSize, '1000');
  assert.equal(options.maxSpaceAmplification, '2.5');
  assert.equal(options.valueClustering, 'auto');
});

test('options that are not legal are errors that name them', async (t) => {
  const path = join(directory(t), 'db');
  const invalid = (options, text) =>
    assert.rejects(
      Database.open(path, { createIfMissing: true, ...options }),
      hasCode('CAMBIUM_INVALID_ARGUMENT', text),
    );
  await invalid({ noSuchOption: 1 }, 'no_such_option');
  await invalid({ pageSize: 5 }, 'page_size');
  await invalid({ pageSize: '1;num_levels=3' }, 'page_size');
  await invalid({ pageSize: {} }, 'page_size');
  await invalid({ statistics: 'much' }, 'statistics');
  await invalid({ infoLog: () => {}, infoLogLevel: 'loud' }, 'infoLogLevel');
  await invalid({ comparator: 'alphabetical' }, 'comparator');
  await invalid({ columnFamilies: { other: { maxOpenFiles: 5 } } }, 'maxOpenFiles');
  await invalid({ columnFamilies: { other: { statistics: true } } }, 'statistics');
  await assert.rejects(Database.open(path, 5), TypeError);
  await assert.rejects(Database.open(path, { infoLog: 5 }), TypeError);
  await assert.rejects(Database.open(path, { onEvent: 5 }), TypeError);
  assert.equal(existsSync(path), false);
});

test("RocksDB's defaults", async (t) => {
  const db = await openDatabase(t, { rocksdbCompatibility: true, numLevels: 5 });
  assert.equal(db.options().maxWriteBufferNumber, '2');
  assert.equal(db.options().enableBlobFiles, 'false');
  assert.equal(db.options().numLevels, '5');
});

test('options change while the database is open, all or none', async (t) => {
  const db = await openDatabase(t);
  await db.setOptions({ minBlobSize: 2000, write_buffer_size: '1M' });
  assert.equal(db.options().minBlobSize, '2000');
  db.setOptionsSync({ minBlobSize: 3000 });
  assert.equal(db.options().minBlobSize, '3000');
  await db.setDBOptions({ pageCacheSize: '1M' });
  db.setDBOptionsSync({ maxTotalWalSize: '2M' });
  assert.equal(db.options().pageCacheSize, String(2 ** 20));
  await assert.rejects(db.setOptions({ minBlobSize: 4000, pageSize: 512 }), hasCode('CAMBIUM_INVALID_ARGUMENT'));
  assert.throws(() => db.setDBOptionsSync({ minBlobSize: 1 }), hasCode('CAMBIUM_INVALID_ARGUMENT'));
  assert.equal(db.options().minBlobSize, '3000');
});

test('the newest OPTIONS file can be read', async (t) => {
  const path = join(directory(t), 'db');
  const db = await Database.open(path, { createIfMissing: true, maxBackgroundJobs: 3 });
  await db.createColumnFamily('other', { minBlobSize: 77 });
  await db.close();
  const loaded = await Database.loadLatestOptions(path);
  assert.equal(loaded.database.maxBackgroundJobs, '3');
  assert.deepEqual(Object.keys(loaded.columnFamilies).sort(), ['default', 'other']);
  assert.equal(loaded.columnFamilies.other.minBlobSize, '77');
  assert.deepEqual(await Database.loadLatestOptions(path, { ignoreUnknownOptions: true }), loaded);
  await assert.rejects(Database.loadLatestOptions(join(path, 'none')), hasCode('CAMBIUM_PATH_NOT_FOUND'));
});

test('rate limiters and write buffer managers are shared', async (t) => {
  const rateLimiter = new RateLimiter(50_000_000, { refillPeriodMicros: 10_000, fairness: 5 });
  const writeBufferManager = new WriteBufferManager(2 ** 22, { allowStall: true });
  const one = await openDatabase(t, { rateLimiter, writeBufferManager });
  const two = await openDatabase(t, { rateLimiter, writeBufferManager });
  await one.put('key', Buffer.alloc(100));
  await two.put('key', Buffer.alloc(100));
  assert.equal(writeBufferManager.enabled, true);
  assert.equal(writeBufferManager.bufferSize, 2 ** 22);
  assert.ok(writeBufferManager.memoryUsage > 0);
  assert.ok(writeBufferManager.mutableMemtableMemoryUsage > 0);
  writeBufferManager.bufferSize = 2 ** 23;
  writeBufferManager.setAllowStall(false);
  assert.equal(one.propertyNumber('cambium.write-buffer-manager-capacity'), BigInt(2 ** 23));
  assert.equal(rateLimiter.bytesPerSecond, 50_000_000);
  rateLimiter.bytesPerSecond = 60_000_000;
  assert.equal(rateLimiter.bytesPerSecond, 60_000_000);
  await one.flush();
});
