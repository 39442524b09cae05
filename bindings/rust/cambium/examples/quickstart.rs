//! Writes, reads and scans a database.

use cambium::{Db, Options, Result, WriteBatch, WriteOptions};

/// Writes, reads and scans a database, which is created if it does not exist.
pub fn run(path: &str) -> Result<Vec<String>> {
    let mut options = Options::new();
    options.set_create_if_missing(true);
    let db = Db::open(&options, path)?;

    db.put("oak", "a ring a year")?;
    let mut batch = WriteBatch::new();
    batch.put("elm", "rough leaves").put("yew", "red berries").delete("ash");
    db.write_opt(&batch, &WriteOptions::synced())?; // durable when it returns

    if let Some(value) = db.get_pinned("oak")? {
        println!("oak: {}", String::from_utf8_lossy(&value));
    }
    let mut keys = Vec::new();
    for entry in db.iter_range("f"..)?.rev() {
        let (key, _value) = entry?;
        keys.push(String::from_utf8_lossy(&key).into_owned());
    }
    db.close()?;
    Ok(keys)
}

fn main() -> Result<()> {
    let path = std::env::args().nth(1).unwrap_or_else(|| "quickstart.db".to_owned());
    println!("from the last key to f: {:?}", run(&path)?);
    Ok(())
}
