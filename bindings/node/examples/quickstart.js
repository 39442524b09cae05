'use strict';

// node examples/quickstart.js [DIRECTORY]
const { Database } = require('cambium');

async function main(directory = 'quickstart.db') {
  const db = await Database.open(directory, { createIfMissing: true });
  try {
    await db.put('oak', 'a ring a year', { sync: true }); // durable when the promise is fulfilled
    console.log('oak:', await db.get('oak', { encoding: 'utf8' }));

    await db.write([
      { type: 'put', key: 'ash', value: 'white wood' },
      { type: 'put', key: 'elm', value: 'twisted grain' },
    ]);
    for await (const [key, value] of db.iterator({ keyEncoding: 'utf8', valueEncoding: 'utf8', lt: 'f' })) {
      console.log(`${key}: ${value}`);
    }
  } finally {
    await db.close();
  }
}

main(process.argv[2]);
