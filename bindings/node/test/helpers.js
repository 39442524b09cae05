'use strict';

const { accessSync, constants, mkdtempSync, rmSync } = require('node:fs');
const { tmpdir } = require('node:os');
const { join } = require('node:path');
const { Database } = require('cambium');

// Memory is faster than a disk, and these tests do not pull the plug.
function root() {
  try {
    accessSync('/dev/shm', constants.W_OK);
    return '/dev/shm';
  } catch {
    return tmpdir();
  }
}

// A directory that is removed after the test.
function directory(t) {
  const path = mkdtempSync(join(root(), 'cambium-node-'));
  t.after(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

// An open database that is closed after the test. A path may be given to open one again.
async function openDatabase(t, options = {}, path = join(directory(t), 'db')) {
  const db = await Database.open(path, { createIfMissing: true, ...options });
  t.after(() => db.close());
  return db;
}

// For assert.rejects and assert.throws: the error has this code.
function hasCode(code, text = '') {
  return (error) => error.code === code && error.message.includes(text);
}

function texts(entries) {
  return entries.map(([key, value]) => [key.toString(), value.toString()]);
}

module.exports = { directory, hasCode, openDatabase, root, texts };
