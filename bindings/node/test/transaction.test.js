'use strict';

const assert = require('node:assert/strict');
const { execFileSync } = require('node:child_process');
const { join } = require('node:path');
const { test } = require('node:test');
const { BusyError, ClosedError, Database, IndexedBatch, Transaction, WriteBatch } = require('cambium');
const { directory, hasCode, openDatabase, texts } = require('./helpers');

const utf8 = { encoding: 'utf8' };
const text = { keyEncoding: 'utf8', valueEncoding: 'utf8' };

test('a commit writes everything, and a rollback nothing', async (t) => {
  const db = await openDatabase(t);
  const first = db.transaction({ sync: true });
  await first.put('a', '1');
  await first.put('b', '1');
  await first.delete('b');
  assert.equal(await first.get('a', utf8), '1');
  assert.equal(await first.get('b'), undefined);
  assert.equal(await db.get('a'), undefined);
  const { id, keys, puts, deletes, elapsed, hasLostLocks } = first.info;
  assert.ok(id > 0n && elapsed < 1_000_000 && !hasLostLocks);
  assert.deepEqual([keys, puts, deletes], [2, 2, 1]);
  assert.equal(first.database, db);
  assert.ok(first.isOpen);
  await first.commit();
  assert.ok(!first.isOpen);
  assert.equal(await db.get('a', utf8), '1');

  const second = db.transaction();
  second.putSync('a', '2');
  assert.deepEqual(second.getSync('a'), Buffer.from('2'));
  second.deleteSync('a');
  assert.equal(second.getSync('a', utf8), undefined);
  second.rollback();
  second.rollback();
  assert.equal(db.getSync('a').toString(), '1');
  const third = db.transaction();
  third.putSync('a', '3');
  third.commitSync();
  assert.equal(db.getSync('a').toString(), '3');
});

test('of two transactions that write one key, one commits', async (t) => {
  const db = await openDatabase(t);
  const [first, second] = [db.transaction(), db.transaction()];
  assert.equal(await first.getForUpdate('a'), undefined);
  await first.put('a', '1');
  await second.put('a', '2');
  await first.commit();
  await assert.rejects(second.commit(), hasCode('CAMBIUM_BUSY'));
  assert.throws(() => second.commitSync(), BusyError);
  assert.ok(second.isOpen);
  second.rollback();
  assert.equal(await db.get('a', utf8), '1');

  // What was only read for update, and what was given back.
  for (const undoes of [false, true]) {
    const transaction = db.transaction();
    assert.equal(transaction.getForUpdateSync('a', { ...utf8, shared: true }), undoes ? 'others' : '1');
    if (undoes) transaction.undoGetForUpdate('a');
    db.putSync('a', 'others');
    transaction.putSync('b', '1');
    if (undoes) transaction.commitSync();
    else assert.throws(() => transaction.commitSync(), BusyError);
    transaction.rollback();
  }
});

test('after its end a transaction is closed', async (t) => {
  const db = await openDatabase(t);
  const transaction = db.transaction();
  const iterator = transaction.iterator();
  await transaction.commit();
  const calls = ['commit', 'prepare', 'get', 'put', 'delete', 'getForUpdate'];
  for (const call of calls) {
    await assert.rejects(transaction[call]('a', call === 'put' ? 'b' : {}), hasCode('CAMBIUM_CLOSED'), call);
  }
  const synchronous = [...calls.map((call) => `${call}Sync`), 'setSavePoint', 'rollbackToSavePoint', 'popSavePoint',
    'setSnapshot', 'clearSnapshot', 'undoGetForUpdate', 'iterator', 'keys', 'values'];
  for (const call of synchronous) {
    const argument = call.endsWith('s') || call === 'iterator' ? {} : 'a';
    assert.throws(() => transaction[call](argument, call === 'putSync' ? 'b' : {}), ClosedError, call);
  }
  assert.throws(() => transaction.info, ClosedError);
  assert.throws(() => transaction.name, ClosedError);
  assert.throws(() => transaction.snapshotSequenceNumber, ClosedError);
  assert.throws(() => transaction.writeSync(new WriteBatch()), ClosedError);
  await assert.rejects(iterator.next(), ClosedError);
  transaction.rollback();
  assert.throws(() => new Transaction(), TypeError);
  assert.throws(() => new IndexedBatch(), TypeError);
});

