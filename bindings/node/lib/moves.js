'use strict';

// The moves of an iterator, as src/iterator.h numbers them.
module.exports = Object.freeze({ FIRST: 0, LAST: 1, SEEK: 2, SEEK_FOR_PREV: 3, NEXT: 4, PREV: 5 });
