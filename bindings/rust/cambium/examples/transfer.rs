//! Transfers between two accounts, from several threads. Both accounts change, or none does.

use cambium::{Db, Result, Transaction};

fn money(transaction: &Transaction<'_>, account: &str) -> Result<i64> {
    let value = transaction.get_for_update(account)?.unwrap_or_default();
    Ok(String::from_utf8_lossy(&value).parse().unwrap_or(0))
}

/// Returns false if there is not enough money.
fn transfer(db: &Db, from: &str, to: &str, amount: i64) -> Result<bool> {
    db.transact(1000, |transaction| {
        let has = money(transaction, from)?;
        if has < amount {
            return Ok(false);
        }
        let gets = money(transaction, to)?;
        transaction.put(from, (has - amount).to_string())?;
        transaction.put(to, (gets + amount).to_string())?;
        Ok(true)
    })
}

/// Transfers 70 of 100, and returns what both accounts then have.
pub fn run(path: &str) -> Result<(i64, i64)> {
    let db = Db::open_default(path)?;
    db.put("anna", "100")?;
    db.put("ben", "0")?;
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..7).map(|_| scope.spawn(|| transfer(&db, "anna", "ben", 10))).collect();
        threads.into_iter().try_for_each(|thread| thread.join().expect("no panic").map(|_| ()))
    })?;
    assert!(!transfer(&db, "anna", "ben", 50)?);
    let transaction = db.transaction()?;
    let both = (money(&transaction, "anna")?, money(&transaction, "ben")?);
    drop(transaction);
    db.close()?;
    Ok(both)
}

fn main() -> Result<()> {
    let path = std::env::args().nth(1).unwrap_or_else(|| "transfer.db".to_owned());
    let (anna, ben) = run(&path)?;
    println!("anna has {anna}, ben has {ben}");
    Ok(())
}
