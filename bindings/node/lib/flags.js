'use strict';

// Options of reads and writes as bits, as in src/options.h.
const { InvalidArgumentError } = require('./errors');

const ofReads = ['verifyChecksums', 'fillCache', 'asyncIO', 'durableOnly', 'pinMappedValues', 'snapshot'];
const ofWrites = ['sync', 'noSlowdown', 'disableWAL'];
const ofRanges = ['gt', 'gte', 'lt', 'lte', 'prefix'];

// The names of the options that the calls have.
const names = {
  get: new Set([...ofReads, 'columnFamily', 'encoding', 'signal']),
  iterator: new Set([...ofReads, ...ofRanges, 'columnFamily', 'highWaterMarkBytes', 'keyEncoding', 'limit', 'reverse',
    'signal', 'valueEncoding']),
  cursor: new Set([...ofReads, ...ofRanges, 'columnFamily', 'keyEncoding', 'valueEncoding', 'values']),
  verifyChecksums: new Set(ofReads),
  put: new Set([...ofWrites, 'columnFamily', 'signal']),
  write: new Set([...ofWrites, 'signal']),
  transaction: new Set([...ofWrites, 'snapshot', 'readNewest', 'deadlockDetect', 'lockTimeout', 'expiration',
    'maxWriteBatchSize', 'skipPrepare']),
  transactionLocks: new Set(['maxLocks', 'stripes', 'lockTimeout', 'writeLockTimeout']),
  indexedBatch: new Set(['maxBytes']),
  // Of transactions and indexed batches.
  overlayGet: new Set(['columnFamily', 'encoding']),
  overlayGetForUpdate: new Set(['columnFamily', 'encoding', 'shared']),
  overlayPut: new Set(['columnFamily']),
  overlayWrite: new Set(ofWrites),
};

// A name that the call does not have is an error: it may be misspelt, and the call would do something else.
function checkNames(given, call) {
  for (const name of Object.keys(given)) {
    if (!names[call].has(name)) {
      throw new InvalidArgumentError(
        `Invalid argument: there is no option ${name} here; there are ${[...names[call]].join(', ')}`,
      );
    }
  }
}

function readFlags(options, call) {
  checkNames(options, call);
  let flags = 0;
  if (options.verifyChecksums === false) flags |= 1;
  if (options.fillCache === false) flags |= 2;
  if (options.asyncIO === false) flags |= 4;
  if (options.durableOnly) flags |= 8;
  if (options.pinMappedValues) flags |= 16;
  return flags;
}

// Iterators only: moves read no values.
const KEYS_ONLY = 32;

function writeFlags(options, call) {
  if (options === undefined || options === null) return 0;
  checkNames(options, call);
  return (options.sync ? 1 : 0) | (options.noSlowdown ? 2 : 0) | (options.disableWAL ? 4 : 0);
}

// Whether values or keys are to be strings.
function isText(encoding) {
  if (encoding === undefined || encoding === 'buffer') return false;
  if (encoding === 'utf8') return true;
  throw new TypeError(`an encoding must be 'buffer' or 'utf8', not ${String(encoding)}`);
}

module.exports = { KEYS_ONLY, checkNames, isText, readFlags, writeFlags };
