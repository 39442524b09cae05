'use strict';

// Code that is the same for synchronous calls and for promises is a generator, which yields what it waits for.

function runSync(steps) {
  let step = steps.next();
  while (!step.done) step = steps.next(step.value);
  return step.value;
}

async function runAsync(steps) {
  let step = steps.next();
  while (!step.done) {
    let value;
    try {
      value = await step.value;
    } catch (error) {
      step = steps.throw(error);
      continue;
    }
    step = steps.next(value);
  }
  return step.value;
}

module.exports = { runAsync, runSync };
