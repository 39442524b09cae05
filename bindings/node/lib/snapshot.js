'use strict';

const { binding } = require('./binding');

/** The state of a database at one moment. Databases make it; reads take it as an option. */
class Snapshot {
  #native;
  #database; // keeps the database from being collected

  constructor(database, native) {
    this.#database = database;
    this.#native = native;
  }

  get database() {
    return this.#database;
  }

  get sequenceNumber() {
    return binding.snapshotSequence(this.#native);
  }

  /** Reads and iterators that use the snapshot go on. */
  close() {
    binding.closeSnapshot(this.#native);
  }

  // The addon's object of the snapshot in an option.
  static nativeOf(snapshot) {
    if (snapshot === undefined || snapshot === null) return undefined;
    if (typeof snapshot !== 'object' || !(#native in snapshot)) throw new TypeError('snapshot must be a Snapshot');
    return snapshot.#native;
  }
}

if (Symbol.dispose) Snapshot.prototype[Symbol.dispose] = Snapshot.prototype.close;

module.exports = { Snapshot };
