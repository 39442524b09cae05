'use strict';

const { WriteBatch } = require('./batch');
const { binding } = require('./binding');
const { ColumnFamily, familyOf } = require('./column_family');
const { isText, writeFlags } = require('./flags');
const { EntryIterator } = require('./iterator');
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
    const call = this.#tail.then(start);
    this.#tail = call.catch(() => {});
    return call;
  }

  _family(options) {
    return familyOf(this.#database, options.columnFamily);
  }

  _get(isSync, key, options, use) {
    const family = this._family(options);
    const text = isText(options.encoding);
    return binding.overlayGet(isSync, this.#native, family, key, use, text);
  }

  /** The value as if the writes so far had been written, or undefined. */
  async get(key, options = none) {
    const bytes = toBytes(key, 'the key');
    return this._queue(() => this._get(false, bytes, options, ONLY_READ));
  }

  getSync(key, options = none) {
    return this._get(true, key, options, ONLY_READ);
  }

  async put(key, value, options = none) {
    const bytes = toBytes(key, 'the key');
    const its = toBytes(value, 'the value');
    return this._queue(() => binding.overlayPut(false, this.#native, this._family(options), bytes, its));
  }

  putSync(key, value, options = none) {
    binding.overlayPut(true, this.#native, this._family(options), key, value);
  }

  async delete(key, options = none) {
    const bytes = toBytes(key, 'the key');
    return this._queue(() => binding.overlayDelete(false, this.#native, this._family(options), bytes));
  }

  deleteSync(key, options = none) {
    binding.overlayDelete(true, this.#native, this._family(options), key);
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
    return new EntryIterator(this.#database, this.#nativeDatabase, family, kind, options, this.#native);
  }

  // ---- Save points ----

  setSavePoint() {
    binding.overlaySetSavePoint(this.#native);
  }

  rollbackToSavePoint() {
    binding.overlayRollbackToSavePoint(this.#native);
  }

  popSavePoint() {
    binding.overlayPopSavePoint(this.#native);
  }

  _close() {
    binding.closeOverlay(this.#native);
  }
}

/** Reads and writes that take effect together, or not at all. Databases make it. */
class Transaction extends Overlay {
  static _make(database, nativeDatabase, options = none) {
    const native = binding.newTransaction(
      nativeDatabase,
      writeFlags(options),
      options.snapshot,
      Boolean(options.readNewest),
      Boolean(options.deadlockDetect),
      options.lockTimeout,
      options.expiration,
      options.maxWriteBatchSize,
    );
    return new Transaction(internal, database, nativeDatabase, native);
  }

  /** Tracks the key, whether it exists or not, and returns its value. */
  async getForUpdate(key, options = none) {
    const bytes = toBytes(key, 'the key');
    return this._queue(() => this._get(false, bytes, options, options.shared ? SHARED : EXCLUSIVE));
  }

  getForUpdateSync(key, options = none) {
    return this._get(true, key, options, options.shared ? SHARED : EXCLUSIVE);
  }

  /** Takes one getForUpdate of a key back, if nothing else tracks it. */
  undoGetForUpdate(key, options = none) {
    binding.undoGetForUpdate(this._native, this._family(options), key);
  }

  /** Does the operations of a WriteBatch one by one. */
  async write(batch) {
    const native = WriteBatch.nativeOf(batch);
    return this._queue(() => binding.transactionAddBatch(false, this._native, native));
  }

  writeSync(batch) {
    binding.transactionAddBatch(true, this._native, WriteBatch.nativeOf(batch));
  }

  /** Writes everything, and ends the transaction. After an error nothing is written, and it has not ended. */
  async commit() {
    return this._queue(() => binding.transactionCommit(false, this._native));
  }

  commitSync() {
    binding.transactionCommit(true, this._native);
  }

  /** Ends the transaction without writing. A second call does nothing. */
  rollback() {
    this._close();
  }

  // ---- Snapshots ----

  setSnapshot() {
    binding.setTransactionSnapshot(this._native, true);
  }

  clearSnapshot() {
    binding.setTransactionSnapshot(this._native, false);
  }

  /** The number of the newest write that the snapshot shows, or undefined. */
  get snapshotSequenceNumber() {
    return binding.transactionSnapshot(this._native);
  }

  // ---- Names and figures ----

  get name() {
    return binding.transactionName(this._native);
  }

  set name(name) {
    binding.setTransactionName(this._native, name);
  }

  get info() {
    const [id, keys, puts, deletes, elapsed, hasLostLocks] = binding.transactionInfo(this._native);
    return { id, keys, puts, deletes, elapsed, hasLostLocks };
  }
}

/** A batch that can be read before it is written. Databases make it. */
class IndexedBatch extends Overlay {
  static _make(database, nativeDatabase, options = none) {
    const native = binding.newIndexedBatch(nativeDatabase, options.maxBytes ?? 0);
    return new IndexedBatch(internal, database, nativeDatabase, native);
  }

  /** The value that the batch alone gives a key, or undefined. */
  async getFromBatch(key, options = none) {
    const bytes = toBytes(key, 'the key');
    return this._queue(() => this._get(false, bytes, options, ONLY_BATCH));
  }

  getFromBatchSync(key, options = none) {
    return this._get(true, key, options, ONLY_BATCH);
  }

  /** Deletes the keys in [start, end). */
  async deleteRange(start, end, options = none) {
    const first = toBytes(start, 'the start');
    const last = toBytes(end, 'the end');
    return this._queue(() =>
      binding.overlayDeleteRange(false, this._native, this._family(options), first, last),
    );
  }

  deleteRangeSync(start, end, options = none) {
    binding.overlayDeleteRange(true, this._native, this._family(options), start, end);
  }

  /** Writes all operations, or none. The batch keeps them. */
  async write(options = none) {
    return this._queue(() => binding.writeIndexed(false, this._native, writeFlags(options)));
  }

  writeSync(options = none) {
    binding.writeIndexed(true, this._native, writeFlags(options));
  }

  get length() {
    return binding.countIndexed(this._native);
  }

  clear() {
    binding.clearIndexed(this._native);
  }

  close() {
    this._close();
  }
}

if (Symbol.dispose) {
  Transaction.prototype[Symbol.dispose] = Transaction.prototype.rollback;
  IndexedBatch.prototype[Symbol.dispose] = IndexedBatch.prototype.close;
}
if (Symbol.asyncDispose) {
  Transaction.prototype[Symbol.asyncDispose] = async function dispose() {
    this.rollback();
  };
  IndexedBatch.prototype[Symbol.asyncDispose] = async function dispose() {
    this.close();
  };
}

module.exports = { IndexedBatch, Transaction };