test('closing the database ends its transactions', async (t) => {
  const path = join(directory(t), 'db');
  const db = await Database.open(path, { createIfMissing: true });
  const transaction = db.transaction();
  const batch = db.indexedBatch();
  await transaction.put('a', '1');
  const iterator = transaction.iterator();
  const writing = transaction.put('b', '1'); // has not begun, or runs
  const closing = db.close();
  await writing.catch((error) => assert.ok(error instanceof ClosedError));
  await closing;
  assert.ok(!transaction.isOpen && !batch.isOpen);
  await assert.rejects(transaction.commit(), ClosedError);
  await assert.rejects(iterator.next(), ClosedError);
  assert.throws(() => batch.putSync('a', '1'), ClosedError);
  assert.throws(() => db.transaction(), ClosedError);
  transaction.rollback();
  batch.close();
  const again = await Database.open(path, { readOnly: true });
  assert.equal(again.getSync('a'), undefined);
  assert.throws(() => again.transaction(), hasCode('CAMBIUM_NOT_SUPPORTED'));
  again.closeSync();
});

test('calls of one transaction wait for each other, or are refused', async (t) => {
  const db = await openDatabase(t);
  const transaction = db.transaction();
  const key = Buffer.from('a');
  const calls = [transaction.put(key, '1'), transaction.put('b', '2'), transaction.get('a', utf8)];
  key[0] = 0; // it was copied
  await assert.rejects(transaction.get(1), TypeError);
  assert.deepEqual(await Promise.all(calls), [undefined, undefined, '1']);
  const failed = transaction.get('a', { columnFamily: 'none' });
  const after = transaction.get('b', utf8);
  await assert.rejects(failed, hasCode('CAMBIUM_INVALID_ARGUMENT'));
  assert.equal(await after, '2');
  // A synchronous call, and one of an iterator, meet a call on another thread.
  const committing = transaction.commit();
  await Promise.resolve();
  let refused;
  try {
    transaction.putSync('c', '3');
  } catch (error) {
    refused = error;
  }
  await committing;
  assert.ok(refused instanceof BusyError || refused instanceof ClosedError, String(refused));
  assert.equal(await db.get('a', utf8), '1');
  // A rollback takes effect when the running call has ended.
  const other = db.transaction();
  const running = other.put('a', '2');
  await Promise.resolve();
  other.rollback();
  await running.catch((error) => assert.ok(error instanceof ClosedError));
  assert.ok(!other.isOpen);
  assert.equal(await db.get('a', utf8), '1');
});

test('snapshots and save points', async (t) => {
  const db = await openDatabase(t);
  const transaction = db.transaction();
  const begun = transaction.snapshotSequenceNumber;
  await db.put('a', '1');
  assert.equal(await transaction.get('a'), undefined);
  transaction.setSnapshot();
  assert.ok(transaction.snapshotSequenceNumber > begun);
  assert.equal(await transaction.get('a', utf8), '1');
  transaction.setSavePoint();
  await transaction.put('b', '1');
  transaction.setSavePoint();
  await transaction.delete('a');
  transaction.rollbackToSavePoint();
  assert.equal(await transaction.get('a', utf8), '1');
  transaction.popSavePoint();
  assert.throws(() => transaction.popSavePoint(), hasCode('CAMBIUM_NOT_FOUND'));
  assert.throws(() => transaction.rollbackToSavePoint(), hasCode('CAMBIUM_NOT_FOUND'));
  transaction.clearSnapshot();
  assert.equal(transaction.snapshotSequenceNumber, undefined);
  await db.put('a', '2');
  assert.equal(await transaction.get('a', utf8), '2');
  await transaction.commit();
  assert.equal(await db.get('b', utf8), '1');
  const newest = db.transaction({ readNewest: true });
  const without = db.transaction({ snapshot: false });
  await db.put('a', '3');
  assert.equal(await newest.get('a', utf8), '3');
  assert.equal(without.snapshotSequenceNumber, undefined);
});

