'use strict';

// Comparators and compaction filters in JavaScript. No exception may leave them.
const { isMainThread } = require('node:worker_threads');
const { InvalidArgumentError, NotSupportedError } = require('./errors');
const { watchExit } = require('./exit');

function checkName(name, what) {
  if (typeof name !== 'string' || name === '') throw new TypeError(`the name of the ${what} must be a string`);
  return name;
}

// There is no answer that would be right if the comparator has none, and a wrong one would damage the order of the
// keys, so the process ends.
function wrapComparator(comparator) {
  if (typeof comparator !== 'object' || comparator === null) {
    throw new InvalidArgumentError(
      "Invalid argument: the comparator must be 'bytewise', 'reverse-bytewise' or {name, compare}",
    );
  }
  const { name, compare } = comparator;
  checkName(name, 'comparator');
  if (typeof compare !== 'function') throw new TypeError('comparator.compare must be a function');
  if (!isMainThread) {
    throw new NotSupportedError(
      'Not implemented: a comparator in JavaScript needs the main thread, because a worker may be terminated while ' +
        'the library waits for an answer',
    );
  }
  watchExit();
  const guarded = (a, b) => {
    try {
      const order = compare(a, b);
      if (typeof order !== 'number' || Number.isNaN(order)) {
        throw new TypeError(`the comparator must return a number, not ${String(order)}`);
      }
      return Math.sign(order);
    } catch (error) {
      process._rawDebug(`cambium: the comparator '${name}' failed:`, error?.stack ?? error);
      return process.abort();
    }
  };
  return { name, compare: guarded };
}

const KEEP = 0;
const REMOVE = 1;
const CHANGE = 2;
const SKIP = 3;
const UNDETERMINED = 8;

function toAnswer(answer, isByKey) {
  if (answer === undefined || answer === false || answer === 'keep') return KEEP;
  if (answer === true || answer === 'remove') return REMOVE;
  if (isByKey && answer === 'undetermined') return UNDETERMINED;
  if (typeof answer === 'object' && answer !== null) {
    if (answer.value !== undefined) return [CHANGE, answer.value];
    if (answer.skipUntil !== undefined) return [SKIP, answer.skipUntil];
  }
  throw new TypeError(`the answer of a compaction filter is not legal: ${String(answer)}`);
}

function checkBytes(answer) {
  if (Array.isArray(answer) && typeof answer[1] !== 'string' && !ArrayBuffer.isView(answer[1])) {
    throw new TypeError('the bytes in the answer of a compaction filter must be a string or a Buffer');
  }
  return answer;
}

// If the filter throws, the entry is kept, and the exception is thrown again where no library waits for it: it is an
// uncaught exception, unless the filter has an `onError`.
function wrapFilter(compactionFilter) {
  const { name, filter, filterKey, onError } = compactionFilter;
  checkName(name, 'compaction filter');
  if (typeof filter !== 'function') throw new TypeError('compactionFilter.filter must be a function');
  watchExit();
  const guard = (call, isByKey) => (key, level, value) => {
    try {
      return checkBytes(toAnswer(call(key, value, level), isByKey));
    } catch (error) {
      process.nextTick(() => {
        if (onError === undefined) throw error;
        onError(error);
      });
      return KEEP;
    }
  };
  return {
    name,
    filter: guard(filter, false),
    filterKey: filterKey === undefined ? undefined : guard((key, _, level) => filterKey(key, level), true),
  };
}

module.exports = { wrapComparator, wrapFilter };
