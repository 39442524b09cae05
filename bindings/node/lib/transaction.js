'use strict';

const { WriteBatch } = require('./batch');
const { binding } = require('./binding');
const { ColumnFamily, familyOf } = require('./column_family');
const { BusyError } = require('./errors');
const { checkNames, isText, writeFlags } = require('./flags');
const { EntryIterator } = require('./iterator');
const { toCount, toMilliseconds } = require('./numbers');
const { toBytes } = require('./range');

const none = Object.freeze({});
const internal = Symbol('internal');

// How a read uses its key, as in src/overlay.cc.
const ONLY_READ = 0;
const SHARED = 1;
const EXCLUSIVE = 2;
const ONLY_BATCH = 3;

// What transactions and indexed batches have in common.
class Overlay {
  #native;
  #database; // also keeps the database from being collected
  #nativeDatabase;
  #tail = Promise.resolve(); // the last promise that was returned
  #queued = 0; // calls that returned a promise and have not ended, also those that have not begun

  constructor(token, database, nativeDatabase, native) {
    if (token !== internal) throw new TypeError('call transaction() or indexedBatch() of a database');
    this.#database = database;
    this.#nativeDatabase = nativeDatabase;
    this.#native = native;
  }

  get database() {
    return this.#database;
  }

  get isOpen() {
    return binding.overlayIsOpen(this.#native);
  }

  // The addon's object.
  get _native() {
    return this.#native;
  }

  // Starts a call when the ones before it have ended: the library allows one at a time.
  _queue(start) {
    ++this.#queued;
    const call = this.#tail.then(async () => {
      try {
        return await start();
      } finally {
        --this.#queued;
      }
    });
    this.#tail = call.catch(() => {});
    return call;
  }

  // The addon's object for a call at once, which must not overtake a call that has not begun yet. After the end the
  // addon throws.
  _idle() {
    if (this.#queued > 0 && this.isOpen) {
      throw new BusyError('Resource busy: a call that returned a promise has not ended');
    }
    return this.#native;
  }

  // The addon's family for a write of one key or range.
  _familyOf(options) {
    checkNames(options, 'overlayPut');
    return familyOf(this.#database, options.columnFamily);
  }

  // The arguments of the addon's overlayGet after the key's.
  #toGet(options, use) {
    checkNames(options, use === SHARED || use === EXCLUSIVE ? 'overlayGetForUpdate' : 'overlayGet');
    return { family: familyOf(this.#database, options.columnFamily), text: isText(options.encoding) };
  }

  async _get(key, options, use) {
    const bytes = toBytes(key, 'the key');
    const { family, text } = this.#toGet(options, use);
    return this._queue(() => binding.overlayGet(false, this.#native, family, bytes, use, text));
  }

  _getSync(key, options, use) {
    const { family, text } = this.#toGet(options, use);
    return binding.overlayGet(true, this._idle(), family, key, use, text);
  }

  /** The value as if the writes so far had been written, or undefined. */
  async get(key, options = none) {
    return this._get(key, options, ONLY_READ);
  }

  getSync(key, options = none) {
    return this._getSync(key, options, ONLY_READ);
  }

  async put(key, value, options = none) {
    const bytes = toBytes(key, 'the key');
    const its = toBytes(value, 'the value');
    const family = this._familyOf(options);
    return this._queue(() => binding.overlayPut(false, this.#native, family, bytes, its));
  }

  putSync(key, value, options = none) {
    binding.overlayPut(true, this._idle(), this._familyOf(options), key, value);
  }

  async delete(key, options = none) {
    const bytes = toBytes(key, 'the key');
    const family = this._familyOf(options);
    return this._queue(() => binding.overlayDelete(false, this.#native, family, bytes));
  }

  deleteSync(key, options = none) {
    binding.overlayDelete(true, this._idle(), this._familyOf(options), key);
  }

  // ---- Iterators. They read ahead, so they need not show what is written after they were made ----

  iterator(options = none) {
    return this.#iterate('entries', options);
  }

  keys(options = none) {
    return this.#iterate('keys', options);
  }

  values(options = none) {
    return this.#iterate('values', options);
  }

  #iterate(kind, options) {
    const { columnFamily = 'default' } = options;
    const family = ColumnFamily.is(columnFamily) ? columnFamily : this.#database.columnFamily(columnFamily);
    if (family === undefined) familyOf(this.#database, columnFamily); // throws
    return new EntryIterator(this.#database, this.#nativeDatabase, family, kind, options, this);
  }

  // ---- Save points ----

  setSavePoint() {
    binding.overlaySetSavePoint(this._idle());
  }

  rollbackToSavePoint() {
    binding.overlayRollbackToSavePoint(this._idle());
  }

  popSavePoint() {
    binding.overlayPopSavePoint(this._idle());
  }

  // Ends it. A prepared transaction remains prepared.
  _close() {
    binding.closeOverlay(this.#native);
  }
}

/** Reads and writes that take effect together, or not at all. Databases make it. */
class Transaction extends Overlay {
  #mayBePrepared = false;

  static _make(database, nativeDatabase, options = none) {
    const flags = writeFlags(options, 'transaction');
    const { snapshot, readNewest, deadlockDetect, lockTimeout, expiration = Infinity, maxWriteBatchSize = 0,
      skipPrepare = true } = options;
    const native = binding.newTransaction(
      nativeDatabase,
      flags,
      snapshot,
      Boolean(readNewest),
      Boolean(deadlockDetect),
      lockTimeout === undefined ? undefined : toMilliseconds(lockTimeout, 'lockTimeout'),
      toMilliseconds(expiration, 'expiration'),
      toCount(maxWriteBatchSize, 'maxWriteBatchSize'),
      Boolean(skipPrepare),
    );
    return new Transaction(internal, database, nativeDatabase, native);
  }

  // Those that were prepared before the database was opened.
  static _makePrepared(database, nativeDatabase) {
    return binding.preparedTransactions(nativeDatabase).map((native) => {
      const transaction = new Transaction(internal, database, nativeDatabase, native);
      transaction.#mayBePrepared = true;
      return transaction;
    });
  }

  /** Tracks the key, whether it exists or not, and returns its value. */
  async getForUpdate(key, options = none) {
    return this._get(key, options, options.shared ? SHARED : EXCLUSIVE);
  }

  getForUpdateSync(key, options = none) {
    return this._getSync(key, options, options.shared ? SHARED : EXCLUSIVE);
  }

  /** Takes one getForUpdate of a key back, if nothing else tracks it. */
  undoGetForUpdate(key, options = none) {
    binding.undoGetForUpdate(this._idle(), this._familyOf(options), key);
  }

  /** Does the operations of a WriteBatch one by one. */
  async write(batch) {
    const native = WriteBatch.nativeOf(batch);
    return this._queue(() => binding.transactionAddBatch(false, this._native, native));
  }

  writeSync(batch) {
    binding.transactionAddBatch(true, this._idle(), WriteBatch.nativeOf(batch));
  }

  /**
   * The first of two phases, for a transaction with a name: records it in the database. It can then only be read,
   * committed or rolled back, and remains prepared until then, also if the database is closed.
   */
  async prepare() {
    this.#mayBePrepared = true;
    return this._queue(() => binding.transactionPrepare(false, this._native));
  }

  prepareSync() {
    this.#mayBePrepared = true;
    binding.transactionPrepare(true, this._idle());
  }

  /** Writes everything, and ends the transaction. After an error nothing is written, and it has not ended. */
  async commit() {
    return this._queue(() => binding.transactionCommit(false, this._native));
  }

  commitSync() {
    binding.transactionCommit(true, this._idle());
  }

  /**
   * Ends the transaction: at once, or if it is prepared, when that is recorded. After an error it is still prepared. A
   * second call does nothing.
   */
  async rollback() {
    if (!this.#mayBePrepared) return this._close();
    return this._queue(() => (this.isOpen ? binding.transactionRollback(false, this._native) : undefined));
  }

  rollbackSync() {
    if (!this.#mayBePrepared) this._close();
    else if (this.isOpen) binding.transactionRollback(true, this._idle());
  }

  // ---- Snapshots ----

  setSnapshot() {
    binding.setTransactionSnapshot(this._idle(), true);
  }

  clearSnapshot() {
    binding.setTransactionSnapshot(this._idle(), false);
  }

  /** The number of the newest write that the snapshot shows, or undefined. */
  get snapshotSequenceNumber() {
    return binding.transactionSnapshot(this._idle());
  }

  // ---- Names and figures ----

  get name() {
    return binding.transactionName(this._idle());
  }

  set name(name) {
    binding.setTransactionName(this._idle(), name);
  }

  get info() {
    const [id, keys, puts, deletes, elapsed, hasLostLocks, isPrepared] = binding.transactionInfo(this._idle());
    return { id, keys, puts, deletes, elapsed, hasLostLocks, isPrepared };
  }
}

/** A batch that can be read before it is written. Databases make it. */
class IndexedBatch extends Overlay {
  static _make(database, nativeDatabase, options = none) {
    checkNames(options, 'indexedBatch');
    const native = binding.newIndexedBatch(nativeDatabase, toCount(options.maxBytes ?? 0, 'maxBytes'));
    return new IndexedBatch(internal, database, nativeDatabase, native);
  }

  /** The value that the batch alone gives a key, or undefined. */
  async getFromBatch(key, options = none) {
    return this._get(key, options, ONLY_BATCH);
  }

  getFromBatchSync(key, options = none) {
    return this._getSync(key, options, ONLY_BATCH);
  }

  /** Deletes the keys in [start, end). */
  async deleteRange(start, end, options = none) {
    const first = toBytes(start, 'the start');
    const last = toBytes(end, 'the end');
    const family = this._familyOf(options);
    return this._queue(() => binding.overlayDeleteRange(false, this._native, family, first, last));
  }

  deleteRangeSync(start, end, options = none) {
    binding.overlayDeleteRange(true, this._idle(), this._familyOf(options), start, end);
  }

  /** Writes all operations, or none. The batch keeps them. */
  async write(options = none) {
    const flags = writeFlags(options, 'overlayWrite');
    return this._queue(() => binding.writeIndexed(false, this._native, flags));
  }

  writeSync(options = none) {
    binding.writeIndexed(true, this._idle(), writeFlags(options, 'overlayWrite'));
  }

  get length() {
    return binding.countIndexed(this._idle());
  }

  clear() {
    binding.clearIndexed(this._idle());
  }

  close() {
    this._close();
  }
}

// At the end of its block, a transaction that is prepared remains so. Any other is rolled back.
if (Symbol.dispose) {
  Transaction.prototype[Symbol.dispose] = Transaction.prototype._close;
  IndexedBatch.prototype[Symbol.dispose] = IndexedBatch.prototype.close;
}
if (Symbol.asyncDispose) {
  Transaction.prototype[Symbol.asyncDispose] = async function dispose() {
    this._close();
  };
  IndexedBatch.prototype[Symbol.asyncDispose] = async function dispose() {
    this.close();
  };
}

module.exports = { IndexedBatch, Transaction };
