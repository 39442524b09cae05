//! Calls that run out of memory.

use std::ffi::c_int;
use std::os::unix::process::ExitStatusExt;
use std::process::Command;

use cambium::{ErrorKind, WriteBatch};

use crate::common::{kind, new_db};

const CHILD: &str = "CAMBIUM_TEST_WITHOUT_MEMORY";
const LARGE: usize = 256 << 20;

unsafe extern "C" {
    fn setrlimit(resource: c_int, limit: *const [u64; 2]) -> c_int;
}

/// Lets the process map no more than a quarter of a large value from now on.
fn limit_memory() {
    const RLIMIT_AS: c_int = 9;
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
    let now = pages.split(' ').next().unwrap().parse::<u64>().unwrap() * 4096;
    let limits = [now + LARGE as u64 / 4; 2];
    // SAFETY: the limits are two numbers, the soft and the hard one.
    assert_eq!(unsafe { setrlimit(RLIMIT_AS, &raw const limits) }, 0);
}

/// Runs a test of this file in a process of its own. Returns the signal that ended it, and its stderr.
fn run_child(test: &str) -> (Option<i32>, String) {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env(CHILD, "1")
        .output()
        .unwrap();
    (output.status.signal(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn a_call_that_reports_errors_reports_this_one() {
    if std::env::var_os(CHILD).is_none() {
        let (signal, stderr) = run_child("memory::a_call_that_reports_errors_reports_this_one");
        assert_eq!((signal, stderr.as_str()), (None, ""));
        return;
    }
    let (_directory, db) = new_db();
    db.put("large", vec![1; LARGE]).unwrap();
    limit_memory();
    assert_eq!(kind(db.get("large")), Some(ErrorKind::OutOfMemory));
    db.put("small", "value").unwrap();
    assert!(db.get("small").unwrap().is_some());
}

/// The exception of the library ends the program. It does not go on in Rust.
#[test]
fn a_call_that_reports_no_errors_ends_the_program() {
    if std::env::var_os(CHILD).is_none() {
        let (signal, stderr) = run_child("memory::a_call_that_reports_no_errors_ends_the_program");
        assert_eq!(signal, Some(6), "{stderr}");
        return;
    }
    let value = vec![0; LARGE];
    let mut batch = WriteBatch::new();
    limit_memory();
    batch.put("large", &value);
    unreachable!("the program has ended");
}
