'use strict';

const { BackupEngine } = require('./backup');
const { WriteBatch } = require('./batch');
const { version } = require('./binding');
const { ColumnFamily } = require('./column_family');
const { Cursor } = require('./cursor');
const { Database } = require('./database');
const errors = require('./errors');
const { EntryIterator } = require('./iterator');
const { RateLimiter, WriteBufferManager } = require('./limits');
const { Snapshot } = require('./snapshot');
const { Statistics } = require('./statistics');
const { IndexedBatch, Transaction } = require('./transaction');

const { makeError: _, ...classes } = errors;

module.exports = {
  ...classes,
  BackupEngine,
  ColumnFamily,
  Cursor,
  Database,
  EntryIterator,
  IndexedBatch,
  RateLimiter,
  Snapshot,
  Statistics,
  Transaction,
  WriteBatch,
  WriteBufferManager,
  version,
};
