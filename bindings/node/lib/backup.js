'use strict';

const { binding } = require('./binding');
const { Database } = require('./database');
const { toSpec } = require('./options');

const none = Object.freeze({});
const internal = Symbol('internal');

/** Backups of databases in a directory of their own. A backup adds only what has changed since earlier ones. */
class BackupEngine {
  #native;
  #closing = null;

  constructor(token, native) {
    if (token !== internal) throw new TypeError('call BackupEngine.open()');
    this.#native = native;
  }

  /** Opens a directory of backups. It is created if it does not exist, except with the option `readOnly`. */
  static async open(directory, options = none) {
    const { readOnly = false, ...rest } = options;
    return new BackupEngine(internal, await binding.openBackups(toSpec(rest), directory, readOnly));
  }

  /** Closes when the calls that have begun have ended. */
  close() {
    this.#closing ??= binding.closeBackups(this.#native);
    return this.#closing;
  }

  async createBackup(database, options = none) {
    return binding.createBackup(this.#native, Database.nativeOf(database), Boolean(options.flush));
  }

  /** Backs up a database that no process has open for writing. */
  async createBackupOffline(path) {
    return binding.createBackupOffline(this.#native, path);
  }

  /** Whether new backups compare the contents of their files with the checksums in them; they do by default. */
  setVerifyChecksums(value) {
    binding.setVerifyChecksums(this.#native, value);
  }

  /** Makes the running calls that write, and all later ones, end with an IncompleteError. It cannot be undone. */
  stopBackup() {
    binding.stopBackup(this.#native);
  }

  /** The backups that can be read, in the order of their ids. */
  async list() {
    return binding.listBackups(this.#native);
  }

  /** The ids of backups that cannot be read. */
  async listCorrupted() {
    return binding.listCorruptedBackups(this.#native);
  }

  /** Checks the files of a backup; with `checksums`, every byte. */
  async verify(id, options = none) {
    return binding.verifyBackup(this.#native, id, Boolean(options.checksums));
  }

  /** Creates a database in `directory`, which must not exist. */
  async restore(id, directory) {
    return binding.restoreBackup(this.#native, directory, id);
  }

  async restoreLatest(directory) {
    return binding.restoreBackup(this.#native, directory);
  }

  async delete(id) {
    return binding.deleteBackup(this.#native, id);
  }

  /** Deletes all but the newest `count` backups. */
  async purge(count) {
    return binding.purgeBackups(this.#native, count);
  }

  /** Removes files that no backup has. */
  async collectGarbage() {
    return binding.collectGarbage(this.#native);
  }
}

if (Symbol.asyncDispose) BackupEngine.prototype[Symbol.asyncDispose] = BackupEngine.prototype.close;

module.exports = { BackupEngine };
