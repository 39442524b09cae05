//! The program in README.md is the example, and runs.

use crate::common::TempDir;

#[allow(dead_code, reason = "its main function runs elsewhere")]
#[path = "../../examples/quickstart.rs"]
mod quickstart;

#[allow(dead_code, reason = "its main function runs elsewhere")]
#[path = "../../examples/transfer.rs"]
mod transfer;

#[test]
fn transfers_run() {
    let directory = TempDir::new();
    let path = directory.path("transfer.db");
    for _ in 0..2 {
        assert_eq!(transfer::run(path.to_str().unwrap()).unwrap(), (30, 70));
    }
}

#[test]
fn the_readme_shows_the_example() {
    let readme = include_str!("../../README.md");
    let example = include_str!("../../examples/quickstart.rs");
    assert!(readme.contains(&format!("```rust,no_run\n{example}```\n")));
}

#[test]
fn the_example_runs() {
    let directory = TempDir::new();
    let path = directory.path("quickstart.db");
    for _ in 0..2 {
        assert_eq!(quickstart::run(path.to_str().unwrap()).unwrap(), ["yew", "oak"]);
    }
}
