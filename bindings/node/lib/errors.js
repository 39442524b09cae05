'use strict';

// The errors of the library. `code` tells them apart; each code has a class.

/** An error of the library. */
class CambiumError extends Error {
  /**
   * @param {string} message the text of the status
   * @param {string} code
   */
  constructor(message, code = 'CAMBIUM_ERROR') {
    super(message);
    this.code = code;
    // The database takes no writes until it is opened again.
    this.fatal = message.includes('(fatal until reopened)');
  }

  get name() {
    return this.constructor.name;
  }
}

function define(code, Base = CambiumError) {
  return class extends Base {
    constructor(message, itsCode = code) {
      super(message, itsCode);
    }
  };
}

const classes = {
  CambiumError,
  NotFoundError: class NotFoundError extends define('CAMBIUM_NOT_FOUND') {},
  CorruptionError: class CorruptionError extends define('CAMBIUM_CORRUPTION') {},
  NotSupportedError: class NotSupportedError extends define('CAMBIUM_NOT_SUPPORTED') {},
  InvalidArgumentError: class InvalidArgumentError extends define('CAMBIUM_INVALID_ARGUMENT') {},
  IOError: class IOError extends define('CAMBIUM_IO_ERROR') {},
  IncompleteError: class IncompleteError extends define('CAMBIUM_INCOMPLETE') {},
  ShutdownInProgressError: class ShutdownInProgressError extends define('CAMBIUM_SHUTDOWN_IN_PROGRESS') {},
  TimedOutError: class TimedOutError extends define('CAMBIUM_TIMED_OUT') {},
  AbortedError: class AbortedError extends define('CAMBIUM_ABORTED') {},
  BusyError: class BusyError extends define('CAMBIUM_BUSY') {},
  ExpiredError: class ExpiredError extends define('CAMBIUM_EXPIRED') {},
  TryAgainError: class TryAgainError extends define('CAMBIUM_TRY_AGAIN') {},
  ColumnFamilyDroppedError: class ColumnFamilyDroppedError extends define('CAMBIUM_COLUMN_FAMILY_DROPPED') {},
  // Not of the library: a database, an iterator, a snapshot or a backup engine was used after it was closed.
  ClosedError: class ClosedError extends define('CAMBIUM_CLOSED') {},
};
classes.NoSpaceError = class NoSpaceError extends define('CAMBIUM_NO_SPACE', classes.IOError) {};
classes.LockedError = class LockedError extends define('CAMBIUM_LOCKED', classes.IOError) {};

// How texts of statuses begin.
const byPrefix = [
  ['NotFound', classes.NotFoundError],
  ['Corruption', classes.CorruptionError],
  ['Not implemented', classes.NotSupportedError],
  ['Invalid argument', classes.InvalidArgumentError],
  ['IO error (no space)', classes.NoSpaceError],
  ['IO error (locked)', classes.LockedError],
  ['IO error', classes.IOError],
  ['Result incomplete', classes.IncompleteError],
  ['Shutdown in progress', classes.ShutdownInProgressError],
  ['Operation timed out', classes.TimedOutError],
  ['Operation aborted', classes.AbortedError],
  ['Resource busy', classes.BusyError],
  ['Operation expired', classes.ExpiredError],
  ['Operation failed. Try again.', classes.TryAgainError],
  ['Column family dropped', classes.ColumnFamilyDroppedError],
  ['Closed', classes.ClosedError],
];

// Makes the error for the text of a status.
function makeError(text) {
  for (const [prefix, Class] of byPrefix) {
    if (text.startsWith(prefix)) return new Class(text);
  }
  return new CambiumError(text);
}

module.exports = { ...classes, makeError };
