'use strict';

const assert = require('node:assert/strict');
const { spawnSync } = require('node:child_process');
const { existsSync } = require('node:fs');
const { join } = require('node:path');
const { test } = require('node:test');
const { setTimeout: sleep } = require('node:timers/promises');
const { Database } = require('cambium');
const { directory, hasCode, openDatabase, texts } = require('./helpers');

test('a compaction filter keeps, removes and changes entries', async (t) => {
  const asked = [];
  const db = await openDatabase(t, {
    compactionFilter: {
      name: 'test.Filter',
      filter(key, value, level) {
        asked.push([key.toString(), value.toString(), typeof level]);
        switch (key.toString()) {
          case 'a':
            return undefined;
          case 'b':
            return true;
          case 'c':
            return { value: Buffer.from('changed\0') };
          case 'd':
            return { value: '' };
          case 'e':
            return { skipUntil: 'g' };
          case 'g':
            return 'remove';
          case 'h':
            return 'keep';
          default:
            return false;
        }
      },
    },
  });
  for (const key of 'abcdefghi') await db.put(key, key.toUpperCase());
  await db.compactRange();
  assert.deepEqual(texts(await db.iterator().all()), [
    ['a', 'A'],
    ['c', 'changed\0'],
    ['d', ''],
    ['h', 'H'],
    ['i', 'I'],
  ]);
  assert.deepEqual(asked[0], ['a', 'A', 'number']);
  assert.ok(!asked.some(([key]) => key === 'f'));
});

test('a filter may decide by the key alone, before the value is read', async (t) => {
  const byKey = [];
  const byValue = [];
  const db = await openDatabase(t, {
    compactionFilter: {
      name: 'test.ByKey',
      filterKey(key, level) {
        byKey.push(key.toString());
        assert.equal(typeof level, 'number');
        if (key.toString() === 'old') return 'remove';
        return key.toString() === 'ask' ? 'undetermined' : 'keep';
      },
      filter(key) {
        byValue.push(key.toString());
        return true;
      },
    },
  });
  for (const key of ['ask', 'new', 'old']) await db.put(key, Buffer.alloc(5000));
  await db.compactRange();
  assert.deepEqual(await db.keys({ keyEncoding: 'utf8' }).all(), ['new']);
  assert.deepEqual(byKey, ['ask', 'new', 'old']);
  assert.deepEqual(byValue, ['ask']);
});

test('if a filter throws, the entry is kept and onError gets the exception', async (t) => {
  const errors = [];
  const answers = [
    () => {
      throw new Error('broken filter');
    },
    () => 5,
    () => ({ value: 5 }),
    () => ({}),
    () => Promise.resolve(true),
  ];
  for (const filter of answers) {
    const db = await openDatabase(t, {
      compactionFilter: { name: 'test.Broken', filter, onError: (error) => errors.push(error) },
    });
    await db.put('key', 'value');
    await db.compactRange();
    assert.equal(await db.get('key', { encoding: 'utf8' }), 'value');
    await db.close();
  }
  assert.equal(errors.length, answers.length);
  assert.equal(errors[0].message, 'broken filter');
  assert.ok(errors.slice(1).every((error) => error instanceof TypeError));
});

test('without onError the exception of a filter is uncaught', (t) => {
  const script = `
    const { Database } = require(${JSON.stringify(require.resolve('cambium'))});
    process.on('uncaughtException', (error) => console.log('uncaught', error.message));
    (async () => {
      const compactionFilter = { name: 'broken', filter() { throw new Error('broken filter'); } };
      const db = await Database.open(process.argv[1], { createIfMissing: true, compactionFilter });
      await db.put('key', 'value');
      await db.compactRange();
      console.log(await db.get('key', { encoding: 'utf8' }));
      await db.close();
    })();`;
  const path = join(directory(t), 'db');
  const result = spawnSync(process.execPath, ['-e', script, path], { encoding: 'utf8', timeout: 30_000 });
  assert.equal(result.stdout, 'uncaught broken filter\nvalue\n', result.stderr);
  assert.equal(result.status, 0);
});

test('a database with a filter has synchronous reads only', async (t) => {
  const db = await openDatabase(t, { compactionFilter: { name: 'test.Keep', filter: () => false } });
  await db.put('key', 'value');
  assert.equal(db.getSync('key', { encoding: 'utf8' }), 'value');
  assert.equal(db.keys().allSync().length, 1);
  const refused = hasCode('CAMBIUM_NOT_SUPPORTED', 'compaction filter');
  assert.throws(() => db.putSync('key', 'value'), refused);
  assert.throws(() => db.writeSync([]), refused);
  assert.throws(() => db.compactRangeSync(), refused);
  assert.throws(() => db.closeSync(), refused);
  assert.throws(() => db.share(), hasCode('CAMBIUM_NOT_SUPPORTED'));
  const path = join(directory(t), 'db');
  const open = (compactionFilter) => Database.open(path, { createIfMissing: true, compactionFilter });
  await assert.rejects(open({ name: 'x' }), TypeError);
  await assert.rejects(open({ filter: () => false }), TypeError);
});

test('a family with its own filter', async (t) => {
  const db = await openDatabase(t);
  const family = await db.createColumnFamily('other', { compactionFilter: { name: 'all', filter: () => true } });
  await db.put('key', 'value');
  await db.put('key', 'value', { columnFamily: family });
  await db.compactRange();
  await db.compactRange({ columnFamily: family });
  assert.equal(await db.has('key'), true);
  assert.equal(await db.has('key', { columnFamily: family }), false);
});

