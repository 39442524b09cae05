'use strict';

// A database with the interface of abstract-level.
const { mkdir } = require('node:fs/promises');
const { dirname } = require('node:path');
const {
  AbstractChainedBatch,
  AbstractIterator,
  AbstractKeyIterator,
  AbstractLevel,
  AbstractSnapshot,
  AbstractValueIterator,
} = require('abstract-level');
const { WriteBatch } = require('./batch');
const { Database } = require('./database');
const { knownOptions } = require('./options');
const { toBounds, toBytes } = require('./range');
const { Order } = require('./column_family');

// A clear() that cannot be one range delete deletes so many keys at once.
const CLEAR_KEYS = 1000;

function innerOf(snapshot) {
  return snapshot === undefined || snapshot === null ? undefined : snapshot.inner;
}

// Throws abstract-level's error if the snapshot is closed.
function checkSnapshot(snapshot) {
  snapshot?.ref();
  snapshot?.unref();
}

class CambiumSnapshot extends AbstractSnapshot {
  constructor(level, options) {
    super(options);
    this.inner = level.database.snapshot();
  }

  async _close() {
    this.inner.close();
  }
}

// Adds what iterators of entries, of keys and of values share.
function withReads(Base, method) {
  return class extends Base {
    #inner;
    #range;
    #isOutside = false; // a seek has left the range

    constructor(level, options) {
      checkSnapshot(options.snapshot); // before the level knows of the iterator
      super(level, options);
      const { gt, gte, lt, lte, reverse, keyEncoding, valueEncoding, highWaterMarkBytes } = options;
      // abstract-level gives precedence to the bounds that include their key.
      const range = { gte, lte, gt: gte === undefined ? gt : undefined, lt: lte === undefined ? lt : undefined };
      this.#range = toBounds(range, Order.BYTEWISE);
      this.#inner = level.database[method](
        Object.assign(range, {
          reverse,
          keyEncoding,
          valueEncoding,
          snapshot: innerOf(options.snapshot),
          ...(highWaterMarkBytes === undefined ? {} : { highWaterMarkBytes }),
        }),
      );
    }

    async _next() {
      return (await this._nextv(1))[0];
    }

    async _nextv(size) {
      return this.#isOutside ? [] : this.#inner.nextChunk(size);
    }

    _seek(target) {
      const key = toBytes(target, 'the target');
      const { lower, upper } = this.#range;
      this.#isOutside =
        (lower !== undefined && Buffer.compare(key, lower) < 0) ||
        (upper !== undefined && Buffer.compare(key, upper) >= 0);
      if (!this.#isOutside) this.#inner.seek(key);
    }

    async _close() {
      this.#inner.close();
    }
  };
}

const CambiumIterator = withReads(AbstractIterator, 'iterator');
const CambiumKeyIterator = withReads(AbstractKeyIterator, 'keys');
const CambiumValueIterator = withReads(AbstractValueIterator, 'values');

class CambiumChainedBatch extends AbstractChainedBatch {
  #inner = new WriteBatch();

  _put(key, value) {
    this.#inner.put(key, value);
  }

  _del(key) {
    this.#inner.delete(key);
  }

  _clear() {
    this.#inner.clear();
  }

  async _write(options) {
    await this.db.database.write(this.#inner, options);
  }
}

/** An abstract-level database. */
class CambiumLevel extends AbstractLevel {
  #location;
  #database = null;

  /**
   * @param {string} location the directory; it is created, with its parents, unless `createIfMissing` is false
   * @param {object} [options] those of abstract-level, and those of Database.open()
   */
  constructor(location, options) {
    if (typeof location !== 'string' || location === '') {
      throw new TypeError("The first argument 'location' must be a string that is not empty");
    }
    super(
      {
        encodings: { buffer: true, utf8: true },
        createIfMissing: true,
        errorIfExists: true,
        explicitSnapshots: true,
        getSync: true,
        has: true,
        implicitSnapshots: true,
        permanence: true,
        seek: true,
      },
      options,
    );
    this.#location = location;
  }

