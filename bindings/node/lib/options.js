'use strict';

// Options of databases and families, as the addon takes them: a text for those that have one, and objects.
const { wrapComparator, wrapFilter } = require('./callbacks');
const { InvalidArgumentError } = require('./errors');
const { checkNames } = require('./flags');
const { toCount, toLimit, toMilliseconds } = require('./numbers');
const { databaseOptions, enumerators, familyOptions } = require('./option_names');

const logLevels = { debug: 0, info: 1, warn: 2, error: 3 };
const statisticsLevels = {
  disableAll: 0,
  exceptHistogramOrTimers: 1,
  exceptTimers: 2,
  exceptDetailedTimers: 3,
  all: 5,
};
// These have no text form.
const objects = new Set([
  'columnFamilies',
  'comparator',
  'compactionFilter',
  'infoLog',
  'infoLogLevel',
  'onEvent',
  'rateLimiter',
  'readOnly',
  'rocksdbCompatibility',
  'signal',
  'statistics',
  'transactionLocks',
  'writeBufferManager',
]);
const objectsOfFamilies = new Set(['comparator', 'compactionFilter', 'rocksdbCompatibility']);
const onlyOfDatabases = new Set(databaseOptions);
const texts = new Set([...databaseOptions, ...familyOptions]);

// 'writeBufferSize' and 'write_buffer_size' are the same option.
function toSnakeCase(name) {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function toCamelCase(name) {
  return name.replace(/_([a-z])/g, (_, letter) => letter.toUpperCase());
}

function toText(name, value) {
  const text = enumerators[name]?.[value] ?? String(value);
  if (!['string', 'number', 'bigint', 'boolean'].includes(typeof value) || /[;={}]/.test(text)) {
    throw new InvalidArgumentError(`Invalid argument: the value of the option ${name} is ${text}`);
  }
  return text;
}

// [name, text, name, text, ...] of the options that have a text form.
function toPairs(options, isFamily) {
  const pairs = [];
  for (const [key, value] of Object.entries(options)) {
    if (value === undefined) continue;
    if (objects.has(key)) {
      if (!isFamily || objectsOfFamilies.has(key)) continue;
      throw new InvalidArgumentError(`Invalid argument: ${key} is an option of databases, not of column families`);
    }
    const name = toSnakeCase(key);
    if (isFamily && onlyOfDatabases.has(name)) {
      throw new InvalidArgumentError(`Invalid argument: ${key} is an option of databases, not of column families`);
    }
    pairs.push(name, toText(name, value));
  }
  return pairs;
}

function pick(names, value, what) {
  const number = names[value];
  if (number === undefined) {
    throw new InvalidArgumentError(`Invalid argument: ${what} is ${value}; legal are ${Object.keys(names).join(', ')}`);
  }
  return number;
}

function statisticsLevel(value) {
  return value === true ? statisticsLevels.exceptDetailedTimers : pick(statisticsLevels, value, 'statistics');
}

function makeLog(options) {
  const { infoLog, infoLogLevel = 'info' } = options;
  if (infoLog === undefined) return undefined;
  if (infoLog === null) return {};
  if (typeof infoLog !== 'function') throw new TypeError('infoLog must be a function or null');
  const names = Object.keys(logLevels);
  return {
    level: pick(logLevels, infoLogLevel, 'infoLogLevel'),
    write: (line, level) => infoLog(line, names[level]),
  };
}

function wrapOrder(comparator) {
  if (comparator === undefined || comparator === 'bytewise' || comparator === 'reverse-bytewise') return comparator;
  return wrapComparator(comparator);
}

// What the addon takes for a database, or for a family if `isFamily`.
function toSpec(options = {}, isFamily = false) {
  if (typeof options !== 'object' || options === null) throw new TypeError('the options must be an object');
  const pairs = toPairs(options, isFamily);
  let text = '';
  for (let i = 0; i < pairs.length; i += 2) text += `${pairs[i]}=${pairs[i + 1]};`;
  const spec = {
    text,
    rocksdb: Boolean(options.rocksdbCompatibility),
    comparator: wrapOrder(options.comparator),
    filter: options.compactionFilter === undefined ? undefined : wrapFilter(options.compactionFilter),
  };
  if (isFamily) return spec;
  if (options.onEvent !== undefined && typeof options.onEvent !== 'function') {
    throw new TypeError('onEvent must be a function');
  }
  return {
    ...spec,
    log: makeLog(options),
    emit: options.onEvent,
    rateLimiter: options.rateLimiter?.native,
    writeBufferManager: options.writeBufferManager?.native,
    statistics: options.statistics ? statisticsLevel(options.statistics) : undefined,
  };
}

// The options of the families to open as [[name, spec]], or undefined if only the default one is to be opened.
function toFamilySpecs(options = {}) {
  const { columnFamilies } = options;
  if (columnFamilies === undefined) return undefined;
  const byName = new Map(
    Array.isArray(columnFamilies) ? columnFamilies.map((name) => [name, {}]) : Object.entries(columnFamilies),
  );
  const specs = [...byName].map(([name, its]) => [name, toSpec(its, true)]);
  if (!byName.has('default')) {
    const own = Object.entries(options).filter(
      ([key]) => (!objects.has(key) || objectsOfFamilies.has(key)) && !onlyOfDatabases.has(toSnakeCase(key)),
    );
    specs.unshift(['default', toSpec(Object.fromEntries(own), true)]);
  }
  return specs;
}

// The options without those that neither this package nor the library knows.
function knownOptions(options) {
  const isKnown = (key) => objects.has(key) || texts.has(toSnakeCase(key));
  return Object.fromEntries(Object.entries(options).filter(([key]) => isKnown(key)));
}

// "name=value;..." as an object.
function parseOptions(text) {
  const options = {};
  for (const each of text.split(';')) {
    const at = each.indexOf('=');
    if (at > 0) options[toCamelCase(each.slice(0, at).trim())] = each.slice(at + 1).trim();
  }
  return options;
}

// What the addon takes for a database whose transactions lock their keys; undefined: they do not.
function toLocks(options) {
  const { transactionLocks } = options;
  if (transactionLocks === undefined || transactionLocks === false) return undefined;
  if (options.readOnly) throw new InvalidArgumentError('Invalid argument: transactionLocks excludes readOnly');
  checkNames(transactionLocks, 'transactionLocks');
  const { maxLocks = Infinity, stripes = 16, lockTimeout = 1000, writeLockTimeout = 1000 } = transactionLocks;
  return [
    toLimit(maxLocks, 'maxLocks'),
    toCount(stripes, 'stripes'),
    toMilliseconds(lockTimeout, 'lockTimeout'),
    toMilliseconds(writeLockTimeout, 'writeLockTimeout'),
  ];
}

// Whether JavaScript compares keys.
function hasOwnComparator(options = {}) {
  const families = Object.values(options.columnFamilies ?? {});
  return [options, ...families].some((each) => typeof each?.comparator === 'object' && each.comparator !== null);
}

module.exports = {
  hasOwnComparator,
  knownOptions,
  parseOptions,
  statisticsLevels,
  toFamilySpecs,
  toLocks,
  toPairs,
  toSpec,
};
