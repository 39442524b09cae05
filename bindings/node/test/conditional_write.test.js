'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');
const { ClosedError, Database, TimedOutError, WriteBatch } = require('cambium');
const { hasCode, openDatabase } = require('./helpers');

const utf8 = { encoding: 'utf8' };
const invalid = hasCode('CAMBIUM_INVALID_ARGUMENT');

// Runs a test on a plain database and on one that locks keys, with promises and with synchronous calls.
function everywhere(name, run) {
  for (const [kind, options] of [['plain', {}], ['locking', { transactionLocks: true }]]) {
    for (const suffix of ['', 'Sync']) {
      test(`${name}: ${kind}${suffix}`, async (t) => {
        const db = await openDatabase(t, options);
        const call = async (method, ...args) => db[method + suffix](...args);
        await run(db, call);
      });
    }
  }
}

everywhere('putIfAbsent puts once', async (db, call) => {
  assert.equal(await call('putIfAbsent', 'k', 'v'), true);
  assert.equal(await call('putIfAbsent', 'k', 'w'), false);
  assert.equal(db.getSync('k', utf8), 'v');
  db.deleteSync('k');
  assert.equal(await call('putIfAbsent', 'k', '', { sync: true }), true);
  assert.equal(await call('putIfAbsent', 'k', 'w'), false); // an empty value is a value
  assert.equal(db.getSync('k', utf8), '');
  assert.equal(await call('putIfAbsent', '', Buffer.from('of the empty key')), true);
});

everywhere('compareAndSet needs the expected value', async (db, call) => {
  assert.equal(await call('compareAndSet', 'k', '', 'v'), false); // an absent key has no value
  db.putSync('k', 'v');
  assert.equal(await call('compareAndSet', 'k', '', 'w'), false);
  assert.equal(await call('compareAndSet', 'k', 'v2', 'w'), false);
  assert.equal(db.getSync('k', utf8), 'v');
  assert.equal(await call('compareAndSet', 'k', Buffer.from('v'), '', { sync: true, noSlowdown: true }), true);
  assert.equal(db.getSync('k', utf8), '');
  const long = Buffer.alloc(100_000, 'x');
  assert.equal(await call('compareAndSet', 'k', Buffer.alloc(0), long), true);
  db.flushSync();
  assert.equal(await call('compareAndSet', 'k', long, 'w'), true);
  assert.equal(db.getSync('k', utf8), 'w');
});

everywhere('compareAndDelete needs the expected value', async (db, call) => {
  assert.equal(await call('compareAndDelete', 'k', ''), false);
  db.putSync('k', 'v');
  assert.equal(await call('compareAndDelete', 'k', ''), false);
  assert.equal(db.getSync('k', utf8), 'v');
  assert.equal(await call('compareAndDelete', 'k', 'v', { sync: true }), true);
  assert.equal(db.getSync('k'), undefined);
  db.putSync('k', '');
  assert.equal(await call('compareAndDelete', 'k', ''), true);
});

everywhere('each family has keys of its own', async (db, call) => {
  const family = await db.createColumnFamily('other');
  const inFamily = { columnFamily: family };
  assert.equal(await call('putIfAbsent', 'k', '1'), true);
  assert.equal(await call('putIfAbsent', 'k', '2', inFamily), true);
  assert.equal(await call('compareAndSet', 'k', '1', '3', inFamily), false);
  assert.equal(await call('compareAndSet', 'k', '2', '3', { columnFamily: 'other' }), true);
  assert.equal(db.getSync('k', utf8), '1');
  assert.equal(db.getSync('k', { ...utf8, ...inFamily }), '3');
  assert.equal(await call('compareAndDelete', 'k', '1', inFamily), false);
  assert.equal(await call('compareAndDelete', 'k', '3', inFamily), true);
  assert.equal(db.getSync('k', inFamily), undefined);
  await db.dropColumnFamily(family);
  await assert.rejects(call('putIfAbsent', 'k', 'v', inFamily), hasCode('CAMBIUM_COLUMN_FAMILY_DROPPED'));
});

