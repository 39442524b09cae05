'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');
const cambium = require('cambium');
const { binding } = require('../lib/binding');

test('each error of the library has its class and code', () => {
  const expected = {
    'NotFound: x': ['NotFoundError', 'CAMBIUM_NOT_FOUND'],
    'Corruption: x': ['CorruptionError', 'CAMBIUM_CORRUPTION'],
    'Not implemented: x': ['NotSupportedError', 'CAMBIUM_NOT_SUPPORTED'],
    'Invalid argument: x': ['InvalidArgumentError', 'CAMBIUM_INVALID_ARGUMENT'],
    'IO error: x': ['IOError', 'CAMBIUM_IO_ERROR'],
    'IO error (no space): x': ['NoSpaceError', 'CAMBIUM_NO_SPACE'],
    'IO error (locked): x': ['LockedError', 'CAMBIUM_LOCKED'],
    'IO error (not found): x': ['PathNotFoundError', 'CAMBIUM_PATH_NOT_FOUND'],
    'IO error (denied): x': ['DeniedError', 'CAMBIUM_DENIED'],
    'Result incomplete': ['IncompleteError', 'CAMBIUM_INCOMPLETE'],
    'Shutdown in progress: x': ['ShutdownInProgressError', 'CAMBIUM_SHUTDOWN_IN_PROGRESS'],
    'Operation timed out: x': ['TimedOutError', 'CAMBIUM_TIMED_OUT'],
    'Operation timed out (lock): x': ['LockTimeoutError', 'CAMBIUM_LOCK_TIMEOUT'],
    'Operation aborted: x': ['AbortedError', 'CAMBIUM_ABORTED'],
    'Operation aborted (out of memory)': ['OutOfMemoryError', 'CAMBIUM_OUT_OF_MEMORY'],
    'Resource busy: x': ['BusyError', 'CAMBIUM_BUSY'],
    'Resource busy (deadlock): x': ['DeadlockError', 'CAMBIUM_DEADLOCK'],
    'Resource busy (lock limit): x': ['LockLimitError', 'CAMBIUM_LOCK_LIMIT'],
    'Operation expired: x': ['ExpiredError', 'CAMBIUM_EXPIRED'],
    'Operation failed. Try again.: x': ['TryAgainError', 'CAMBIUM_TRY_AGAIN'],
    'Column family dropped: x': ['ColumnFamilyDroppedError', 'CAMBIUM_COLUMN_FAMILY_DROPPED'],
    'Closed: x': ['ClosedError', 'CAMBIUM_CLOSED'],
    'something else': ['CambiumError', 'CAMBIUM_ERROR'],
  };
  for (const [text, [name, code]] of Object.entries(expected)) {
    const error = binding.makeError(text);
    assert.ok(error instanceof cambium[name] && error instanceof cambium.CambiumError && error instanceof Error);
    assert.deepEqual([error.name, error.code, error.message, error.fatal], [name, code, text, false]);
  }
  assert.ok(binding.makeError('IO error (no space) (fatal until reopened): x').fatal);
  assert.ok(!binding.makeError('IO error: (fatal until reopened)').fatal);
  for (const [text, name] of [
    ['IO error (no space): x', 'IOError'],
    ['IO error (not found): x', 'IOError'],
    ['Operation timed out (lock): x', 'TimedOutError'],
    ['Resource busy (deadlock): x', 'BusyError'],
    ['Operation aborted (out of memory)', 'AbortedError'],
  ]) {
    assert.ok(binding.makeError(text) instanceof cambium[name], text);
  }
});

test('the addon checks the objects that it gets', () => {
  assert.throws(() => binding.getDefault({}, 'key'), TypeError);
  assert.throws(() => binding.getDefault(binding.newBatch(), 'key'), TypeError);
  assert.throws(() => binding.batchPut(undefined), TypeError);
  const withoutArguments = ['abandonFunctions', 'exitNow', 'initialize', 'isComparing', 'newBatch', 'newConditions',
    'versions'];
  for (const [name, call] of Object.entries(binding)) {
    if (withoutArguments.includes(name)) continue;
    // Some reject a promise, none may crash.
    assert.throws(() => call(), undefined, name);
  }
});
