'use strict';

const assert = require('node:assert/strict');
const { spawnSync } = require('node:child_process');
const { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');
const { test } = require('node:test');
const { Database } = require('cambium');
const cambium = require('cambium');
const { directory } = require('./helpers');

const root = join(__dirname, '..');
const readme = readFileSync(join(root, 'README.md'), 'utf8');
const expected = 'oak: a ring a year\nash: white wood\nelm: twisted grain\n';

test('the quickstart of README.md is the example, and works', (t) => {
  const code = /```js\n('use strict';[^]*?)```/.exec(readme)[1];
  assert.equal(code, readFileSync(join(root, 'examples', 'quickstart.js'), 'utf8'));
  const result = spawnSync(process.execPath, [join(root, 'examples', 'quickstart.js'), join(directory(t), 'db')], {
    encoding: 'utf8',
  });
  assert.equal(result.stdout, expected, result.stderr);
  assert.equal(result.status, 0);
});

test('the transfers of the example work', (t) => {
  const result = spawnSync(process.execPath, [join(root, 'examples', 'transfer.js'), join(directory(t), 'db')], {
    encoding: 'utf8',
  });
  assert.equal(result.stdout, 'not enough money\nanna has 30\nben has 70\n', result.stderr);
  assert.equal(result.status, 0);
});

test('the other pieces of code in README.md run', (t) => {
  const pieces = [...readme.matchAll(/```js\n([^]*?)```/g)].map((match) => match[1]);
  const others = pieces.filter((piece) => !piece.startsWith("'use strict'"));
  assert.ok(others.length >= 4);
  const path = directory(t);
  // As in a project that has the package: each piece is an ES module of its own.
  mkdirSync(join(path, 'node_modules'));
  symlinkSync(root, join(path, 'node_modules', 'cambium'));
  others.forEach((piece, i) => {
    assert.doesNotMatch(piece, /^const .* = require\(/m);
    const script = join(path, `piece${i}.mjs`);
    writeFileSync(script, piece);
    const result = spawnSync(process.execPath, [script], { cwd: path, encoding: 'utf8', timeout: 30_000 });
    assert.equal(result.status, 0, `${piece}\n${result.stderr}`);
  });
});

test('README.md names each error', () => {
  for (const name of Object.keys(cambium).filter((each) => each.endsWith('Error'))) {
    assert.ok(readme.includes(`\`${name}\``), name);
  }
});

test('the lines of README.md have at most 120 characters', () => {
  for (const line of readme.split('\n')) assert.ok(line.length <= 120 || line.startsWith('|'), line);
});

test('the benchmark prints its two lines', async (t) => {
  const path = join(directory(t), 'db');
  const db = await Database.open(path, { createIfMissing: true });
  const value = Buffer.alloc(1024, 'v');
  for (let i = 0; i < 100_000; i += 1000) {
    await db.write(
      Array.from({ length: 1000 }, (_, j) => ({ type: 'put', key: `key${String(i + j).padStart(10, '0')}`, value })),
    );
  }
  await db.flush();
  await db.close();
  const bench = spawnSync(process.execPath, [join(root, 'bench', 'bench.js'), path, '0.2'], { encoding: 'utf8' });
  assert.match(bench.stdout, /^get 1024: \d+ ns\nscan 1024: \d+ ns per entry\n$/, bench.stderr);
  assert.equal(spawnSync(process.execPath, [join(root, 'bench', 'bench.js')]).status, 2);
});

test('the package has what it needs, and nothing else', () => {
  const result = spawnSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], { cwd: root, encoding: 'utf8' });
  const [{ files }] = JSON.parse(result.stdout);
  const paths = files.map(({ path }) => path);
  for (const path of ['package.json', 'README.md', 'LICENSE', 'binding.gyp', 'index.d.ts', 'index.d.mts', 'level.d.ts',
    'level.d.mts', 'lib/index.js', 'lib/index.mjs', 'lib/level.js', 'lib/level.mjs', 'scripts/flags.js',
    'scripts/sources.js', 'src/addon.cc', 'examples/quickstart.js']) {
    assert.ok(paths.includes(path), path);
  }
  assert.ok(!paths.some((path) => /^(build|node_modules|test)\//.test(path)), paths.join(' '));
  assert.ok(existsSync(join(root, 'LICENSE')));
});