test('column families, batches and iterators', async (t) => {
  const db = await openDatabase(t);
  const other = await openDatabase(t);
  const x = await db.createColumnFamily('x');
  for (const key of ['a', 'c', 'e']) await db.put(key, '1');
  const transaction = db.transaction();
  await transaction.put('a', 'in x', { columnFamily: x });
  await transaction.put('b', '2');
  await transaction.delete('c');
  assert.equal(await transaction.get('a', { ...utf8, columnFamily: 'x' }), 'in x');
  assert.equal(await transaction.getForUpdate('a', { ...utf8, columnFamily: x }), 'in x');
  const batch = new WriteBatch().put('d', '3', { columnFamily: x });
  await transaction.write(batch);
  transaction.writeSync(batch);
  await transaction.put('y1', '1');
  transaction.writeSync(new WriteBatch().deleteRange('y', 'z'));
  assert.equal(await transaction.get('y1'), undefined);
  assert.deepEqual(await transaction.iterator(text).all(), [['a', '1'], ['b', '2'], ['e', '1']]);
  assert.deepEqual(transaction.keys({ keyEncoding: 'utf8', reverse: true }).allSync(), ['e', 'b', 'a']);
  assert.deepEqual(transaction.values({ valueEncoding: 'utf8', gt: 'a', lte: 'b' }).allSync(), ['2']);
  assert.deepEqual(texts(transaction.iterator({ columnFamily: 'x' }).allSync()), [['a', 'in x'], ['d', '3']]);
  assert.throws(() => transaction.iterator({ columnFamily: 'none' }), hasCode('CAMBIUM_INVALID_ARGUMENT'));
  const stranger = other.columnFamily('default');
  await assert.rejects(transaction.put('a', '1', { columnFamily: stranger }), hasCode('CAMBIUM_INVALID_ARGUMENT'));
  assert.throws(() => transaction.iterator({ columnFamily: stranger }), hasCode('CAMBIUM_INVALID_ARGUMENT'));
  // The entry after a chunk, for which there was no room, is gone when it is wanted.
  transaction.putSync('f', Buffer.alloc(3000));
  transaction.setSavePoint();
  transaction.putSync('g', Buffer.alloc(3000));
  const chunks = transaction.iterator({ keyEncoding: 'utf8', valueEncoding: 'utf8', gte: 'f' });
  assert.equal(chunks.nextChunkSync(5).length, 1);
  transaction.rollbackToSavePoint();
  transaction.putSync('h', '1');
  assert.deepEqual(chunks.nextChunkSync(5), [['h', '1']]);
  const left = transaction.iterator();
  left.nextSync();
  await transaction.commit();
  assert.throws(() => left.nextChunkSync(), ClosedError);
  assert.equal(await db.get('d', { ...utf8, columnFamily: x }), '3');
});

test('an order that is not that of bytes', async (t) => {
  const db = await openDatabase(t, { comparator: 'reverse-bytewise' });
  await db.put('a', '1');
  const transaction = db.transaction();
  await transaction.put('b', '2');
  await transaction.put('c', '3');
  assert.deepEqual(await transaction.keys({ keyEncoding: 'utf8' }).all(), ['c', 'b', 'a']);
  assert.deepEqual(await transaction.keys({ keyEncoding: 'utf8', gt: 'c', lte: 'b' }).all(), ['b']);
  transaction.rollback();
});

test('a comparator in JavaScript', async (t) => {
  const compare = (a, b) => Buffer.compare(b, a);
  const db = await openDatabase(t, { comparator: { name: 'test.Backward', compare } });
  await db.put('a', '1');
  await db.transact(async (transaction) => {
    await transaction.put('b', '2');
    assert.equal(await transaction.getForUpdate('a', utf8), '1');
    assert.deepEqual(await transaction.keys({ keyEncoding: 'utf8' }).all(), ['b', 'a']);
    assert.throws(() => transaction.putSync('c', '3'), hasCode('CAMBIUM_NOT_SUPPORTED'));
  });
  assert.equal(await db.get('b', utf8), '2');
});

async function addOne(transaction) {
  const count = Number((await transaction.getForUpdate('counter', utf8)) ?? 0) + 1;
  await transaction.put('counter', String(count));
  return count;
}

test('transact counts', async (t) => {
  for (const options of [{}, { transactionLocks: true }]) {
    const db = await openDatabase(t, options);
    await Promise.all(Array.from({ length: 3 }, () => db.transact(addOne, { attempts: 1000, deadlockDetect: true })));
    assert.equal(await db.get('counter', utf8), '3');
    const count = db.transactSync((transaction) => {
      const next = Number(transaction.getForUpdateSync('counter', utf8)) + 1;
      transaction.putSync('counter', String(next));
      return next;
    });
    assert.equal(count, 4);
    assert.equal(db.getSync('counter').toString(), '4');
  }
});

