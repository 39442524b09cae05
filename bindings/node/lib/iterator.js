'use strict';

const { binding } = require('./binding');
const { ColumnFamily } = require('./column_family');
const { BusyError, ClosedError } = require('./errors');
const { KEYS_ONLY, isText, readFlags } = require('./flags');
const { FIRST, NEXT, SEEK_FOR_PREV } = require('./moves');
const { toBounds, toBytes } = require('./range');
const { Snapshot } = require('./snapshot');
const { runAsync, runSync } = require('./steps');

// Entries are read in chunks, so that neither the border to C++ nor the thread pool is crossed for each. The first
// chunk is small, because many iterators read only a few entries.
const FIRST_BYTES = 4 * 1024;
const ENTRIES_MAX = 1024;

/** Reads entries, keys or values of a range in order, in one direction. Databases make it. */
class EntryIterator {
  #native;
  #database; // also keeps the database from being collected
  #nativeDatabase;
  #family;
  #flags;
  #snapshot; // the addon's
  #overlay; // the transaction or indexed batch whose writes are shown too
  #ownsSnapshot = false;
  #bounds;
  #isReverse;
  #kind; // 'entries', 'keys' or 'values'
  #isTextKey;
  #isTextValue;
  #signal;
  #left; // entries until the limit
  #bytes = FIRST_BYTES;
  #bytesMax;
  #target;
  #entries = []; // decoded, and not handed out yet, from #at on
  #at = 0;
  #lengths;
  #isAtEnd = false;
  #isClosed = false;
  #isEnded = false; // next() has returned done, and will again
  #isReading = false;
  #tail = null; // the last call of next() that has not ended

  constructor(database, native, family, kind, options, overlay) {
    const { reverse = false, limit = Infinity, highWaterMarkBytes = 64 * 1024 } = options;
    if (limit !== Infinity && (!Number.isInteger(limit) || limit < 0)) {
      throw new TypeError('limit must be a whole number that is not negative, or Infinity');
    }
    if (!Number.isInteger(highWaterMarkBytes) || highWaterMarkBytes < 0 || highWaterMarkBytes > 2 ** 30) {
      throw new TypeError('highWaterMarkBytes must be a whole number from 0 to 2 ** 30');
    }
    this.#database = database;
    this.#nativeDatabase = native;
    this.#overlay = overlay;
    this.#family = ColumnFamily.nativeOf(family);
    this.#kind = kind;
    this.#isTextKey = isText(options.keyEncoding);
    this.#isTextValue = isText(options.valueEncoding);
    this.#isReverse = Boolean(reverse);
    this.#left = limit;
    this.#bytesMax = highWaterMarkBytes;
    this.#signal = options.signal ?? undefined;
    this.#signal?.throwIfAborted();
    this.#flags = readFlags(options, 'iterator') | (kind === 'keys' ? KEYS_ONLY : 0);
    this.#snapshot = Snapshot.nativeOf(options.snapshot);
    this.#bounds = toBounds(options, family.order);
    if (this.#bounds.after === undefined && this.#bounds.through === undefined) {
      this.#native = this.#make();
    } else if (overlay === undefined) {
      // The bounds are looked up by the first read, in the state of this moment.
      const given = this.#snapshot;
      this.#snapshot = given === undefined ? binding.newSnapshot(native) : binding.shareSnapshot(given);
      this.#ownsSnapshot = true;
    }
  }

  get database() {
    return this.#database;
  }

