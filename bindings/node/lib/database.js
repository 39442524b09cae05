'use strict';

const { WriteBatch } = require('./batch');
const { binding } = require('./binding');
const { ColumnFamily, Order, familyOf } = require('./column_family');
const { Cursor } = require('./cursor');
const { BusyError, InvalidArgumentError, TimedOutError, TryAgainError } = require('./errors');
const { whileComparing } = require('./exit');
const { KEYS_ONLY, isText, readFlags, writeFlags } = require('./flags');
const { EntryIterator } = require('./iterator');
const { FIRST } = require('./moves');
const { hasOwnComparator, parseOptions, toFamilySpecs, toLocks, toPairs, toSpec } = require('./options');
const { getPooled } = require('./pool');
const { toBounds } = require('./range');
const { withSignal } = require('./signal');
const { Snapshot } = require('./snapshot');
const { Statistics } = require('./statistics');
const { runAsync, runSync } = require('./steps');
const { IndexedBatch, Transaction } = require('./transaction');

const none = Object.freeze({});
const internal = Symbol('internal');

// A call that compares keys by the comparators in `options`, but of no open database.
function comparing(options, promise) {
  return hasOwnComparator(options) ? whileComparing(promise) : promise;
}

// What says that transactions were in each other's way: the same work may succeed in a new transaction.
function isConflict(error) {
  return error instanceof BusyError || error instanceof TryAgainError || error instanceof TimedOutError;
}

// End a transaction after an error of its function: it is rolled back. If that fails too, it remains prepared, and the
// second error has the first one as its cause.
async function rollBackAfter(first, transaction) {
  try {
    await transaction.rollback();
  } catch (second) {
    second.cause = first;
    throw second;
  }
}
function rollBackAfterSync(first, transaction) {
  try {
    transaction.rollbackSync();
  } catch (second) {
    second.cause = first;
    throw second;
  }
}

const policies = { force: 0, disable: 1, useDefault: 2 };
const traceFilters = { get: 1, write: 2, iteratorSeek: 4, iteratorSeekForPrev: 8, multiGet: 16 };

/** An open database. */
class Database {
  #native;
  #isOpen = true;
  #closing = null; // the promise of close()
  #families = new Map(); // the open ones, by name

  constructor(token, native) {
    if (token !== internal) throw new TypeError('call Database.open() or Database.openSync()');
    this.#native = native;
    const info = binding.info(native);
    this.path = info.path;
    this.readOnly = info.readOnly;
    for (const each of binding.families(native)) this.#families.set(each[1], new ColumnFamily(this, each));
    Object.freeze(this);
  }