test('transact gives up after its attempts, and at once after another error', async (t) => {
  const db = await openDatabase(t);
  let calls = 0;
  const conflict = (transaction) => {
    ++calls;
    transaction.putSync('a', '1');
    db.putSync('a', 'others');
  };
  await assert.rejects(db.transact(conflict, { attempts: 3 }), BusyError);
  assert.throws(() => db.transactSync(conflict, { attempts: 2 }), BusyError);
  assert.equal(calls, 5);
  const fails = async (transaction) => {
    ++calls;
    await transaction.put('a', '2');
    throw new RangeError('mine');
  };
  await assert.rejects(db.transact(fails), RangeError);
  assert.equal(calls, 6);
  assert.throws(() => db.transactSync(async () => {}), TypeError);
  assert.equal(await db.get('a', utf8), 'others');
});

test('locks', async (t) => {
  const locks = { lockTimeout: 60_000, writeLockTimeout: 1, stripes: 4, maxLocks: Infinity };
  const db = await openDatabase(t, { transactionLocks: locks });
  const first = db.transaction();
  first.name = 'first';
  assert.equal(first.name, 'first');
  await first.put('a', '1');
  const second = db.transaction({ lockTimeout: 1 });
  assert.throws(() => {
    second.name = 'first';
  }, hasCode('CAMBIUM_INVALID_ARGUMENT'));
  await assert.rejects(second.put('a', '2'), (error) => error.code.match(/TIME/) !== null);
  await assert.rejects(db.put('a', '2'), (error) => error.code.match(/TIME/) !== null);
  await assert.rejects(db.deleteRange('a', 'b'), (error) => error.code.match(/TIME/) !== null);
  // A call that waits for the lock goes on when it is free.
  const patient = db.transaction({ lockTimeout: Infinity });
  const waiting = patient.put('a', '3');
  await first.commit();
  await waiting;
  await patient.commit();
  assert.equal(await db.get('a', utf8), '3');
  second.rollback();

  const limited = db.transaction({ maxWriteBatchSize: 100 });
  await assert.rejects(limited.put('large', Buffer.alloc(200)), hasCode('CAMBIUM_ABORTED'));
  limited.rollback();
  const expired = db.transaction({ expiration: 1 });
  await new Promise((resolve) => setTimeout(resolve, 10));
  await assert.rejects(expired.commit(), hasCode('CAMBIUM_EXPIRED'));
  expired.rollback();
});

const noWait = { createIfMissing: true, transactionLocks: { lockTimeout: 1, writeLockTimeout: 1 } };

function named(db, name, options) {
  const transaction = db.transaction(options);
  transaction.name = name;
  transaction.putSync(name, '1');
  return transaction;
}

function names(transactions) {
  return transactions.map((transaction) => transaction.name);
}

test('a prepared transaction can only be read, committed or rolled back', async (t) => {
  const db = await openDatabase(t, noWait);
  const first = named(db, 'a', { sync: true });
  assert.ok(!first.info.isPrepared);
  await first.prepare();
  assert.ok(first.info.isPrepared && first.isOpen);
  assert.equal(await first.get('a', utf8), '1');
  assert.deepEqual(await first.iterator(text).all(), [['a', '1']]);
  assert.equal(await db.get('a'), undefined);
  const isWrong = hasCode('CAMBIUM_INVALID_ARGUMENT', 'prepared');
  await assert.rejects(first.prepare(), isWrong);
  await assert.rejects(first.put('b', '1'), isWrong);
  await assert.rejects(first.delete('a'), isWrong);
  await assert.rejects(first.getForUpdate('b'), isWrong);
  assert.throws(() => first.rollbackToSavePoint(), isWrong);
  await assert.rejects(db.put('a', 'others'), hasCode('CAMBIUM_LOCK_TIMEOUT'));
  assert.deepEqual(db.preparedTransactions(), []); // it has its object
  const iterator = first.iterator();
  await first.commit();
  await assert.rejects(iterator.next(), ClosedError);
  assert.equal(await db.get('a', utf8), '1');

  const second = named(db, 'a');
  second.prepareSync();
  await second.rollback();
  assert.ok(!second.isOpen);
  await second.rollback();
  await db.put('a', 'others');
  // A rollback waits for a call that has not ended.
  const third = named(db, 'b');
  third.prepare();
  await third.rollback();
  db.putSync('b', 'others');
  const fourth = named(db, 'b');
  fourth.prepareSync();
  fourth.rollbackSync();
  fourth.rollbackSync();
  db.putSync('b', 'others');
});

