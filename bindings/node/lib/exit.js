'use strict';

// What has to be done at process.exit() if JavaScript compares or filters keys. Node.js waits for calls that run on
// other threads, and they may wait for JavaScript, which has ended.
const { binding } = require('./binding');

let comparing = 0; // calls that compare keys in JavaScript and belong to no open database, such as Database.open
let isWatching = false;

// To be called before JavaScript functions are given to the library.
function watchExit() {
  if (isWatching) return;
  isWatching = true;
  process.on('exit', (code) => {
    // A call that compares keys cannot end, so the process ends at once.
    if (comparing > 0 || binding.isComparing()) binding.exitNow(code);
    // Filters that cannot be asked keep everything, so calls that wait for one end.
    binding.abandonFunctions();
  });
}

// Waits for the promise of such a call.
async function whileComparing(promise) {
  ++comparing;
  try {
    return await promise;
  } finally {
    --comparing;
  }
}

module.exports = { watchExit, whileComparing };
