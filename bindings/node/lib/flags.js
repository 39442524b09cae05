'use strict';

// Options of reads and writes as bits, as in src/options.h.

function readFlags(options) {
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

function writeFlags(options) {
  if (options === undefined || options === null) return 0;
  return (options.sync ? 1 : 0) | (options.noSlowdown ? 2 : 0) | (options.disableWAL ? 4 : 0);
}

// Whether values or keys are to be strings.
function isText(encoding) {
  if (encoding === undefined || encoding === 'buffer') return false;
  if (encoding === 'utf8') return true;
  throw new TypeError(`an encoding must be 'buffer' or 'utf8', not ${String(encoding)}`);
}

module.exports = { KEYS_ONLY, isText, readFlags, writeFlags };