  #make() {
    const { lower, upper } = this.#bounds;
    return this.#makeIn(this.#flags, lower, upper);
  }

  #makeIn(flags, lower, upper) {
    const overlay = this.#overlay?._idle();
    return binding.newIterator(this.#nativeDatabase, this.#family, flags, this.#snapshot, lower, upper, overlay);
  }

  // Looks up the first key after `key`; undefined if there is none.
  *#keyAfter(isSync, key) {
    const flags = this.#flags | KEYS_ONLY;
    const native = this.#makeIn(flags);
    try {
      const isFound = yield binding.moveIterator(isSync, native, SEEK_FOR_PREV, key);
      const isValid = yield binding.moveIterator(isSync, native, isFound ? NEXT : FIRST);
      return isValid ? binding.iteratorKey(native, false) : undefined;
    } finally {
      binding.closeIterator(native);
    }
  }

  *#lookUpBounds(isSync) {
    const { after, through } = this.#bounds;
    if (after !== undefined) {
      this.#bounds.lower = yield* this.#keyAfter(isSync, after);
      if (this.#bounds.lower === undefined) this.#isAtEnd = true;
    }
    if (through !== undefined) this.#bounds.upper = yield* this.#keyAfter(isSync, through);
    this.#checkUsable();
    this.#native = this.#make();
    if (this.#ownsSnapshot) binding.closeSnapshot(this.#snapshot);
    this.#ownsSnapshot = false;
  }

  #decode(buffer, count) {
    const entries = new Array(count);
    const lengths = this.#lengths;
    let at = 0;
    for (let i = 0; i < count; ++i) {
      let key;
      let value;
      if (this.#kind !== 'values') {
        const end = at + lengths[2 * i];
        key = this.#isTextKey ? buffer.toString('utf8', at, end) : buffer.subarray(at, end);
        at = end;
      }
      if (this.#kind !== 'keys') {
        const end = at + lengths[2 * i + 1];
        value = this.#isTextValue ? buffer.toString('utf8', at, end) : buffer.subarray(at, end);
        at = end;
      }
      entries[i] = this.#kind === 'entries' ? [key, value] : this.#kind === 'keys' ? key : value;
    }
    return entries;
  }

  // The bytes that the entries take in the buffer.
  #used(count) {
    let used = 0;
    for (let i = 0; i < 2 * count; ++i) used += this.#lengths[i];
    return used;
  }

  // Reads up to `count` entries; an empty list at the end.
  *#read(isSync, count) {
    this.#checkUsable();
    this.#overlay?._idle(); // throws while it has calls
    if (this.#isReading) {
      throw new BusyError('Resource busy: the previous read of the iterator has not ended');
    }
    this.#isReading = true;
    try {
      return yield* this.#readUnchecked(isSync, count);
    } finally {
      this.#isReading = false;
    }
  }

  *#readUnchecked(isSync, count) {
    if (this.#native === undefined) yield* this.#lookUpBounds(isSync);
    const entriesMax = Math.min(count, this.#left, ENTRIES_MAX);
    if (this.#isAtEnd || entriesMax < 1) return [];
    const what = this.#kind === 'entries' ? 3 : this.#kind === 'keys' ? 1 : 2;
    if (this.#lengths === undefined || this.#lengths.length < 2 * entriesMax) {
      this.#lengths = new Uint32Array(2 * entriesMax);
    }
    let size = this.#bytes;
    for (;;) {
      let buffer = Buffer.allocUnsafeSlow(size);
      const answer = yield binding.readIterator(
        isSync,
        this.#native,
        this.#isReverse,
        what,
        entriesMax,
        buffer,
        this.#lengths,
        this.#target,
      );
      this.#target = undefined;
      if (answer < 0) {
        size = -answer;
        continue;
      }
      this.#bytes = Math.min(this.#bytes * 4, Math.max(this.#bytesMax, FIRST_BYTES));
      const read = answer >> 1;
      this.#isAtEnd = (answer & 1) === 1;
      this.#left -= read;
      // Entries refer to the buffer, so it must not be much larger than they are.
      const used = this.#used(read);
      if (used < size / 2) buffer = Buffer.from(buffer.subarray(0, used));
      return this.#decode(buffer, read);
    }
  }

  #checkUsable() {
    if (this.#isClosed) throw new ClosedError('Closed: the iterator is closed');
    if (!this.#database.isOpen) throw new ClosedError('Closed: the database is closed');
    if (!this.#isBelowOpen()) throw new ClosedError('Closed: the transaction or the batch has ended');
    this.#signal?.throwIfAborted();
  }

  #isBelowOpen() {
    return this.#overlay === undefined || this.#overlay.isOpen;
  }

  // The next entries that were read already.
  #take(count) {
    const end = Math.min(this.#at + count, this.#entries.length);
    const taken = this.#entries.slice(this.#at, end);
    this.#at = end;
    return taken;
  }

  /** Reads up to `count` entries. The list is empty at the end only. */
  async nextChunk(count = ENTRIES_MAX) {
    this.#checkUsable();
    if (this.#at < this.#entries.length) return this.#take(count);
    return runAsync(this.#read(false, count));
  }

  nextChunkSync(count = ENTRIES_MAX) {
    this.#checkUsable();
    if (this.#at < this.#entries.length) return this.#take(count);
    return runSync(this.#read(true, count));
  }

  // Whether the next entry was read already, and may be handed out.
  #hasEntry() {
    if (this.#at >= this.#entries.length) return false;
    return this.#database.isOpen && this.#isBelowOpen() && !this.#signal?.aborted;
  }

  #result() {
    if (this.#at < this.#entries.length) return { done: false, value: this.#entries[this.#at++] };
    this.#isEnded = true;
    this.close();
    return { done: true, value: undefined };
  }

  async #nextSlowly(before) {
    await before;
    if (this.#isEnded) return { done: true, value: undefined };
    try {
      this.#checkUsable();
      if (this.#at >= this.#entries.length) {
        this.#entries = await runAsync(this.#read(false, ENTRIES_MAX));
        this.#at = 0;
      }
    } catch (error) {
      this.close();
      throw error;
    }
    return this.#result();
  }

  /** The next entry, as for await uses it. At the end the iterator is closed. */
  next() {
    if (this.#tail === null && this.#hasEntry()) {
      return Promise.resolve({ done: false, value: this.#entries[this.#at++] });
    }
    const next = this.#nextSlowly(this.#tail);
    const tail = next.then(
      () => this.#endTail(tail),
      () => this.#endTail(tail),
    );
    this.#tail = tail;
    return next;
  }

  #endTail(tail) {
    if (this.#tail === tail) this.#tail = null;
  }

  nextSync() {
    if (this.#hasEntry()) return { done: false, value: this.#entries[this.#at++] };
    if (this.#isEnded) return { done: true, value: undefined };
    try {
      this.#checkUsable();
      if (this.#at >= this.#entries.length) {
        this.#entries = runSync(this.#read(true, ENTRIES_MAX));
        this.#at = 0;
      }
    } catch (error) {
      this.close();
      throw error;
    }
    return this.#result();
  }

  /** Ends the iteration early. */
  async return(value) {
    this.#isEnded = true;
    this.close();
    return { done: true, value };
  }

  /** All entries that are left. Closes the iterator. */
  async all() {
    const all = this.#take(Infinity);
    try {
      for (;;) {
        const chunk = await runAsync(this.#read(false, ENTRIES_MAX));
        if (chunk.length === 0) return all;
        for (const entry of chunk) all.push(entry);
      }
    } finally {
      this.close();
    }
  }

  allSync() {
    const all = this.#take(Infinity);
    try {
      for (;;) {
        const chunk = runSync(this.#read(true, ENTRIES_MAX));
        if (chunk.length === 0) return all;
        for (const entry of chunk) all.push(entry);
      }
    } finally {
      this.close();
    }
  }

  /** The next entry read is the first one from `key` on, in the direction of the iterator, within its range. */
  seek(key) {
    this.#checkUsable();
    if (this.#isReading || this.#tail !== null) {
      throw new BusyError('Resource busy: the previous read of the iterator has not ended');
    }
    this.#target = toBytes(key, 'the key');
    this.#entries = [];
    this.#at = 0;
    this.#isAtEnd = false;
  }

  close() {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#entries = [];
    this.#at = 0;
    if (this.#native !== undefined) binding.closeIterator(this.#native);
    if (this.#ownsSnapshot) binding.closeSnapshot(this.#snapshot);
    this.#ownsSnapshot = false;
  }

  [Symbol.asyncIterator]() {
    return this;
  }

  *[Symbol.iterator]() {
    try {
      for (let step = this.nextSync(); !step.done; step = this.nextSync()) yield step.value;
    } finally {
      this.#isEnded = true;
      this.close();
    }
  }
}

if (Symbol.dispose) EntryIterator.prototype[Symbol.dispose] = EntryIterator.prototype.close;
if (Symbol.asyncDispose) {
  EntryIterator.prototype[Symbol.asyncDispose] = async function dispose() {
    this.close();
  };
}

module.exports = { EntryIterator };
