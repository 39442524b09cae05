'use strict';

// Prints the compiler's or the linker's flags for the Cambium library, for binding.gyp:
//   node scripts/flags.js cflags | libs
// CAMBIUM_PREFIX names the directory that has include/ and lib/. Without it, pkg-config is asked.
const { execFileSync } = require('node:child_process');
const { existsSync } = require('node:fs');
const { join, resolve } = require('node:path');

const what = process.argv[2];
const prefix = process.env.CAMBIUM_PREFIX;

function fail(text) {
  console.error(text);
  process.exit(1);
}

if (what !== 'cflags' && what !== 'libs') fail('usage: node scripts/flags.js cflags | libs');
if (prefix) {
  const root = resolve(prefix);
  const header = join(root, 'include', 'cambium', 'c.h');
  if (!existsSync(header)) fail(`CAMBIUM_PREFIX is ${root}, but ${header} does not exist`);
  const lib = join(root, 'lib');
  console.log(what === 'cflags' ? `-I${join(root, 'include')}` : `-L${lib} -Wl,-rpath,${lib} -lcambium`);
} else {
  try {
    const options = [what === 'cflags' ? '--cflags' : '--libs', 'cambium'];
    console.log(execFileSync('pkg-config', options, { encoding: 'utf8' }).trim());
  } catch {
    fail('the Cambium library was not found: install it, or set CAMBIUM_PREFIX to the directory of include/ and lib/');
  }
}