everywhere('a batch is written if all conditions hold', async (db, call) => {
  const family = await db.createColumnFamily('other');
  db.putSync('stock', '3');
  db.putSync('empty', '', { columnFamily: family });
  const conditions = [
    { type: 'hasValue', key: 'stock', value: '3' },
    { type: 'isAbsent', key: 'order', columnFamily: family },
    { type: 'hasValue', key: 'empty', value: '', columnFamily: 'other' },
    { type: 'isAbsent', key: Buffer.from('order') },
  ];
  const batch = new WriteBatch().put('stock', '2').put('order', '1', { columnFamily: family });
  assert.equal(await call('writeIf', batch, conditions, { sync: true }), true);
  assert.equal(db.getSync('stock', utf8), '2');
  assert.equal(db.getSync('order', { ...utf8, columnFamily: family }), '1');
  // Now two of them do not hold; then one.
  const next = [{ type: 'put', key: 'stock', value: '1' }];
  assert.equal(await call('writeIf', next, conditions), false);
  db.deleteSync('order', { columnFamily: family });
  assert.equal(await call('writeIf', next, new Set(conditions)), false);
  assert.equal(db.getSync('stock', utf8), '2');
  assert.equal(await call('writeIf', next, []), true); // nothing is asked
  assert.equal(db.getSync('stock', utf8), '1');
  // Without operations it is a question.
  assert.equal(await call('writeIf', [], conditions.slice(1)), true);
  assert.equal(await call('writeIf', [], [{ ...conditions[2], type: 'isAbsent' }]), false);
  // The batch can be used again.
  assert.equal(batch.clear().put('a', 'b').length, 1);
});

everywhere('no increment is lost', async (db, call) => {
  const family = await db.createColumnFamily('other');
  const inFamily = { columnFamily: family };
  const next = (old) => String(Number(old ?? 0) + 1);
  async function raiseOne() {
    const old = await db.get('one', utf8);
    const written = await (old === undefined
      ? call('putIfAbsent', 'one', next(old))
      : call('compareAndSet', 'one', old, next(old)));
    if (!written) await raiseOne();
  }
  async function raiseTwo() {
    const batch = [];
    const conditions = [];
    for (const options of [{}, inFamily]) {
      const value = await db.get('two', { ...utf8, ...options });
      conditions.push({ type: value === undefined ? 'isAbsent' : 'hasValue', key: 'two', value, ...options });
      batch.push({ type: 'put', key: 'two', value: next(value), ...options });
    }
    if (!(await call('writeIf', batch, conditions))) await raiseTwo();
  }
  await Promise.all(Array.from({ length: 10 }, async () => {
    for (let i = 0; i < 20; ++i) {
      await raiseOne();
      await raiseTwo();
    }
  }));
  for (const [key, options] of [['one', utf8], ['two', utf8], ['two', { ...utf8, ...inFamily }]]) {
    assert.equal(await db.get(key, options), '200');
  }
});

test('a conditional write waits for the locks of transactions', async (t) => {
  const db = await openDatabase(t, { transactionLocks: { writeLockTimeout: 1 } });
  await db.put('k', 'v');
  const transaction = db.transaction();
  await transaction.put('k', 'w');
  await assert.rejects(db.compareAndSet('k', 'v', 'x'), TimedOutError);
  assert.throws(() => db.compareAndSetSync('k', 'v', 'x'), TimedOutError);
  await transaction.commit();
  assert.equal(await db.compareAndSet('k', 'v', 'x'), false);
  assert.equal(await db.compareAndSet('k', 'w', 'x'), true);
});

test('a batch cannot be changed while it is being written on a condition', async (t) => {
  const db = await openDatabase(t);
  const batch = new WriteBatch().put('k', 'v');
  const writing = db.writeIf(batch, [{ type: 'isAbsent', key: 'k' }]);
  assert.throws(() => batch.put('a', 'b'), hasCode('CAMBIUM_BUSY'));
  assert.throws(() => db.writeIfSync(batch, []), hasCode('CAMBIUM_BUSY'));
  assert.equal(await writing, true);
  batch.put('a', 'b');
});