  get location() {
    return this.#location;
  }

  /** The Database, which has what abstract-level has not. Null while the level is not open. */
  get database() {
    return this.#database;
  }

  async _open(options) {
    // As in other abstract-level databases, options that are not known have no effect.
    const { comparator, readOnly, ...rest } = knownOptions(options);
    if (comparator !== undefined && comparator !== 'bytewise') {
      throw new TypeError('abstract-level requires the order of bytes');
    }
    if (readOnly) {
      delete rest.createIfMissing;
      delete rest.errorIfExists;
    } else if (rest.createIfMissing) {
      await mkdir(dirname(this.#location), { recursive: true });
    }
    this.#database = await Database.open(this.#location, { ...rest, readOnly });
  }

  async _close() {
    await this.#database.close();
  }

  async _get(key, options) {
    return this.#database.get(key, { encoding: options.valueEncoding, snapshot: innerOf(options.snapshot) });
  }

  _getSync(key, options) {
    return this.#database.getSync(key, { encoding: options.valueEncoding, snapshot: innerOf(options.snapshot) });
  }

  async _getMany(keys, options) {
    return this.#database.multiGet(keys, { encoding: options.valueEncoding, snapshot: innerOf(options.snapshot) });
  }

  async _has(key, options) {
    return this.#database.has(key, { snapshot: innerOf(options.snapshot) });
  }

  async _hasMany(keys, options) {
    const snapshot = innerOf(options.snapshot) ?? this.#database.snapshot();
    try {
      return await Promise.all(keys.map((key) => this.#database.has(key, { snapshot })));
    } finally {
      if (innerOf(options.snapshot) === undefined) snapshot.close();
    }
  }

  async _put(key, value, options) {
    await this.#database.put(key, value, { sync: options.sync });
  }

  async _del(key, options) {
    await this.#database.delete(key, { sync: options.sync });
  }

  async _batch(operations, options) {
    await this.#database.write(operations, { sync: options.sync });
  }

  _chainedBatch() {
    return new CambiumChainedBatch(this);
  }

  _iterator(options) {
    return new CambiumIterator(this, options);
  }

  _keys(options) {
    return new CambiumKeyIterator(this, options);
  }

  _values(options) {
    return new CambiumValueIterator(this, options);
  }

  _snapshot(options) {
    return new CambiumSnapshot(this, options);
  }

  async _clear(options) {
    const { gt, gte, lt, lte, reverse, limit, sync } = options;
    const range = { gte, lte, gt: gte === undefined ? gt : undefined, lt: lte === undefined ? lt : undefined };
    const snapshot = innerOf(options.snapshot);
    if (snapshot !== undefined || (Number.isInteger(limit) && limit >= 0)) {
      return this.#clearEach({ ...range, reverse, snapshot, limit: limit >= 0 ? limit : Infinity }, sync);
    }
    const { lower = Buffer.alloc(0), upper = await this.#end() } = toBounds(range, Order.BYTEWISE);
    if (Buffer.compare(lower, upper) < 0) await this.#database.deleteRange(lower, upper, { sync });
  }

  // A key after all others.
  async #end() {
    const [last] = await this.#database.keys({ reverse: true, limit: 1 }).all();
    return last === undefined ? Buffer.alloc(0) : Buffer.concat([last, Buffer.alloc(1)]);
  }

  async #clearEach(options, sync) {
    const keys = this.#database.keys(options);
    try {
      for (;;) {
        const chunk = await keys.nextChunk(CLEAR_KEYS);
        if (chunk.length === 0) return;
        const batch = new WriteBatch();
        for (const key of chunk) batch.delete(key);
        await this.#database.write(batch, { sync });
      }
    } finally {
      keys.close();
    }
  }

  /** Deletes the files of a database. */
  static async destroy(location) {
    await Database.destroy(location);
  }
}

module.exports = { CambiumLevel };
