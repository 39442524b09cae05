//! Limits that several databases share.

use cambium::{Db, ErrorKind, RateLimiter, WriteBufferManager};

use crate::common::{TempDir, kind, options};

#[test]
fn databases_share_a_rate_limiter() {
    let limiter = RateLimiter::new(100 << 20, 100_000, 10);
    let mut limited = options();
    limited.set_rate_limiter(Some(&limiter));
    let directory = TempDir::new();
    let first = Db::open(&limited, directory.path("first")).unwrap();
    let second = Db::open(&limited, directory.path("second")).unwrap();
    limiter.set_bytes_per_second(200 << 20).unwrap();
    assert_eq!(limiter.bytes_per_second(), 200 << 20);
    assert_eq!(kind(limiter.set_bytes_per_second(1)), Some(ErrorKind::InvalidArgument));
    assert_eq!(format!("{limiter:?}"), "RateLimiter { bytes_per_second: 209715200 }");
    drop(limiter);
    for db in [&first, &second] {
        db.put("key", "value").unwrap();
        db.flush().unwrap();
    }
    limited.set_rate_limiter(None);
    let bad = RateLimiter::new(1, 1, 1);
    limited.set_rate_limiter(Some(&bad));
    assert_eq!(kind(Db::open(&limited, directory.path("third"))), Some(ErrorKind::InvalidArgument));
}

#[test]
fn databases_share_a_write_buffer_manager() {
    let manager = WriteBufferManager::new(1 << 20, false);
    assert!(manager.enabled());
    assert_eq!(manager.memory_usage(), 0);
    let mut limited = options();
    limited.set_write_buffer_manager(Some(&manager));
    let directory = TempDir::new();
    let first = Db::open(&limited, directory.path("first")).unwrap();
    let second = Db::open(&limited, directory.path("second")).unwrap();
    for i in 0..10_000 {
        first.put(format!("key{i}"), [0; 100]).unwrap();
        second.put(format!("key{i}"), [0; 100]).unwrap();
    }
    assert!(manager.memory_usage() > 0 && manager.memory_usage() <= 2 << 20);
    assert!(manager.mutable_memtable_memory_usage() <= manager.memory_usage());
    manager.set_buffer_size(2 << 20);
    manager.set_allow_stall(true);
    assert_eq!(manager.buffer_size(), 2 << 20);
    assert_eq!(format!("{manager:?}"), "WriteBufferManager { buffer_size: 2097152, .. }");
    drop(manager);
    first.put("key", "value").unwrap();
    first.close().unwrap();
    second.close().unwrap();
    limited.set_write_buffer_manager(None);
    Db::open(&limited, directory.path("first")).unwrap();
    assert!(!WriteBufferManager::new(0, false).enabled());
}