test('what cannot be prepared', async (t) => {
  const optimistic = await openDatabase(t);
  await assert.rejects(optimistic.transaction().prepare(), hasCode('CAMBIUM_INVALID_ARGUMENT', 'optimistic'));
  assert.throws(() => optimistic.preparedTransactions(), hasCode('CAMBIUM_NOT_SUPPORTED'));
  const db = await openDatabase(t, noWait);
  const unnamed = db.transaction();
  assert.throws(() => unnamed.prepareSync(), hasCode('CAMBIUM_INVALID_ARGUMENT', 'name'));
  await unnamed.rollback();
  assert.ok(!unnamed.isOpen);
  const both = named(db, 'a', { skipPrepare: false });
  await assert.rejects(both.commit(), hasCode('CAMBIUM_INVALID_ARGUMENT', 'skip_prepare'));
  await both.prepare();
  await both.commit();
  assert.equal(await db.get('a', utf8), '1');
});

test('every open finds what is prepared', async (t) => {
  const path = join(directory(t), 'db');
  let db = await Database.open(path, noWait);
  const left = ['c', 'a', 'b'].map((name) => named(db, name));
  for (const transaction of left) await transaction.prepare();
  await db.close();
  assert.ok(!left[0].isOpen);
  await left[0].rollback(); // does nothing: it has ended with its database
  left[1].rollbackSync();
  db = await Database.open(path, noWait);
  assert.deepEqual(names(db.preparedTransactions()), ['a', 'b', 'c']);
  assert.deepEqual(db.preparedTransactions(), []); // each once
  db.closeSync();

  db = await Database.open(path, noWait);
  await assert.rejects(db.put('a', 'others'), hasCode('CAMBIUM_LOCK_TIMEOUT'));
  const [a, b, c] = db.preparedTransactions();
  const { keys, puts, deletes, isPrepared } = a.info;
  assert.deepEqual([a.name, a.database, keys, puts, deletes, isPrepared], ['a', db, 1, 1, 0, true]);
  assert.equal(await a.get('a', utf8), '1');
  assert.equal(await db.get('a'), undefined);
  await a.commit();
  await b.rollback();
  assert.equal(await db.get('a', utf8), '1');
  await db.put('b', 'others');
  if (Symbol.dispose) c[Symbol.dispose](); // remains prepared
  await db.close();
  db = await Database.open(path, noWait);
  const found = db.preparedTransactions();
  assert.deepEqual(names(found), ['c']);
  found[0].rollbackSync();
  await db.close();
  assert.throws(() => db.preparedTransactions(), ClosedError);
  db = await Database.open(path, noWait);
  assert.deepEqual(db.preparedTransactions(), []);
  await db.close();
});

test('transact rolls a prepared transaction back', async (t) => {
  const path = join(directory(t), 'db');
  let db = await Database.open(path, noWait);
  const prepare = (transaction) => {
    transaction.name = 't';
    transaction.putSync('a', '1');
    transaction.prepareSync();
  };
  const fails = (transaction) => {
    prepare(transaction);
    throw new RangeError('mine');
  };
  await db.transact(prepare);
  db.transactSync(prepare);
  assert.equal(await db.get('a', utf8), '1');
  await assert.rejects(db.transact(fails), RangeError);
  assert.throws(() => db.transactSync(fails), RangeError);
  await db.put('a', 'others');
  await db.close();
  db = await Database.open(path, noWait);
  assert.deepEqual(db.preparedTransactions(), []);
  await db.close();
});

