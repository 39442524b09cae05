'use strict';

// The range of an iterator as bounds of the library: the lower one included, the upper one excluded.
const { Order } = require('./column_family');
const { InvalidArgumentError } = require('./errors');

// A copy, so that later changes of `key` have no effect.
function toBytes(key, what) {
  if (typeof key === 'string') return Buffer.from(key);
  if (ArrayBuffer.isView(key)) return Buffer.from(Buffer.from(key.buffer, key.byteOffset, key.byteLength));
  throw new TypeError(`${what} must be a string, a Buffer or another view of an ArrayBuffer`);
}

// The first key after `key` in the order of bytes.
function next(key) {
  return Buffer.concat([key, Buffer.alloc(1)]);
}

// The first key after all keys that begin with `prefix`; undefined if there is none.
function afterPrefix(prefix) {
  let length = prefix.length;
  while (length > 0 && prefix[length - 1] === 255) --length;
  if (length === 0) return undefined;
  const after = Buffer.from(prefix.subarray(0, length));
  ++after[length - 1];
  return after;
}

// Returns {lower, upper, after, through}. With orders other than that of bytes, no bound can express `gt` and `lte`:
// `after` and `through` are then the keys to look for in the database.
function toBounds(options, order) {
  const given = ['gt', 'gte', 'lt', 'lte', 'prefix'].filter((name) => options[name] !== undefined);
  const clash = [
    ['gt', 'gte'],
    ['lt', 'lte'],
  ].find((pair) => pair.every((name) => given.includes(name)));
  if (clash !== undefined) throw new TypeError(`${clash[0]} and ${clash[1]} exclude each other`);
  if (given.includes('prefix') && given.length > 1) throw new TypeError('prefix excludes other bounds');
  const bound = Object.fromEntries(given.map((name) => [name, toBytes(options[name], name)]));

  if (bound.prefix !== undefined) {
    if (order !== Order.BYTEWISE) {
      throw new InvalidArgumentError('Invalid argument: a prefix is a range only in the order of bytes');
    }
    return { lower: bound.prefix, upper: afterPrefix(bound.prefix) };
  }
  if (order === Order.BYTEWISE) {
    return {
      lower: bound.gt === undefined ? bound.gte : next(bound.gt),
      upper: bound.lte === undefined ? bound.lt : next(bound.lte),
    };
  }
  return { lower: bound.gte, upper: bound.lt, after: bound.gt, through: bound.lte };
}

module.exports = { toBounds, toBytes };
