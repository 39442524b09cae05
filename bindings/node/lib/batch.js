'use strict';

const { binding } = require('./binding');
const { ColumnFamily } = require('./column_family');

function familyOf(options) {
  const family = options?.columnFamily;
  if (family === undefined || family === null) return undefined;
  if (!ColumnFamily.is(family)) throw new TypeError('columnFamily must be a ColumnFamily');
  return ColumnFamily.nativeOf(family);
}

/** Operations that a database applies as a whole, over all its column families. */
class WriteBatch {
  #native;

  constructor() {
    this.#native = binding.newBatch();
  }

  /** Makes a batch again from the bytes of toBuffer(). */
  static from(bytes) {
    const batch = new WriteBatch();
    batch.#native = binding.batchFrom(bytes);
    return batch;
  }

  put(key, value, options) {
    binding.batchPut(this.#native, familyOf(options), key, value);
    return this;
  }

  delete(key, options) {
    binding.batchDelete(this.#native, familyOf(options), key);
    return this;
  }

  singleDelete(key, options) {
    binding.batchSingleDelete(this.#native, familyOf(options), key);
    return this;
  }

  /** Deletes the keys in [start, end) as they are at this point of the batch. */
  deleteRange(start, end, options) {
    binding.batchDeleteRange(this.#native, familyOf(options), start, end);
    return this;
  }

  /** Appends all operations of another batch. */
  append(other) {
    binding.batchAppend(this.#native, WriteBatch.nativeOf(other));
    return this;
  }

  clear() {
    binding.batchClear(this.#native);
    return this;
  }

  get length() {
    return binding.batchCount(this.#native);
  }

  setSavePoint() {
    binding.batchSetSavePoint(this.#native);
    return this;
  }

  rollbackToSavePoint() {
    binding.batchRollback(this.#native);
    return this;
  }

  popSavePoint() {
    binding.batchPopSavePoint(this.#native);
    return this;
  }

  /** The operations in order. A single delete is reported as a delete. */
  operations() {
    return binding.batchOperations(this.#native).map(([type, columnFamilyId, key, last]) => {
      if (type === 'put') return { type, columnFamilyId, key, value: last };
      if (type === 'delete') return { type, columnFamilyId, key };
      return { type, columnFamilyId, start: key, end: last };
    });
  }

  toBuffer() {
    return binding.batchData(this.#native);
  }

  // The addon's object.
  static nativeOf(batch) {
    if (typeof batch !== 'object' || batch === null || !(#native in batch)) {
      throw new TypeError('the batch must be a WriteBatch');
    }
    return batch.#native;
  }

  // A batch of {type, key, value, ...} objects.
  static of(operations, toFamily) {
    const batch = new WriteBatch();
    const native = batch.#native;
    for (const operation of operations) {
      const family = toFamily(operation.columnFamily);
      switch (operation.type) {
        case 'put':
          binding.batchPut(native, family, operation.key, operation.value);
          break;
        case 'delete':
        case 'del':
          binding.batchDelete(native, family, operation.key);
          break;
        case 'deleteRange':
          binding.batchDeleteRange(native, family, operation.start, operation.end);
          break;
        default:
          throw new TypeError(
            `the type of an operation must be 'put', 'delete' or 'deleteRange', not ${operation.type}`,
          );
      }
    }
    return batch;
  }
}

module.exports = { WriteBatch };