test('a prepared transaction remains after a commit that fails', async (t) => {
  const path = join(directory(t), 'db');
  let db = await Database.open(path, noWait);
  const x = await db.createColumnFamily('x');
  const drops = async (transaction) => {
    transaction.name = 't';
    await transaction.put('a', '1', { columnFamily: x });
    await transaction.prepare();
    await db.dropColumnFamily(x);
  };
  await assert.rejects(db.transact(drops), hasCode('CAMBIUM_COLUMN_FAMILY_DROPPED'));
  await db.close();
  db = await Database.open(path, noWait);
  const [found] = db.preparedTransactions();
  await assert.rejects(found.commit(), hasCode('CAMBIUM_INVALID_ARGUMENT'));
  assert.ok(found.info.isPrepared);
  await found.rollback();
  await db.close();
  db = await Database.open(path, noWait);
  assert.deepEqual(db.preparedTransactions(), []);
  await db.close();
});

// What takes the room for the rollback away is a limit of the size of files.
test('a rollback that fails leaves the transaction prepared', async (t) => {
  const path = join(directory(t), 'db');
  const code = `
    const assert = require('node:assert/strict');
    const { execFileSync } = require('node:child_process');
    const { Database } = require('cambium');
    process.on('SIGXFSZ', () => {});
    (async () => {
      const db = await Database.open(${JSON.stringify(path)}, ${JSON.stringify(noWait)});
      const mine = new RangeError('mine');
      await assert.rejects(db.transact(async (transaction) => {
        transaction.name = 't';
        await transaction.put('a', '1');
        await transaction.prepare();
        execFileSync('prlimit', ['--pid', String(process.pid), '--fsize=0:unlimited']);
        throw mine;
      }), (error) => error.code.startsWith('CAMBIUM_') && error.cause === mine);
      process.exit(0);
    })().catch((error) => {
      console.error(error);
      process.exit(1);
    });`;
  try {
    execFileSync('prlimit', ['--version']);
  } catch {
    t.skip('prlimit is not installed');
    return;
  }
  execFileSync(process.execPath, ['-e', code], { cwd: join(__dirname, '..'), timeout: 60_000 });
  const db = await Database.open(path, noWait);
  assert.deepEqual(names(db.preparedTransactions()), ['t']);
  await db.close();
});

test('numbers in options are checked', async (t) => {
  const db = await openDatabase(t, { transactionLocks: true });
  const wrong = [-1, NaN, -Infinity, 1e300, 2 ** 53];
  for (const number of [...wrong, Infinity, 0.5]) {
    assert.throws(() => db.transaction({ maxWriteBatchSize: number }), hasCode('CAMBIUM_INVALID_ARGUMENT'));
    assert.throws(() => db.indexedBatch({ maxBytes: number }), hasCode('CAMBIUM_INVALID_ARGUMENT'));
  }
  for (const number of wrong) {
    for (const name of ['lockTimeout', 'expiration']) {
      const text = `${name} is ${number};`;
      assert.throws(() => db.transaction({ [name]: number }), hasCode('CAMBIUM_INVALID_ARGUMENT', text));
    }
  }
  for (const name of ['lockTimeout', 'expiration', 'maxWriteBatchSize']) {
    assert.throws(() => db.transaction({ [name]: '5' }), TypeError);
  }
  assert.throws(() => db.indexedBatch({ maxBytes: 5n }), TypeError);
  // The largest ones, and parts of a millisecond.
  const large = db.transaction({ lockTimeout: 2 ** 53 - 1, expiration: Infinity, maxWriteBatchSize: 2 ** 53 - 1 });
  await large.put('a', '1');
  await assert.rejects(db.transaction({ lockTimeout: 0.5 }).put('a', '2'), hasCode('CAMBIUM_LOCK_TIMEOUT', ' 1 ms'));
  await large.commit();
  const late = db.transaction({ expiration: 2 ** 53 - 1, maxWriteBatchSize: 0 });
  await late.put('a', '3');
  await late.commit();
  const batch = db.indexedBatch({ maxBytes: 2 ** 53 - 1 });
  await batch.put('a', '4');
  await batch.write();
  assert.equal(await db.get('a', utf8), '4');
});

