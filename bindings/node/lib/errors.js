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
    this.fatal = false;
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
  // Not of the library: a database, an iterator, a snapshot or a backup engine was used after it was closed, or a
  // transaction or an indexed batch after it had ended.
  ClosedError: class ClosedError extends define('CAMBIUM_CLOSED') {},
};
classes.NoSpaceError = class NoSpaceError extends define('CAMBIUM_NO_SPACE', classes.IOError) {};
classes.LockedError = class LockedError extends define('CAMBIUM_LOCKED', classes.IOError) {};
classes.PathNotFoundError = class PathNotFoundError extends define('CAMBIUM_PATH_NOT_FOUND', classes.IOError) {};
classes.DeniedError = class DeniedError extends define('CAMBIUM_DENIED', classes.IOError) {};
classes.LockTimeoutError = class LockTimeoutError extends define('CAMBIUM_LOCK_TIMEOUT', classes.TimedOutError) {};
classes.DeadlockError = class DeadlockError extends define('CAMBIUM_DEADLOCK', classes.BusyError) {};
classes.LockLimitError = class LockLimitError extends define('CAMBIUM_LOCK_LIMIT', classes.BusyError) {};
classes.OutOfMemoryError = class OutOfMemoryError extends define('CAMBIUM_OUT_OF_MEMORY', classes.AbortedError) {};

// The classes for the codes and subcodes of c.h.
const byCode = {
  1: classes.NotFoundError,
  2: classes.CorruptionError,
  3: classes.NotSupportedError,
  4: classes.InvalidArgumentError,
  5: classes.IOError,
  7: classes.IncompleteError,
  8: classes.ShutdownInProgressError,
  9: classes.TimedOutError,
  10: classes.AbortedError,
  11: classes.BusyError,
  12: classes.ExpiredError,
  13: classes.TryAgainError,
  15: classes.ColumnFamilyDroppedError,
};
const bySubcode = {
  1: classes.NoSpaceError,
  2: classes.LockedError,
  3: classes.PathNotFoundError,
  4: classes.DeniedError,
  5: classes.LockTimeoutError,
  6: classes.DeadlockError,
  7: classes.LockLimitError,
  8: classes.OutOfMemoryError,
};

// Makes the error for a text, of which the library has said code, subcode and severity.
function makeError(text, code, subcode, isFatal) {
  const isClosed = text.startsWith('Closed'); // the addon's own
  const Class = bySubcode[subcode] ?? byCode[code] ?? (isClosed ? classes.ClosedError : CambiumError);
  const error = new Class(text);
  error.fatal = isFatal;
  return error;
}

module.exports = { ...classes, makeError };
