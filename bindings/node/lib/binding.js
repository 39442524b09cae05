'use strict';

// Loads the addon, once per thread.
const { join } = require('node:path');
const { makeError } = require('./errors');

const binding = require(join(__dirname, '..', 'build', 'Release', 'cambium.node'));
binding.initialize(makeError);

const [headerAbi, libraryAbi, major, minor, patch] = binding.versions();
if (headerAbi !== libraryAbi) {
  throw new Error(
    `cambium was built for version ${headerAbi} of the library's interface, but the library that was loaded has ` +
      `version ${libraryAbi}: build cambium again`,
  );
}

module.exports = { binding, version: `${major}.${minor}.${patch}` };