test('options that a call does not have are errors', async (t) => {
  const db = await openDatabase(t);
  const isUnknown = hasCode('CAMBIUM_INVALID_ARGUMENT', 'there is no option ');
  assert.throws(() => db.transaction({ snapshots: true }), isUnknown);
  assert.throws(() => db.transaction({ attempts: 3 }), isUnknown);
  assert.throws(() => db.indexedBatch({ maxSize: 5 }), isUnknown);
  await assert.rejects(db.transact(() => {}, { attempts: 1, sink: true }), isUnknown);
  assert.throws(() => db.transactSync(() => {}, { attempts: 1, sink: true }), isUnknown);
  await assert.rejects(Database.open('none', { transactionLocks: { maxLock: 5 } }), isUnknown);

  const transaction = db.transaction({ sync: true, noSlowdown: false, disableWAL: false, snapshot: true,
    readNewest: false, deadlockDetect: true, lockTimeout: 5, expiration: 60_000, maxWriteBatchSize: 1000,
    skipPrepare: false });
  const batch = db.indexedBatch();
  const wrong = { columnFamilies: 'default' };
  const calls = [['get', 'a'], ['getForUpdate', 'a'], ['getFromBatch', 'a'], ['put', 'a', '1'], ['delete', 'a'],
    ['deleteRange', 'a', 'b']];
  for (const overlay of [transaction, batch]) {
    for (const [name, ...its] of calls.filter(([each]) => overlay[each] !== undefined)) {
      await assert.rejects(overlay[name](...its, wrong), isUnknown, name);
      assert.throws(() => overlay[`${name}Sync`](...its, wrong), isUnknown, name);
    }
    await assert.rejects(overlay.get('a', { shared: true }), isUnknown);
    await assert.rejects(overlay.put('a', '1', { sync: true }), isUnknown);
    assert.throws(() => overlay.iterator({ limits: 1 }), isUnknown);
  }
  assert.throws(() => transaction.undoGetForUpdate('a', wrong), isUnknown);
  await assert.rejects(batch.write({ columnFamily: 'default' }), isUnknown);
  assert.throws(() => batch.writeSync({ signal: undefined }), isUnknown);
  const right = { columnFamily: 'default', encoding: 'utf8', shared: true };
  assert.equal(await transaction.getForUpdate('a', right), undefined);
  assert.equal(batch.length, 0);
  await transaction.commit();
  batch.close();
});

test('a synchronous call does not overtake a promise that has not begun', async (t) => {
  const db = await openDatabase(t);
  const transaction = db.transaction();
  const iterator = transaction.iterator();
  const putting = transaction.put('k', '1');
  const isBusy = hasCode('CAMBIUM_BUSY', 'a call that returned a promise has not ended');
  assert.throws(() => transaction.commitSync(), isBusy);
  assert.throws(() => transaction.prepareSync(), isBusy);
  const overtake = (overlay, calls) => {
    for (const [name, ...its] of calls) assert.throws(() => overlay[name](...its), BusyError, name);
  };
  const ofBoth = [['getSync', 'k'], ['putSync', 'k', '2'], ['deleteSync', 'k'], ['setSavePoint'],
    ['rollbackToSavePoint'], ['popSavePoint'], ['iterator'], ['keys'], ['values']];
  overtake(transaction, [...ofBoth, ['getForUpdateSync', 'k'], ['undoGetForUpdate', 'k'],
    ['writeSync', new WriteBatch()], ['setSnapshot'], ['clearSnapshot']]);
  for (const name of ['name', 'info', 'snapshotSequenceNumber']) assert.throws(() => transaction[name], BusyError);
  assert.throws(() => {
    transaction.name = 'name';
  }, BusyError);
  overtake(iterator, [['nextChunkSync']]);
  await putting;
  const [first, last] = [transaction.get('k'), transaction.get('k', utf8)];
  await first;
  assert.throws(() => transaction.commitSync(), BusyError); // the last one has not ended
  assert.equal(await last, '1');
  transaction.commitSync();
  assert.equal(db.getSync('k', utf8), '1');

  const batch = db.indexedBatch();
  const changing = batch.put('k', '2');
  overtake(batch, [...ofBoth, ['getFromBatchSync', 'k'], ['deleteRangeSync', 'a', 'b'], ['writeSync'], ['clear']]);
  assert.throws(() => batch.length, BusyError);
  await changing;
  assert.equal(batch.length, 1);
  // A call that fails is not counted any more.
  const stranger = await openDatabase(t);
  const refused = batch.put('k', '3', { columnFamily: stranger.columnFamily('default') });
  assert.throws(() => batch.writeSync(), BusyError);
  await assert.rejects(refused, hasCode('CAMBIUM_INVALID_ARGUMENT'));
  batch.writeSync();
  assert.equal(db.getSync('k', utf8), '2');
  // After the end it is the end that counts.
  const late = batch.put('k', '4');
  batch.close();
  assert.throws(() => batch.writeSync(), ClosedError);
  await assert.rejects(late, ClosedError);
});