  /** Opens a database, or creates it with the option `createIfMissing`. */
  static async open(path, options = none) {
    return withSignal(options.signal, () => Database.#open(path, options));
  }

  static async #open(path, options) {
    const opening = binding.open(false, ...Database.#toOpen(path, options));
    const database = new Database(internal, await comparing(options, opening));
    // The caller could not close a database whose promise was rejected.
    if (options.signal?.aborted) await database.close();
    return database;
  }

  static openSync(path, options = none) {
    if (hasOwnComparator(options)) {
      throw new InvalidArgumentError(
        'Invalid argument: a database with a comparator in JavaScript cannot be opened synchronously',
      );
    }
    return new Database(internal, binding.open(true, ...Database.#toOpen(path, options)));
  }

  static #toOpen(path, options) {
    return [path, Boolean(options.readOnly), toSpec(options), toFamilySpecs(options), toLocks(options)];
  }

  /** Opens a database that another thread of this process has open, from what its share() returned. */
  static attach(shared) {
    if (typeof shared !== 'object' || shared === null) throw new TypeError('call attach() with what share() returned');
    return new Database(internal, binding.attach(shared.cambium));
  }

  /** Returns what Database.attach() takes in another thread. The database is closed when all threads have closed it. */
  share() {
    return { cambium: binding.share(this.#native) };
  }

  get isOpen() {
    return this.#isOpen;
  }

  // ---- Closing ----

  /** Closes the database, with its iterators, transactions and snapshots, when the calls that have begun have ended. */
  close() {
    if (this.#closing === null && this.#isOpen) {
      this.#isOpen = false;
      this.#closing = binding.close(this.#native);
      return this.#closing;
    }
    // An error of the closing is for the first call.
    return Promise.resolve(this.#closing).then(
      () => undefined,
      () => undefined,
    );
  }

  closeSync() {
    if (!this.#isOpen) {
      if (binding.isClosing(this.#native)) throw new BusyError('Resource busy: the database is being closed');
      return;
    }
    try {
      binding.closeSync(this.#native);
    } finally {
      this.#isOpen = binding.isOpen(this.#native);
    }
  }

  // ---- Column families ----

  /** The open column family of this name, or undefined. */
  columnFamily(name) {
    const family = this.#families.get(name);
    if (family !== undefined) return family;
    // Another thread may have created it.
    for (const each of this.#isOpen ? binding.families(this.#native) : []) {
      if (!this.#families.has(each[1])) this.#families.set(each[1], new ColumnFamily(this, each));
    }
    return this.#families.get(name);
  }

  get columnFamilies() {
    this.columnFamily('');
    return [...this.#families.values()];
  }

  async createColumnFamily(name, options = none) {
    return this.#addFamily(await binding.createFamily(false, this.#native, name, toSpec(options, true)));
  }

  createColumnFamilySync(name, options = none) {
    return this.#addFamily(binding.createFamily(true, this.#native, name, toSpec(options, true)));
  }

  #addFamily(described) {
    const family = new ColumnFamily(this, described);
    this.#families.set(family.name, family);
    return family;
  }

  async dropColumnFamily(columnFamily) {
    await binding.dropFamily(false, this.#native, familyOf(this, columnFamily));
    this.#removeFamily(columnFamily);
  }

  dropColumnFamilySync(columnFamily) {
    binding.dropFamily(true, this.#native, familyOf(this, columnFamily));
    this.#removeFamily(columnFamily);
  }

  #removeFamily(columnFamily) {
    const name = typeof columnFamily === 'string' ? columnFamily : columnFamily.name;
    this.#families.delete(name);
  }

  // ---- Reading ----

  async get(key, options = none) {
    return withSignal(options.signal, () => this.#get(false, key, options));
  }

  getSync(key, options) {
    if (options === undefined) return getPooled(this.#native, key);
    return this.#get(true, key, options);
  }

  #get(isSync, key, options) {
    return binding.get(
      isSync,
      this.#native,
      familyOf(this, options.columnFamily),
      key,
      readFlags(options, 'get'),
      Snapshot.nativeOf(options.snapshot),
      isText(options.encoding),
    );
  }

  /** Reads several keys at one state. `options.columnFamily` may be an array with a family for each key. */
  async multiGet(keys, options = none) {
    return withSignal(options.signal, () => this.#multiGet(false, keys, options));
  }

  multiGetSync(keys, options = none) {
    return this.#multiGet(true, keys, options);
  }

  #multiGet(isSync, keys, options) {
    const { columnFamily } = options;
    let families;
    if (Array.isArray(columnFamily)) {
      if (columnFamily.length !== keys.length) throw new TypeError('there must be a column family for each key');
      families = columnFamily.map((each) => familyOf(this, each));
    } else {
      families = familyOf(this, columnFamily);
    }
    return binding.multiGet(
      isSync,
      this.#native,
      families,
      keys,
      readFlags(options, 'get'),
      Snapshot.nativeOf(options.snapshot),
      isText(options.encoding),
    );
  }

  /** Whether the database has the key. Does not read the value, in the order of bytes. */
  async has(key, options = none) {
    return withSignal(options.signal, () => runAsync(this.#has(false, key, options)));
  }

  hasSync(key, options = none) {
    return runSync(this.#has(true, key, options));
  }

  *#has(isSync, key, options) {
    const family = this.#familyObject(options.columnFamily);
    if (family.order !== Order.BYTEWISE) return (yield this.#get(isSync, key, options)) !== undefined;
    const { lower, upper } = toBounds({ gte: key, lte: key }, family.order);
    const native = binding.newIterator(
      this.#native,
      ColumnFamily.nativeOf(family),
      readFlags(options, 'get') | KEYS_ONLY,
      Snapshot.nativeOf(options.snapshot),
      lower,
      upper,
    );
    try {
      return yield binding.moveIterator(isSync, native, FIRST);
    } finally {
      binding.closeIterator(native);
    }
  }

  // ---- Writing ----

  async put(key, value, options = none) {
    return withSignal(options.signal, () =>
      binding.put(this.#native, familyOf(this, options.columnFamily), key, value, writeFlags(options, 'put')),
    );
  }

  putSync(key, value, options = none) {
    binding.putSync(this.#native, familyOf(this, options.columnFamily), key, value, writeFlags(options, 'put'));
  }

  async delete(key, options = none) {
    return withSignal(options.signal, () =>
      binding.delete(false, this.#native, familyOf(this, options.columnFamily), key, writeFlags(options, 'put')),
    );
  }

  deleteSync(key, options = none) {
    binding.delete(true, this.#native, familyOf(this, options.columnFamily), key, writeFlags(options, 'put'));
  }

  async singleDelete(key, options = none) {
    return withSignal(options.signal, () =>
      binding.singleDelete(false, this.#native, familyOf(this, options.columnFamily), key, writeFlags(options, 'put')),
    );
  }

  singleDeleteSync(key, options = none) {
    binding.singleDelete(true, this.#native, familyOf(this, options.columnFamily), key, writeFlags(options, 'put'));
  }

  /** Deletes the keys in [start, end). */
  async deleteRange(start, end, options = none) {
    const flags = writeFlags(options, 'put');
    return withSignal(options.signal, () =>
      binding.deleteRange(false, this.#native, familyOf(this, options.columnFamily), start, end, flags),
    );
  }

  deleteRangeSync(start, end, options = none) {
    const flags = writeFlags(options, 'put');
    binding.deleteRange(true, this.#native, familyOf(this, options.columnFamily), start, end, flags);
  }

  /** Applies a WriteBatch, or a list of operations, as a whole. */
  async write(batch, options = none) {
    return withSignal(options.signal, () =>
      binding.write(false, this.#native, this.#toBatch(batch), writeFlags(options, 'write')),
    );
  }

  writeSync(batch, options = none) {
    binding.write(true, this.#native, this.#toBatch(batch), writeFlags(options, 'write'));
  }

  #toBatch(batch) {
    if (batch instanceof WriteBatch) return WriteBatch.nativeOf(batch);
    if (typeof batch !== 'object' || batch === null || typeof batch[Symbol.iterator] !== 'function') {
      throw new TypeError('the batch must be a WriteBatch or a list of operations');
    }
    return WriteBatch.nativeOf(WriteBatch.of(batch, (family) => familyOf(this, family)));
  }

  // ---- Writing on a condition ----

  /** Sets the value of a key that does not exist. Returns whether it has written. */
  async putIfAbsent(key, value, options = none) {
    return withSignal(options.signal, () => this.#putIfAbsent(false, key, value, options));
  }

  putIfAbsentSync(key, value, options = none) {
    return this.#putIfAbsent(true, key, value, options);
  }

  #putIfAbsent(isSync, key, value, options) {
    const flags = writeFlags(options, 'put');
    return binding.putIfAbsent(isSync, this.#native, familyOf(this, options.columnFamily), key, value, flags);
  }

  /** Sets the value of a key that has the value `expected`. Returns whether it has written. */
  async compareAndSet(key, expected, value, options = none) {
    return withSignal(options.signal, () => this.#compareAndSet(false, key, expected, value, options));
  }

  compareAndSetSync(key, expected, value, options = none) {
    return this.#compareAndSet(true, key, expected, value, options);
  }

  #compareAndSet(isSync, key, expected, value, options) {
    const family = familyOf(this, options.columnFamily);
    return binding.compareAndSet(isSync, this.#native, family, key, expected, value, writeFlags(options, 'put'));
  }

  /** Deletes a key that has the value `expected`. Returns whether it has deleted it. */
  async compareAndDelete(key, expected, options = none) {
    return withSignal(options.signal, () => this.#compareAndDelete(false, key, expected, options));
  }

  compareAndDeleteSync(key, expected, options = none) {
    return this.#compareAndDelete(true, key, expected, options);
  }

  #compareAndDelete(isSync, key, expected, options) {
    const flags = writeFlags(options, 'put');
    return binding.compareAndDelete(isSync, this.#native, familyOf(this, options.columnFamily), key, expected, flags);
  }

  /**
   * Applies a WriteBatch, or a list of operations, as a whole, if all conditions of a list hold. Returns whether it has
   * written.
   */
  async writeIf(batch, conditions, options = none) {
    return withSignal(options.signal, () => this.#writeIf(false, batch, conditions, options));
  }

  writeIfSync(batch, conditions, options = none) {
    return this.#writeIf(true, batch, conditions, options);
  }

  #writeIf(isSync, batch, conditions, options) {
    const flags = writeFlags(options, 'write');
    return binding.writeIf(isSync, this.#native, this.#toBatch(batch), this.#toConditions(conditions), flags);
  }

  #toConditions(conditions) {
    if (typeof conditions !== 'object' || conditions === null || typeof conditions[Symbol.iterator] !== 'function') {
      throw new TypeError('the conditions must be a list');
    }
    const native = binding.newConditions();
    for (const { type, key, value, columnFamily } of conditions) {
      const family = familyOf(this, columnFamily);
      switch (type) {
        case 'isAbsent':
          binding.conditionsIsAbsent(native, this.#native, family, key);
          break;
        case 'hasValue':
          binding.conditionsHasValue(native, this.#native, family, key, value);
          break;
        default:
          throw new TypeError(`the type of a condition must be 'isAbsent' or 'hasValue', not ${type}`);
      }
    }
    return native;
  }

  // ---- Transactions ----

  /** Begins a transaction: an optimistic one, unless the database was opened with `transactionLocks`. */
  transaction(options = none) {
    return Transaction._make(this, this.#native, options);
  }

  /** Those that were prepared before the database was opened, in the order of their names, each once. */
  preparedTransactions() {
    return Transaction._makePrepared(this, this.#native);
  }

  /** Calls `work` with a transaction, and commits it. Repeats that after a conflict. */
  async transact(work, options = none) {
    const { attempts = 10, ...its } = options;
    for (let attempt = 1; ; ++attempt) {
      const transaction = this.transaction(its);
      let isDone = false;
      try {
        const result = await work(transaction);
        isDone = true;
        await transaction.commit();
        return result;
      } catch (error) {
        if (isDone) transaction._close(); // what is prepared remains so
        else await rollBackAfter(error, transaction);
        if (!isConflict(error) || attempt >= attempts) throw error;
      }
      // Some chance, so that two transactions do not meet again and again.
      await new Promise((resolve) => setTimeout(resolve, Math.random() * Math.min(2 ** attempt, 20)));
    }
  }

  /** The same at once: `work` must not return a promise. */
  transactSync(work, options = none) {
    const { attempts = 10, ...its } = options;
    for (let attempt = 1; ; ++attempt) {
      const transaction = this.transaction(its);
      let isDone = false;
      try {
        const result = work(transaction);
        if (typeof result?.then === 'function') throw new TypeError('the function of transactSync returns a promise');
        isDone = true;
        transaction.commitSync();
        return result;
      } catch (error) {
        if (isDone) transaction._close();
        else rollBackAfterSync(error, transaction);
        if (!isConflict(error) || attempt >= attempts) throw error;
      }
    }
  }

  /** An empty batch that can be read before it is written. */
  indexedBatch(options = none) {
    return IndexedBatch._make(this, this.#native, options);
  }

  // ---- Iterators and snapshots ----

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
    return new EntryIterator(this, this.#native, this.#familyObject(options.columnFamily), kind, options);
  }

  cursor(options = none) {
    return new Cursor(this, this.#native, this.#familyObject(options.columnFamily), options);
  }

  #familyObject(columnFamily) {
    if (columnFamily === undefined || columnFamily === null) return this.#families.get('default');
    if (ColumnFamily.is(columnFamily)) return columnFamily;
    familyOf(this, columnFamily);
    return this.columnFamily(columnFamily);
  }

  [Symbol.asyncIterator]() {
    return this.iterator();
  }

  [Symbol.iterator]() {
    return this.iterator()[Symbol.iterator]();
  }

  snapshot() {
    return new Snapshot(this, binding.newSnapshot(this.#native));
  }

  get latestSequenceNumber() {
    return binding.latestSequence(this.#native);
  }

  // ---- Flushing and compacting ----

  async flush(options = none) {
    return binding.flush(false, this.#native, familyOf(this, options.columnFamily), options.wait ?? true);
  }

  flushSync(options = none) {
    binding.flush(true, this.#native, familyOf(this, options.columnFamily), options.wait ?? true);
  }

  /** Makes everything that was written durable, in all column families. */
  async syncLog() {
    return binding.syncLog(false, this.#native);
  }

  syncLogSync() {
    binding.syncLog(true, this.#native);
  }

  /** Compacts from `start` to `end`, both included; without them everything. */
  async compactRange(options = none) {
    return withSignal(options.signal, () => this.#compactRange(false, options));
  }

  compactRangeSync(options = none) {
    this.#compactRange(true, options);
  }

  #compactRange(isSync, options) {
    const { blobGarbageCollectionPolicy = 'useDefault', blobGarbageCollectionAgeCutoff = -1 } = options;
    const policy = policies[blobGarbageCollectionPolicy];
    if (policy === undefined) {
      throw new InvalidArgumentError(
        `Invalid argument: blobGarbageCollectionPolicy is ${blobGarbageCollectionPolicy}; legal are force, disable, ` +
          'useDefault',
      );
    }
    return binding.compactRange(
      isSync,
      this.#native,
      familyOf(this, options.columnFamily),
      options.start,
      options.end,
      policy,
      blobGarbageCollectionAgeCutoff,
      Boolean(options.clusterValues),
    );
  }

  /** Waits until no background work is left. */
  async waitForCompact() {
    return binding.waitForCompact(false, this.#native);
  }

  waitForCompactSync() {
    binding.waitForCompact(true, this.#native);
  }

  /** Reads each key and value of each column family. The first damage is the error. */
  async verifyChecksums(options = none) {
    const flags = readFlags(options, 'verifyChecksums');
    return binding.verifyChecksums(false, this.#native, flags, Snapshot.nativeOf(options.snapshot));
  }

  verifyChecksumsSync(options = none) {
    const flags = readFlags(options, 'verifyChecksums');
    binding.verifyChecksums(true, this.#native, flags, Snapshot.nativeOf(options.snapshot));
  }

  // ---- Properties, options, statistics ----

  /** The text of a property, or undefined if there is none of this name. */
  property(name, options = none) {
    return binding.property(this.#native, familyOf(this, options.columnFamily), name);
  }

  /** The number of a property as a BigInt, or undefined if there is none of this name, or if it is not a number. */
  propertyNumber(name, options = none) {
    return binding.propertyNumber(this.#native, familyOf(this, options.columnFamily), name);
  }

  /** 32 digits that no other database has; undefined after a fatal error. */
  get identity() {
    return binding.identity(this.#native);
  }

  /** The options in force, as texts. */
  options(options = none) {
    return parseOptions(binding.options(this.#native, familyOf(this, options.columnFamily)));
  }

  /** Changes options of a column family. All changes take effect, or none. */
  async setOptions(changes, options = none) {
    return binding.setOptions(false, this.#native, familyOf(this, options.columnFamily), toPairs(changes, false));
  }

  setOptionsSync(changes, options = none) {
    binding.setOptions(true, this.#native, familyOf(this, options.columnFamily), toPairs(changes, false));
  }

  /** Changes options of the database. All changes take effect, or none. */
  async setDBOptions(changes) {
    return binding.setDBOptions(false, this.#native, toPairs(changes, false));
  }

  setDBOptionsSync(changes) {
    binding.setDBOptions(true, this.#native, toPairs(changes, false));
  }

  get statistics() {
    return new Statistics(this.#native);
  }

  /** About the bytes that the keys of each [start, end) take. */
  async approximateSizes(ranges, options = none) {
    return this.#approximateSizes(false, ranges, options);
  }

  approximateSizesSync(ranges, options = none) {
    return this.#approximateSizes(true, ranges, options);
  }

  #approximateSizes(isSync, ranges, options) {
    const { includeMemtables = false, includeFiles = true } = options;
    const starts = [];
    const ends = [];
    for (const [start, end] of ranges) {
      starts.push(start);
      ends.push(end);
    }
    const include = (includeMemtables ? 1 : 0) | (includeFiles ? 2 : 0);
    return binding.approximateSizes(
      isSync,
      this.#native,
      familyOf(this, options.columnFamily),
      starts,
      ends,
      include,
    );
  }

  // ---- Checkpoints and traces ----

  /** Makes a copy of the database in `directory`, mostly of hard links. The directory must not exist. */
  async checkpoint(directory, options = none) {
    return binding.checkpoint(false, this.#native, directory, options.logSizeForFlush ?? 0);
  }

  checkpointSync(directory, options = none) {
    binding.checkpoint(true, this.#native, directory, options.logSizeForFlush ?? 0);
  }

  /** Records the calls of the database in a new file. */
  async startTrace(path, options = none) {
    return this.#startTrace(false, path, options);
  }

  startTraceSync(path, options = none) {
    this.#startTrace(true, path, options);
  }

  #startTrace(isSync, path, options) {
    let filter = 0;
    for (const name of options.leaveOut ?? []) {
      if (traceFilters[name] === undefined) {
        throw new InvalidArgumentError(
          `Invalid argument: leaveOut has ${name}; legal are ${Object.keys(traceFilters).join(', ')}`,
        );
      }
      filter |= traceFilters[name];
    }
    return binding.startTrace(
      isSync,
      this.#native,
      path,
      options.maxTraceFileSize,
      options.samplingFrequency,
      filter,
      Boolean(options.preserveWriteOrder),
      Boolean(options.includeValues),
    );
  }

  /** Ends the trace; fails with its first error. */
  async endTrace() {
    return binding.endTrace(false, this.#native);
  }

  endTraceSync() {
    binding.endTrace(true, this.#native);
  }

  // ---- Databases that are not open ----

  /** Deletes the files of a database. */
  static async destroy(path, options = none) {
    return binding.destroy(path, toSpec(options));
  }

  /** Replaces a damaged database by what survives of it; the damaged one is renamed to `path`.damaged. */
  static async repair(path, options = none) {
    return comparing(options, binding.repair(path, toSpec(options)));
  }

  /** Creates a new database `out` from what survives of a damaged one, which is not changed. */
  static async salvage(path, out, options = none) {
    const { includeUnproven = false, ...rest } = options;
    const families = toFamilySpecs(rest) ?? [];
    return comparing(rest, binding.salvage(path, toSpec(rest), families, out, includeUnproven));
  }

  /** Checks a database. Returns a list of lines about what is damaged. */
  static async verify(path, options = none) {
    const { deep = false, ...rest } = options;
    return comparing(rest, binding.verify(path, toSpec(rest), toFamilySpecs(rest) ?? [], deep));
  }

  static async listColumnFamilies(path, options = none) {
    return binding.listColumnFamilies(path, toSpec(options));
  }

  /** Makes a checkpoint of a database that no process has open for writing. */
  static async checkpointOffline(path, directory, options = none) {
    return binding.checkpointOffline(path, toSpec(options), directory);
  }

  /** The options that the database was last opened with, as texts. */
  static async loadLatestOptions(path, { ignoreUnknownOptions = false } = none) {
    const [text, ...families] = await binding.loadLatestOptions(path, ignoreUnknownOptions);
    const columnFamilies = {};
    for (let i = 0; i < families.length; i += 2) columnFamilies[families[i]] = parseOptions(families[i + 1]);
    return { database: parseOptions(text), columnFamilies };
  }

  // For level.js.
  static nativeOf(database) {
    return database.#native;
  }
}

if (Symbol.dispose) Database.prototype[Symbol.dispose] = Database.prototype.closeSync;
if (Symbol.asyncDispose) Database.prototype[Symbol.asyncDispose] = Database.prototype.close;

module.exports = { Database };
