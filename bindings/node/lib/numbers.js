'use strict';

// Numbers in options. The addon takes whole numbers only; what is none is refused here.
const { InvalidArgumentError } = require('./errors');

function checkWhole(value, given, what, orInfinity) {
  if (typeof given !== 'number') throw new TypeError(`${what} must be a number`);
  if (Number.isSafeInteger(value) && value >= 0) return;
  throw new InvalidArgumentError(
    `Invalid argument: ${what} is ${given}; it must be a whole number from 0 to 2 ** 53 - 1${orInfinity}`,
  );
}

/** A size or a count. */
function toCount(given, what) {
  checkWhole(given, given, what, '');
  return given;
}

/** A count that may be Infinity, without limit: then the addon takes -1. */
function toLimit(given, what) {
  if (given === Infinity) return -1;
  checkWhole(given, given, what, ', or Infinity');
  return given;
}

/** The same for milliseconds, of which a part counts as a whole one. */
function toMilliseconds(given, what) {
  if (given === Infinity) return -1;
  checkWhole(Math.ceil(given), given, what, ', or Infinity');
  return Math.ceil(given);
}

module.exports = { toCount, toLimit, toMilliseconds };
