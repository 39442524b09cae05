'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');
const cambium = require('cambium');
const { makeError } = require('../lib/errors');

test('each text of a status has its class and code', () => {
  const expected = {
    'NotFound: x': ['NotFoundError', 'CAMBIUM_NOT_FOUND'],
    'Corruption: x': ['CorruptionError', 'CAMBIUM_CORRUPTION'],
    'Not implemented: x': ['NotSupportedError', 'CAMBIUM_NOT_SUPPORTED'],
    'Invalid argument: x': ['InvalidArgumentError', 'CAMBIUM_INVALID_ARGUMENT'],
    'IO error: x': ['IOError', 'CAMBIUM_IO_ERROR'],
    'IO error (no space): x': ['NoSpaceError', 'CAMBIUM_NO_SPACE'],
    'IO error (locked): x': ['LockedError', 'CAMBIUM_LOCKED'],
    'Result incomplete': ['IncompleteError', 'CAMBIUM_INCOMPLETE'],
    'Shutdown in progress: x': ['ShutdownInProgressError', 'CAMBIUM_SHUTDOWN_IN_PROGRESS'],
    'Operation timed out: x': ['TimedOutError', 'CAMBIUM_TIMED_OUT'],
    'Operation aborted: out of memory': ['AbortedError', 'CAMBIUM_ABORTED'],
    'Resource busy: x': ['BusyError', 'CAMBIUM_BUSY'],
    'Column family dropped: x': ['ColumnFamilyDroppedError', 'CAMBIUM_COLUMN_FAMILY_DROPPED'],
    'Closed: x': ['ClosedError', 'CAMBIUM_CLOSED'],
    'something else': ['CambiumError', 'CAMBIUM_ERROR'],
  };
  for (const [text, [name, code]] of Object.entries(expected)) {
    const error = makeError(text);
    assert.ok(error instanceof cambium[name] && error instanceof cambium.CambiumError && error instanceof Error);
    assert.deepEqual([error.name, error.code, error.message, error.fatal], [name, code, text, false]);
  }
  assert.ok(makeError('IO error (no space) (fatal until reopened): x').fatal);
  assert.ok(makeError('IO error (no space): x') instanceof cambium.IOError);
});

test('the addon checks the objects that it gets', () => {
  const { binding } = require('../lib/binding');
  assert.throws(() => binding.getDefault({}, 'key'), TypeError);
  assert.throws(() => binding.getDefault(binding.newBatch(), 'key'), TypeError);
  assert.throws(() => binding.batchPut(undefined), TypeError);
  for (const [name, call] of Object.entries(binding)) {
    if (['abandonFunctions', 'exitNow', 'initialize', 'isComparing', 'newBatch', 'versions'].includes(name)) continue;
    // Some reject a promise, none may crash.
    assert.throws(() => call(), undefined, name);
  }
});
