'use strict';

const { binding } = require('./binding');
const { InvalidArgumentError } = require('./errors');
const { statisticsLevels } = require('./options');

function known(value, name) {
  if (value === undefined) throw new InvalidArgumentError(`Invalid argument: there is no statistic '${name}'`);
  return value;
}

/** The counters of a database that was opened with the option `statistics`; without it all are 0. */
class Statistics {
  #native;

  constructor(native) {
    this.#native = native;
  }

  ticker(name) {
    return known(binding.ticker(this.#native, name), name);
  }

  histogram(name) {
    return known(binding.histogram(this.#native, name), name);
  }

  get level() {
    const number = binding.statisticsLevel(this.#native);
    return Object.keys(statisticsLevels).find((name) => statisticsLevels[name] === number);
  }

  set level(name) {
    const number = statisticsLevels[name];
    if (number === undefined) {
      throw new InvalidArgumentError(
        `Invalid argument: the level is ${name}; legal are ${Object.keys(statisticsLevels).join(', ')}`,
      );
    }
    binding.setStatisticsLevel(this.#native, number);
  }

  toString() {
    return binding.statistics(this.#native) ?? '';
  }
}

module.exports = { Statistics };
