//! Times random gets and a full scan of an existing database.
//!
//!     cargo run --release --example read_bench -- DIRECTORY SECONDS
//!
//! The database has the keys `key0000000000` to `key0000099999`, with values of 1,024 bytes. Gets are those of
//! `Db::get_pinned`, and the scan is that of a `Cursor`: neither copies a value into a `Vec`.

use std::hint::black_box;
use std::io::Write;
use std::time::{Duration, Instant};

use cambium::{Db, Options, Result};

pub(crate) const KEYS: u64 = 100_000;

/// A xorshift generator.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}

/// Nanoseconds for a get.
pub(crate) fn time_gets(db: &Db, time: Duration) -> Result<f64> {
    let mut random = Random(88_172_645_463_325_252);
    let mut key = [0; 13];
    let mut gets = 0_u32;
    let begin = Instant::now();
    while begin.elapsed() < time {
        for _ in 0..1000 {
            write!(&mut key[..], "key{:010}", random.next() % KEYS).expect("the key has 13 bytes");
            let value = db.get_pinned(key)?.expect("the key exists");
            assert_eq!(black_box(&value[..]).len(), 1024);
        }
        gets += 1000;
    }
    Ok(begin.elapsed().as_nanos() as f64 / f64::from(gets))
}

/// Nanoseconds for an entry.
pub(crate) fn time_scan(db: &Db) -> Result<f64> {
    let begin = Instant::now();
    let mut entries = 0;
    let mut cursor = db.cursor()?;
    cursor.seek_to_first()?;
    while let Some((key, value)) = cursor.entry() {
        assert_eq!((black_box(key).len(), black_box(value).len()), (13, 1024));
        entries += 1;
        cursor.next()?;
    }
    assert_eq!(entries, KEYS);
    Ok(begin.elapsed().as_nanos() as f64 / KEYS as f64)
}

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let (Some(directory), Some(Ok(seconds))) = (arguments.next(), arguments.next().map(|text| text.parse())) else {
        eprintln!("usage: read_bench DIRECTORY SECONDS");
        std::process::exit(2);
    };
    let db = Db::open_read_only(&Options::new(), directory)?;
    println!("get 1024: {:.0} ns", time_gets(&db, Duration::from_secs_f64(seconds))?);
    println!("scan 1024: {:.0} ns per entry", time_scan(&db)?);
    db.close()?;
    Ok(())
}