test('deadlocks are detected', async (t) => {
  const db = await openDatabase(t, { transactionLocks: true });
  const [first, second] = [1, 2].map(() => db.transaction({ deadlockDetect: true, lockTimeout: Infinity }));
  await first.put('a', '1');
  await second.put('b', '1');
  const want = (transaction, key) =>
    transaction.put(key, '2').catch((error) => {
      transaction.rollback();
      return error;
    });
  const results = await Promise.all([want(first, 'b'), want(second, 'a')]);
  assert.deepEqual(results.map((each) => each instanceof BusyError).sort(), [false, true]);
});

test('databases with locks have column families', async (t) => {
  const path = join(directory(t), 'db');
  const db = Database.openSync(path, { createIfMissing: true, transactionLocks: { maxLocks: 1 } });
  const x = db.createColumnFamilySync('x');
  db.transactSync((transaction) => {
    transaction.putSync('a', '1', { columnFamily: x });
    assert.throws(() => transaction.putSync('b', '1', { columnFamily: x }), BusyError);
  });
  db.closeSync();
  const again = await Database.open(path, { columnFamilies: ['x'], transactionLocks: {} });
  assert.equal(await again.get('a', { ...utf8, columnFamily: 'x' }), '1');
  const second = Database.open(path, { columnFamilies: ['x'], transactionLocks: true });
  await assert.rejects(second, hasCode('CAMBIUM_LOCKED'));
  await again.close();
  await assert.rejects(Database.open(path, { transactionLocks: { lockTimeout: 'long' } }), TypeError);
  for (const wrong of [{ stripes: -1 }, { stripes: Infinity }, { stripes: 1e300 }, { maxLocks: 1e300 },
    { maxLocks: 0.5 }, { lockTimeout: -1 }, { lockTimeout: 1e300 }, { writeLockTimeout: NaN }]) {
    await assert.rejects(Database.open(path, { transactionLocks: wrong }), hasCode('CAMBIUM_INVALID_ARGUMENT'));
  }
  await assert.rejects(Database.open(path, { transactionLocks: true, readOnly: true }),
    hasCode('CAMBIUM_INVALID_ARGUMENT'));
});

test('an indexed batch is read before it is written', async (t) => {
  const db = await openDatabase(t);
  const x = await db.createColumnFamily('x');
  await db.put('a', 'old');
  await db.put('b', 'old');
  const batch = db.indexedBatch();
  await batch.put('a', 'new');
  batch.putSync('a', 'in x', { columnFamily: x });
  assert.equal(await batch.get('a', utf8), 'new');
  assert.equal(batch.getSync('b', utf8), 'old');
  assert.equal(await batch.getFromBatch('a', utf8), 'new');
  assert.equal(batch.getFromBatchSync('b'), undefined);
  assert.deepEqual(await batch.iterator(text).all(), [['a', 'new'], ['b', 'old']]);
  assert.equal(batch.length, 2);
  batch.setSavePoint();
  await batch.delete('a');
  await batch.deleteRange('a', 'z', { columnFamily: x });
  batch.deleteRangeSync('a', 'z', { columnFamily: x });
  assert.equal(await batch.get('a', { columnFamily: x }), undefined);
  batch.rollbackToSavePoint();
  assert.throws(() => batch.popSavePoint(), hasCode('CAMBIUM_NOT_FOUND'));
  await batch.write({ sync: true });
  assert.equal(await db.get('a', { ...utf8, columnFamily: x }), 'in x');
  batch.clear();
  assert.equal(batch.length, 0);
  batch.writeSync();
  batch.putSync('long'.repeat(20_000), '');
  assert.throws(() => batch.writeSync(), hasCode('CAMBIUM_INVALID_ARGUMENT'));
  await assert.rejects(batch.get('a'), hasCode('CAMBIUM_INVALID_ARGUMENT'));
  batch.close();
  batch.close();
  await assert.rejects(batch.write(), ClosedError);
  assert.throws(() => batch.length, ClosedError);
  const small = db.indexedBatch({ maxBytes: 10 });
  small.putSync('a', Buffer.alloc(100));
  assert.throws(() => small.writeSync(), hasCode('CAMBIUM_ABORTED'));
  small.close();
});
