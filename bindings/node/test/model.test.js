'use strict';

const assert = require('node:assert/strict');
const { join } = require('node:path');
const { test } = require('node:test');
const { Database, WriteBatch } = require('cambium');
const { directory } = require('./helpers');

const seed = Number(process.env.CAMBIUM_SEED ?? 20261130);

// Whole numbers from 0 to below `limit`.
function makeRandom(start) {
  let state = start >>> 0 || 1;
  return (limit) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % limit;
  };
}

// The same operations on a database and on a Map; all answers must be the same.
class Program {
  constructor(path, order, random) {
    Object.assign(this, { path, random, model: new Map(), compare: order === 'bytewise' ? 1 : -1 });
    this.options = { createIfMissing: true, comparator: order, writeBufferSize: '16K', minBlobSize: 64 };
  }

  // Keys are texts with a character for each byte, which JavaScript orders as the library orders bytes.
  key() {
    const bytes = Array.from({ length: this.random(4) }, () => [0, 1, 97, 255][this.random(4)]);
    return Buffer.from(bytes).toString('latin1');
  }

  value() {
    return Buffer.alloc([0, 1, 50, 100, 5000][this.random(5)], this.random(256)).toString('latin1');
  }

  sorted() {
    return [...this.model].sort(([a], [b]) => this.compare * (a < b ? -1 : a > b ? 1 : 0));
  }

  isBefore(a, b) {
    return this.compare * (a < b ? -1 : a > b ? 1 : 0) < 0;
  }

  apply({ type, key, value, end }) {
    if (type === 'put') {
      this.model.set(key, value);
    } else if (type === 'delete') {
      this.model.delete(key);
    } else {
      for (const each of this.model.keys()) {
        if (!this.isBefore(each, key) && this.isBefore(each, end)) this.model.delete(each);
      }
    }
  }

  operation() {
    const type = ['put', 'put', 'put', 'delete', 'deleteRange'][this.random(5)];
    const operation = { type, key: this.key(), value: this.value(), end: this.key() };
    if (type === 'deleteRange' && this.isBefore(operation.end, operation.key)) {
      [operation.key, operation.end] = [operation.end, operation.key];
    }
    return operation;
  }

  async write() {
    const isSync = this.random(2) === 0;
    const list = Array.from({ length: 1 + this.random(5) }, () => this.operation());
    const bytes = (text) => Buffer.from(text, 'latin1');
    if (list.length === 1) {
      const [{ type, key, value, end }] = list;
      const last = type === 'put' ? [bytes(value)] : type === 'delete' ? [] : [bytes(end)];
      await this.db[isSync ? `${type}Sync` : type](bytes(key), ...last);
    } else {
      const batch = new WriteBatch();
      for (const { type, key, value, end } of list) {
        if (type === 'put') batch.put(bytes(key), bytes(value));
        else if (type === 'delete') batch.delete(bytes(key));
        else batch.deleteRange(bytes(key), bytes(end));
      }
      await this.db[isSync ? 'writeSync' : 'write'](batch);
    }
    list.forEach((operation) => this.apply(operation));
  }

  async read() {
    const key = this.key();
    const bytes = Buffer.from(key, 'latin1');
    const got = this.random(2) === 0 ? this.db.getSync(bytes) : await this.db.get(bytes);
    assert.equal(got?.toString('latin1'), this.model.get(key));
    assert.equal(this.random(2) === 0 ? this.db.hasSync(bytes) : await this.db.has(bytes), this.model.has(key));
  }

  async scan() {
    const range = {};
    let expected = this.sorted();
    const lower = this.key();
    const upper = this.key();
    const which = this.random(9);
    if (which % 3 === 1) range.gte = lower;
    if (which % 3 === 2) range.gt = lower;
    if (which >= 6) range.lte = upper;
    else if (which >= 3) range.lt = upper;
    expected = expected.filter(
      ([key]) =>
        (range.gte === undefined || !this.isBefore(key, lower)) &&
        (range.gt === undefined || this.isBefore(lower, key)) &&
        (range.lt === undefined || this.isBefore(key, upper)) &&
        (range.lte === undefined || !this.isBefore(upper, key)),
    );
    const reverse = this.random(2) === 0;
    if (reverse) expected.reverse();
    const limit = this.random(3) === 0 ? this.random(10) : Infinity;
    const bounds = Object.fromEntries(Object.entries(range).map(([name, key]) => [name, Buffer.from(key, 'latin1')]));
    const iterator = this.db.iterator({ ...bounds, reverse, limit, highWaterMarkBytes: this.random(3) * 5000 });
    const entries = this.random(2) === 0 ? iterator.allSync() : await iterator.all();
    assert.deepEqual(
      entries.map((entry) => entry.map((each) => each.toString('latin1'))),
      expected.slice(0, limit),
    );
  }

  async run(steps) {
    this.db = await Database.open(this.path, this.options);
    for (let i = 0; i < steps; ++i) {
      const step = this.random(100);
      if (step < 55) await this.write();
      else if (step < 80) await this.read();
      else if (step < 96) await this.scan();
      else if (step < 98) await this.db.flush();
      else if (step < 99) await this.db.compactRange();
      else {
        await this.db.close();
        this.db = await Database.open(this.path, this.options);
      }
    }
    await this.db.close();
  }
}

for (const order of ['bytewise', 'reverse-bytewise']) {
  for (const indexType of ['btree', 'lsm']) {
    test(`random programs agree with a map: ${order}, ${indexType}, CAMBIUM_SEED=${seed}`, async (t) => {
      for (let round = 0; round < 3; ++round) {
        const program = new Program(join(directory(t), 'db'), order, makeRandom(seed + round));
        program.options.indexType = indexType;
        await program.run(400);
      }
    });
  }
}
