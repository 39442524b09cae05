'use strict';

// Values of synchronous reads. Small ones share a block of memory, as in Node.js's own Buffer pool: a Buffer of its own
// for each value would cost more than the read.
const { markAsUntransferable } = require('node:worker_threads');
const { binding } = require('./binding');

const BLOCK = 64 * 1024;
const ROOM = 4 * 1024; // a block with less room is given up

let block;
let offset;

function newBlock() {
  block = Buffer.allocUnsafeSlow(BLOCK);
  markAsUntransferable(block.buffer);
  offset = 0;
}
newBlock();

// Reads a key of the default family with default options.
function getPooled(native, key) {
  const got = binding.getIntoPool(native, key, block, offset);
  if (typeof got !== 'number') return got; // a value that does not fit, or undefined
  const start = offset;
  const value = block.subarray(start, start + got);
  offset = start + ((got + 7) & ~7);
  if (offset > BLOCK - ROOM) newBlock();
  return value;
}

module.exports = { getPooled };
