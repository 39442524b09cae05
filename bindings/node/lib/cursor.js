'use strict';

const { binding } = require('./binding');
const { ColumnFamily } = require('./column_family');
const { KEYS_ONLY, isText, readFlags } = require('./flags');
const { FIRST, LAST, NEXT, PREV, SEEK, SEEK_FOR_PREV } = require('./moves');
const { toBounds } = require('./range');
const { Snapshot } = require('./snapshot');

/** Stands at one entry, and moves in both directions. Databases make it. */
class Cursor {
  #native;
  #database; // keeps the database from being collected
  #isTextKey;
  #isTextValue;

  constructor(database, native, family, options) {
    this.#database = database;
    this.#isTextKey = isText(options.keyEncoding);
    this.#isTextValue = isText(options.valueEncoding);
    const { lower, upper, after, through } = toBounds(options, family.order);
    if (after !== undefined || through !== undefined) {
      throw new TypeError('in this order of keys a cursor has only the bounds gte and lt');
    }
    const flags = readFlags(options, 'cursor') | (options.values === false ? KEYS_ONLY : 0);
    this.#native = binding.newIterator(
      native,
      ColumnFamily.nativeOf(family),
      flags,
      Snapshot.nativeOf(options.snapshot),
      lower,
      upper,
    );
  }

  get database() {
    return this.#database;
  }

  async seekToFirst() {
    return binding.moveIterator(false, this.#native, FIRST);
  }

  seekToFirstSync() {
    return binding.moveIterator(true, this.#native, FIRST);
  }

  async seekToLast() {
    return binding.moveIterator(false, this.#native, LAST);
  }

  seekToLastSync() {
    return binding.moveIterator(true, this.#native, LAST);
  }

  /** Moves to the first entry whose key is not before `key`. */
  async seek(key) {
    return binding.moveIterator(false, this.#native, SEEK, key);
  }

  seekSync(key) {
    return binding.moveIterator(true, this.#native, SEEK, key);
  }

  /** Moves to the last entry whose key is not after `key`. */
  async seekForPrev(key) {
    return binding.moveIterator(false, this.#native, SEEK_FOR_PREV, key);
  }

  seekForPrevSync(key) {
    return binding.moveIterator(true, this.#native, SEEK_FOR_PREV, key);
  }

  async next() {
    return binding.moveIterator(false, this.#native, NEXT);
  }

  nextSync() {
    return binding.moveIterator(true, this.#native, NEXT);
  }

  async prev() {
    return binding.moveIterator(false, this.#native, PREV);
  }

  prevSync() {
    return binding.moveIterator(true, this.#native, PREV);
  }

  /** Whether the cursor stands at an entry. */
  get valid() {
    return binding.iteratorIsValid(this.#native);
  }

  get key() {
    return binding.iteratorKey(this.#native, this.#isTextKey);
  }

  /** With `values: false`, this reads the value. */
  get value() {
    return binding.iteratorValue(this.#native, this.#isTextValue);
  }

  /** Bytes of the value; if it was not read, as far as the index knows them. */
  get valueSize() {
    return binding.iteratorValueSize(this.#native);
  }

  close() {
    binding.closeIterator(this.#native);
  }
}

if (Symbol.dispose) Cursor.prototype[Symbol.dispose] = Cursor.prototype.close;

module.exports = { Cursor };
