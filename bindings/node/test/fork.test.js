'use strict';

const assert = require('node:assert/strict');
const { execFileSync, fork, spawnSync } = require('node:child_process');
const { once } = require('node:events');
const { existsSync, readFileSync } = require('node:fs');
const { dirname, join, resolve } = require('node:path');
const { test } = require('node:test');
const { directory, openDatabase } = require('./helpers');

// The directory with node_api.h: that with which the addon was built, or that of this Node.js.
function headers() {
  const gypi = join(__dirname, '..', 'build', 'config.gypi');
  const nodedir = existsSync(gypi) ? /"nodedir": "([^"]*)"/.exec(readFileSync(gypi, 'utf8'))?.[1] : undefined;
  return [join(nodedir ?? '', 'include', 'node'), resolve(dirname(process.execPath), '..', 'include', 'node')].find(
    (path) => existsSync(join(path, 'node_api.h')),
  );
}

// V8 gives its heap to no forked child, so JavaScript cannot run there: the child ends with SIGSEGV, in V8. Where
// JavaScript does run, each call is an error. In no case the child hangs, and the parent is not affected.
test('a forked child of a process with an open database does not hang', (t) => {
  const root = directory(t);
  const addon = join(root, 'fork.node');
  const source = join(__dirname, 'fork', 'fork.c');
  execFileSync(process.env.CC ?? 'cc', ['-shared', '-fPIC', `-I${headers()}`, '-o', addon, source]);
  const script = `
    const { Database, WriteBatch } = require(${JSON.stringify(require.resolve('cambium'))});
    const { forkAndCall } = require(${JSON.stringify(addon)});
    (async () => {
      const db = await Database.open(${JSON.stringify(join(root, 'db'))}, { createIfMissing: true });
      await db.put('key', 'value');
      const iterator = db.iterator();
      const cursor = db.cursor();
      const snapshot = db.snapshot();
      const transaction = db.transaction();
      const calls = [
        () => db.getSync('key'),
        () => db.getSync('key', { encoding: 'utf8' }),
        () => db.putSync('key', 'value'),
        () => db.writeSync([]),
        () => iterator.nextChunkSync(),
        () => cursor.seekSync('key'),
        () => snapshot.sequenceNumber,
        () => db.property('cambium.stats'),
        () => db.flushSync(),
        () => db.closeSync(),
        () => db.transaction(),
        () => transaction.putSync('key', 'value'),
        () => transaction.commitSync(),
        () => new WriteBatch(),
        () => Database.openSync('other', { createIfMissing: true }),
      ];
      const code = forkAndCall(() => {
        for (let i = 0; i < calls.length; ++i) {
          try {
            calls[i]();
            return 100 + i;
          } catch (error) {
            if (error.code !== 'CAMBIUM_NOT_SUPPORTED' || !error.message.includes('forked')) return 50 + i;
          }
        }
        return 42;
      });
      console.log(code === 42 || code === -11 ? 'ended' : code, db.getSync('key', { encoding: 'utf8' }));
      await db.close();
    })();`;
  // Threads of V8 do not exist in the child either, so this Node.js has none.
  const node = [process.execPath, ['--single-threaded', '-e', script]];
  const result = spawnSync(...node, { encoding: 'utf8', timeout: 60_000 });
  assert.equal(result.stdout, 'ended value\n', result.stderr);
  assert.equal(result.status, 0);
});

test('a process of child_process.fork() is told that the database is locked', async (t) => {
  const db = await openDatabase(t);
  const child = fork(join(__dirname, 'fork', 'child.js'), [db.path]);
  const [message] = await once(child, 'message');
  assert.deepEqual(message, ['CAMBIUM_LOCKED', 'CAMBIUM_LOCKED', 'CAMBIUM_LOCKED']);
  const [code] = await once(child, 'exit');
  assert.equal(code, 0);
  await db.put('key', 'value');
});
