'use strict';

const assert = require('node:assert/strict');
const { join } = require('node:path');
const { test } = require('node:test');
const { Database } = require('cambium');
const { directory, openDatabase } = require('./helpers');

const isAbort = (error) => error.name === 'AbortError';

test('a signal that is aborted already prevents calls', async (t) => {
  const db = await openDatabase(t);
  const signal = AbortSignal.abort();
  await assert.rejects(db.put('key', 'value', { signal }), isAbort);
  await assert.rejects(db.get('key', { signal }), isAbort);
  await assert.rejects(db.multiGet(['key'], { signal }), isAbort);
  await assert.rejects(db.has('key', { signal }), isAbort);
  await assert.rejects(db.delete('key', { signal }), isAbort);
  await assert.rejects(db.singleDelete('key', { signal }), isAbort);
  await assert.rejects(db.deleteRange('a', 'b', { signal }), isAbort);
  await assert.rejects(db.write([], { signal }), isAbort);
  await assert.rejects(db.putIfAbsent('key', 'value', { signal }), isAbort);
  await assert.rejects(db.compareAndSet('key', '', 'value', { signal }), isAbort);
  await assert.rejects(db.compareAndDelete('key', '', { signal }), isAbort);
  await assert.rejects(db.writeIf([{ type: 'put', key: 'key', value: '' }], [], { signal }), isAbort);
  await assert.rejects(db.compactRange({ signal }), isAbort);
  await assert.rejects(db.get('key', { signal: {} }), TypeError);
  assert.throws(() => db.iterator({ signal }), isAbort);
  await assert.rejects(Database.open(join(directory(t), 'other'), { signal, createIfMissing: true }), isAbort);
  assert.equal(await db.has('key'), false);
});

test('a promise is rejected when the signal is aborted, and the call ends on its own', async (t) => {
  const db = await openDatabase(t);
  const controller = new AbortController();
  const write = db.put('key', Buffer.alloc(1_000_000), { signal: controller.signal });
  controller.abort(new Error('no longer needed'));
  await assert.rejects(write, { message: 'no longer needed' });
  await db.close();
  const again = await openDatabase(t, {}, db.path);
  assert.equal(await again.has('key'), true);
});

test('a signal that is not aborted changes nothing', async (t) => {
  const db = await openDatabase(t);
  const { signal } = new AbortController();
  await db.put('key', 'value', { signal });
  assert.equal(await db.get('key', { signal, encoding: 'utf8' }), 'value');
});

test('a database whose opening was aborted is closed', async (t) => {
  const path = join(directory(t), 'db');
  const controller = new AbortController();
  const opening = Database.open(path, { createIfMissing: true, signal: controller.signal });
  controller.abort();
  await assert.rejects(opening, isAbort);
  const db = await openDatabase(t, { lockWaitMicros: 5_000_000 }, path);
  assert.equal(db.isOpen, true);
});

test('an iterator ends with its signal', async (t) => {
  const db = await openDatabase(t);
  for (let i = 0; i < 100; ++i) db.putSync(`key${i}`, 'value');
  const controller = new AbortController();
  const iterator = db.iterator({ signal: controller.signal });
  let seen = 0;
  await assert.rejects(async () => {
    for await (const entry of iterator) {
      seen += entry.length / 2;
      if (seen === 10) controller.abort();
    }
  }, isAbort);
  assert.equal(seen, 10);
  const second = new AbortController();
  const chunks = db.iterator({ signal: second.signal });
  await chunks.nextChunk(5);
  second.abort();
  await assert.rejects(chunks.nextChunk(5), isAbort);
  assert.throws(() => chunks.nextChunkSync(5), isAbort);
  chunks.close();
});