test('background work asks the filter too, while many writes run', async (t) => {
  let asked = 0;
  const db = await openDatabase(t, {
    writeBufferSize: '16K',
    indexType: 'lsm',
    compactionFilter: { name: 'test.Count', filter: (key) => (++asked, key.length > 20) },
  });
  for (let round = 0; round < 10; ++round) {
    await Promise.all(Array.from({ length: 300 }, (_, i) => db.put(`key${round}.${i}`, Buffer.alloc(200))));
  }
  await db.waitForCompact();
  assert.ok(asked > 0);
  assert.equal((await db.keys().all()).length, 3000);
});

test('a process ends while its filter is being asked', (t) => {
  const script = `
    const { Database } = require(${JSON.stringify(require.resolve('cambium'))});
    (async () => {
      const compactionFilter = { name: 'slow', filter() { return false; } };
      const options = { createIfMissing: true, compactionFilter, writeBufferSize: '4K' };
      const db = await Database.open(process.argv[1], options);
      for (let i = 0; i < 2000; ++i) await db.put('key' + i, Buffer.alloc(100));
      db.compactRange().catch(() => {});
      setTimeout(() => process.exit(4), 5);
    })();`;
  const path = join(directory(t), 'db');
  const result = spawnSync(process.execPath, ['-e', script, path], { encoding: 'utf8', timeout: 30_000 });
  assert.equal(result.status, 4, result.stderr);
});

test('the log goes to a function, or nowhere', async (t) => {
  const lines = [];
  const path = join(directory(t), 'db');
  const db = await Database.open(path, {
    createIfMissing: true,
    infoLog: (line, level) => lines.push([line, level]),
    infoLogLevel: 'debug',
  });
  await db.put('key', 'value');
  await db.flush();
  await db.close();
  await sleep(10);
  assert.ok(lines.length > 0);
  assert.ok(lines.every(([line, level]) => typeof line === 'string' && /^(debug|info|warn|error)$/.test(level)));
  assert.equal(existsSync(join(path, 'LOG')), false);
  const silent = await Database.open(path, { infoLog: null });
  await silent.close();
  assert.equal(existsSync(join(path, 'LOG')), false);
});

test('events', async (t) => {
  const events = [];
  const path = join(directory(t), 'db');
  const db = await Database.open(path, {
    createIfMissing: true,
    onEvent: (name, details) => events.push({ name, ...details }),
    blobFileSize: '16K',
    blobGarbageCollectionAgeCutoff: 1,
  });
  for (let round = 0; round < 3; ++round) {
    for (let i = 0; i < 50; ++i) await db.put(`key${i}`, Buffer.alloc(2000, round));
    await db.flush();
  }
  await db.compactRange({ blobGarbageCollectionPolicy: 'force' });
  await db.close();
  await sleep(10);
  const named = (name) => events.filter((event) => event.name === name);
  const [flush] = named('flush');
  assert.equal(flush.columnFamily, 'default');
  assert.equal(flush.reason, 'manualFlush');
  assert.equal(flush.entries, 50);
  assert.ok(Array.isArray(flush.outputFiles) && typeof flush.mergedIntoTree === 'boolean');
  assert.equal(flush.error, undefined);
  assert.equal(named('flushBegin').length, named('flush').length);
  assert.equal(named('compactionBegin').length, named('compaction').length);
  for (const name of ['memtableSealed', 'tableFileStarted', 'tableFileCreated', 'blobFileStarted', 'blobFileCreated',
    'blobFileDeleted', 'logGc']) {
    assert.ok(named(name).length > 0, name);
  }
  assert.ok(named('logGc')[0].inputFiles.length > 0);
});

test('a failed flush is a backgroundError event with an error', async (t) => {
  const { rmSync, writeFileSync } = require('node:fs');
  const events = [];
  const path = join(directory(t), 'db');
  const db = await Database.open(path, {
    createIfMissing: true,
    onEvent: (name, details) => events.push({ name, ...details }),
  });
  await db.put('key', 'value');
  // A flush creates its file in the directory, which is gone.
  rmSync(path, { recursive: true });
  await assert.rejects(db.flush(), hasCode('CAMBIUM_PATH_NOT_FOUND'));
  await db.close().catch(() => {});
  writeFileSync(path, '');
  await sleep(10);
  const failed = events.find(({ name }) => name === 'backgroundError');
  assert.ok(failed.error instanceof Error && failed.error.code.startsWith('CAMBIUM_'));
});

test('an exception of onEvent is uncaught, and does not reach the library', (t) => {
  const script = `
    const { Database } = require(${JSON.stringify(require.resolve('cambium'))});
    process.once('uncaughtException', (error) => console.log('uncaught', error.message));
    (async () => {
      let calls = 0;
      const onEvent = () => { if (++calls === 1) throw new Error('broken listener'); };
      const db = await Database.open(process.argv[1], { createIfMissing: true, onEvent });
      await db.put('key', 'value');
      await db.flush();
      await db.close();
      console.log(calls > 1);
    })();`;
  const path = join(directory(t), 'db');
  const result = spawnSync(process.execPath, ['-e', script, path], { encoding: 'utf8', timeout: 30_000 });
  assert.equal(result.stdout, 'uncaught broken listener\ntrue\n', result.stderr);
});
