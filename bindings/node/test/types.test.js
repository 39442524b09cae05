'use strict';

const assert = require('node:assert/strict');
const { spawnSync } = require('node:child_process');
const { join } = require('node:path');
const { test } = require('node:test');
const cambium = require('cambium');

test('the types compile, and reject wrong calls', () => {
  const tsc = require.resolve('typescript/bin/tsc');
  const result = spawnSync(process.execPath, [tsc, '-p', join(__dirname, 'types')], { encoding: 'utf8' });
  assert.equal(result.stdout, '');
  assert.equal(result.status, 0);
});

test('the types name what the package exports, and nothing else', () => {
  const { readFileSync } = require('node:fs');
  const declared = readFileSync(join(__dirname, '..', 'index.d.ts'), 'utf8');
  const names = [...declared.matchAll(/^export (?:class|const) (\w+)/gm)].map((match) => match[1]);
  assert.deepEqual(names.sort(), Object.keys(cambium).sort());
  for (const name of ['Database', 'EntryIterator', 'Cursor', 'WriteBatch', 'Snapshot', 'BackupEngine', 'Statistics',
    'RateLimiter', 'WriteBufferManager', 'Transaction', 'IndexedBatch']) {
    const body = declared.split(new RegExp(`^export class ${name}\\b`, 'm'))[1].split(/^}/m)[0];
    const internal = ['constructor', 'nativeOf', 'of', 'is', 'native', '_make', '_makePrepared'];
    const isPublic = (each) => !internal.includes(each);
    const members = [
      ...Object.getOwnPropertyNames(cambium[name].prototype),
      ...Object.getOwnPropertyNames(cambium[name]).filter((each) => typeof cambium[name][each] === 'function'),
    ];
    for (const member of members.filter(isPublic)) {
      assert.match(body, new RegExp(`\\b${member}\\b`), `${name}.${member}`);
    }
  }
});

test('the module for import exports the same', async () => {
  const module = await import('cambium');
  const { default: _, ...names } = module;
  assert.deepEqual(Object.keys(names).sort(), Object.keys(cambium).sort());
  assert.equal(module.Database, cambium.Database);
  const level = await import('cambium/level');
  assert.equal(level.CambiumLevel, require('cambium/level').CambiumLevel);
});
