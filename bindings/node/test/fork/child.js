'use strict';

// Tries to open a database that the parent process has open, and sends the codes of the errors.
const { Database } = require('cambium');

async function codeOf(call) {
  try {
    await call();
    return 'opened';
  } catch (error) {
    return error.code;
  }
}

async function main(path) {
  const calls = [
    () => Database.open(path),
    () => Database.openSync(path),
    () => Database.open(path, { readOnly: true }),
  ];
  const codes = [];
  for (const call of calls) codes.push(await codeOf(call));
  process.send(codes, () => process.disconnect());
}

main(process.argv[2]);
