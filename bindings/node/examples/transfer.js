'use strict';

// Transfers between two accounts. Both accounts change, or none does.
// node examples/transfer.js [DIRECTORY]
const { Database } = require('cambium');

async function money(transaction, account) {
  return Number((await transaction.getForUpdate(account, { encoding: 'utf8' })) ?? 0);
}

function transfer(db, from, to, amount) {
  // Again after a conflict. An error of the function ends the transaction without a write.
  return db.transact(
    async (transaction) => {
      const has = await money(transaction, from);
      if (has < amount) throw new RangeError('not enough money');
      await transaction.put(from, String(has - amount));
      await transaction.put(to, String((await money(transaction, to)) + amount));
    },
    { attempts: 100 },
  );
}

async function main(directory = 'transfer.db') {
  const db = await Database.open(directory, { createIfMissing: true });
  try {
    await db.put('anna', '100');
    await db.put('ben', '0');
    await Promise.all(Array.from({ length: 7 }, () => transfer(db, 'anna', 'ben', 10)));
    await transfer(db, 'anna', 'ben', 50).catch((error) => console.log(error.message));
    console.log('anna has', await db.get('anna', { encoding: 'utf8' }));
    console.log('ben has', await db.get('ben', { encoding: 'utf8' }));
  } finally {
    await db.close();
  }
}

main(process.argv[2]);
