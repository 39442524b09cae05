'use strict';

// Measures synchronous reads of a database that has the keys key0000000000 to key0000099999 with values of 1,024 bytes:
//   node bench/bench.js DIRECTORY SECONDS
const { Database } = require('..');

const KEYS = 100_000;

// One Buffer for all keys: a lookup must not wait for the memory of a key that was made long ago.
const key = Buffer.from('key0000000000');

function keyOf(number) {
  for (let at = key.length - 1, rest = number; at > 2; --at) {
    key[at] = 48 + (rest % 10);
    rest = Math.trunc(rest / 10);
  }
  return key;
}

function nanoseconds() {
  return Number(process.hrtime.bigint());
}

function measureGets(db, seconds) {
  let state = 0x9e3779b9;
  const next = () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % KEYS;
  };
  for (let i = 0; i < KEYS; ++i) db.getSync(keyOf(i)); // warms caches and the compiler
  const end = nanoseconds() + seconds * 1e9;
  let gets = 0;
  const begin = nanoseconds();
  let now = begin;
  while (now < end) {
    for (let i = 0; i < 1000; ++i) {
      if (db.getSync(keyOf(next())).length !== 1024) throw new Error('a value has not 1,024 bytes');
    }
    gets += 1000;
    now = nanoseconds();
  }
  return (now - begin) / gets;
}

function measureScan(db) {
  const scan = () => {
    let entries = 0;
    const iterator = db.iterator();
    for (;;) {
      const chunk = iterator.nextChunkSync();
      if (chunk.length === 0) break;
      for (const [, value] of chunk) {
        if (value.length !== 1024) throw new Error('a value has not 1,024 bytes');
        ++entries;
      }
    }
    iterator.close();
    return entries;
  };
  for (let i = 0; i < 3; ++i) scan(); // warms caches and the compiler
  const begin = nanoseconds();
  const entries = scan();
  return (nanoseconds() - begin) / entries;
}

function main([directory, seconds]) {
  if (directory === undefined || !(Number(seconds) > 0)) {
    console.error('usage: node bench/bench.js DIRECTORY SECONDS');
    return 2;
  }
  const db = Database.openSync(directory, { readOnly: true });
  try {
    console.log(`get 1024: ${measureGets(db, Number(seconds)).toFixed(0)} ns`);
    console.log(`scan 1024: ${measureScan(db).toFixed(0)} ns per entry`);
  } finally {
    db.closeSync();
  }
  return 0;
}

process.exitCode = main(process.argv.slice(2));
