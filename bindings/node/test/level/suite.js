'use strict';

// Runs the published test suite of abstract-level: node suite.js DIRECTORY
const { join } = require('node:path');
const suite = require('abstract-level/test');
const test = require('tape');
const { CambiumLevel } = require('cambium/level');

let databases = 0;
suite({
  test,
  factory: (options) => new CambiumLevel(join(process.argv[2], String(++databases)), options),
});
