'use strict';

const { InvalidArgumentError } = require('./errors');

// How the keys of a family are ordered, as src/options.h numbers it.
const Order = Object.freeze({ BYTEWISE: 0, REVERSE_BYTEWISE: 1, FUNCTION: 2 });

/** A column family of an open database. Databases make it. */
class ColumnFamily {
  #native;
  #database;

  constructor(database, [native, name, id, order]) {
    this.#database = database;
    this.#native = native;
    this.name = name;
    this.id = id;
    Object.defineProperty(this, 'order', { value: order });
    Object.freeze(this);
  }

  get database() {
    return this.#database;
  }

  // The addon's object.
  static nativeOf(family) {
    return family.#native;
  }

  static is(value) {
    return typeof value === 'object' && value !== null && #native in value;
  }
}

// The addon's object of the family in an option, or undefined for the default family.
function familyOf(database, columnFamily) {
  if (columnFamily === undefined || columnFamily === null) return undefined;
  if (ColumnFamily.is(columnFamily)) return ColumnFamily.nativeOf(columnFamily);
  if (typeof columnFamily === 'string') {
    const family = database.columnFamily(columnFamily);
    if (family === undefined) {
      throw new InvalidArgumentError(`Invalid argument: no column family '${columnFamily}' is open`);
    }
    return ColumnFamily.nativeOf(family);
  }
  throw new TypeError('columnFamily must be a ColumnFamily, or the name of an open one');
}

module.exports = { ColumnFamily, Order, familyOf };
