'use strict';

// Prints the sources of the addon, for binding.gyp.
const { readdirSync } = require('node:fs');
const { join } = require('node:path');

const sources = readdirSync(join(__dirname, '..', 'src')).filter((name) => name.endsWith('.cc'));
console.log(sources.sort().map((name) => `src/${name}`).join('\n'));