test('with a comparator in JavaScript only promises are possible', async (t) => {
  const comparator = { name: 'test.Own', compare: (a, b) => Buffer.compare(b, a) };
  const db = await openDatabase(t, { comparator });
  assert.equal(await db.putIfAbsent('k', 'v'), true);
  assert.equal(await db.compareAndSet('k', 'v', 'w'), true);
  assert.equal(await db.writeIf([{ type: 'delete', key: 'k' }], [{ type: 'hasValue', key: 'k', value: 'w' }]), true);
  assert.throws(() => db.putIfAbsentSync('k', 'v'), hasCode('CAMBIUM_NOT_SUPPORTED'));
  const batch = new WriteBatch();
  assert.throws(() => db.writeIfSync(batch, []), hasCode('CAMBIUM_NOT_SUPPORTED'));
  batch.put('a', 'b');
});

test('what is wrong is an error', async (t) => {
  const db = await openDatabase(t);
  const other = await openDatabase(t);
  const columnFamily = other.columnFamily('default');
  const put = [{ type: 'put', key: 'k', value: 'v' }];
  const isAbsent = { type: 'isAbsent', key: 'k' };
  const wrongTypes = [
    () => db.putIfAbsentSync('k'),
    () => db.putIfAbsentSync(5, 'v'),
    () => db.compareAndSetSync('k', undefined, 'v'),
    () => db.compareAndSetSync('k', 'v'),
    () => db.compareAndSetSync(null, 'v', 'w'),
    () => db.compareAndDeleteSync('k'),
    () => db.compareAndDeleteSync({}, 'v'),
    () => db.writeIfSync(put),
    () => db.writeIfSync(put, null),
    () => db.writeIfSync(put, 'isAbsent'),
    () => db.writeIfSync(5, [isAbsent]),
    () => db.writeIfSync(put, [{ type: 'isAbsent' }]),
    () => db.writeIfSync(put, [{ type: 'hasValue', key: 'k' }]),
    () => db.writeIfSync(put, [{ type: 'isPresent', key: 'k' }]),
    () => db.writeIfSync(put, [null]),
    () => db.writeIfSync(put, [{ ...isAbsent, columnFamily: 5 }]),
  ];
  for (const call of wrongTypes) assert.throws(call, TypeError, String(call));
  await assert.rejects(db.compareAndSet('k', 'v'), TypeError);
  await assert.rejects(db.writeIf(put, [{ type: 'hasValue', key: 'k' }]), TypeError);
  await assert.rejects(db.putIfAbsent('k', 'v', { Sync: true }), invalid);
  await assert.rejects(db.writeIf(put, [isAbsent], { columnFamily: 'default' }), invalid);
  await assert.rejects(db.putIfAbsent('k'.repeat(70_000), 'v'), invalid);
  await assert.rejects(db.putIfAbsent('k', 'v', { columnFamily: 'none' }), invalid);
  await assert.rejects(db.putIfAbsent('k', 'v', { columnFamily }), invalid);
  await assert.rejects(db.writeIf(put, [{ ...isAbsent, columnFamily }]), invalid);
  await assert.rejects(db.writeIf(put, [{ ...isAbsent, columnFamily: 'none' }]), invalid);
  await assert.rejects(db.putIfAbsent('k', 'v', { sync: true, disableWAL: true }), invalid);
  assert.deepEqual(db.keys().allSync(), []);
  await db.close();
  await assert.rejects(db.writeIf(put, [isAbsent]), ClosedError);
  assert.throws(() => db.compareAndSetSync('k', 'v', 'w'), ClosedError);
  const reader = await Database.open(db.path, { readOnly: true });
  await assert.rejects(reader.putIfAbsent('k', 'v'), hasCode('CAMBIUM_NOT_SUPPORTED'));
  await reader.close();
});
