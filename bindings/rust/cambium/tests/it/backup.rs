//! Checkpoints and backups.

use std::sync::Arc;

use cambium::{BackupEngine, Db, ErrorKind, Options, checkpoint_offline};

use crate::common::{TempDir, bytes, kind, new_db, options, texts};

#[test]
fn a_checkpoint_is_a_database() {
    let (directory, db) = new_db();
    db.put("a", "1").unwrap();
    db.checkpoint(directory.path("first")).unwrap();
    db.put("b", "2").unwrap();
    db.checkpoint_with(directory.path("second"), u64::MAX).unwrap();
    assert_eq!(kind(db.checkpoint(directory.path("first"))), Some(ErrorKind::InvalidArgument));
    db.put("c", "3").unwrap();
    let first = Db::open(&options(), directory.path("first")).unwrap();
    assert_eq!(texts(first.iter().unwrap()), ["a=1"]);
    first.put("d", "4").unwrap();
    let second = Db::open(&options(), directory.path("second")).unwrap();
    assert_eq!(texts(second.iter().unwrap()), ["a=1", "b=2"]);
    assert_eq!(texts(db.iter().unwrap()), ["a=1", "b=2", "c=3"]);
    assert_eq!(first.identity(), db.identity());
}

#[test]
fn a_closed_database_has_checkpoints_too() {
    let (directory, db) = new_db();
    db.put("a", "1").unwrap();
    let path = directory.path("db");
    assert_eq!(kind(checkpoint_offline(&options(), &path, directory.path("copy"))), Some(ErrorKind::Locked));
    db.close().unwrap();
    checkpoint_offline(&options(), &path, directory.path("copy")).unwrap();
    let copy = Db::open(&options(), directory.path("copy")).unwrap();
    assert_eq!(copy.get("a"), Ok(Some(bytes("1"))));
}

#[test]
fn backups_are_made_listed_verified_and_restored() {
    let (directory, db) = new_db();
    let backups = directory.path("backups");
    let mut engine = BackupEngine::open(&Options::new(), &backups).unwrap();
    assert!(engine.backups().is_empty());
    assert_eq!(kind(engine.restore_latest(directory.path("none"))), Some(ErrorKind::NotFound));
    db.put("a", "1").unwrap();
    engine.create_backup(&db).unwrap();
    db.put("b", "2").unwrap();
    engine.create_backup_flush(&db, true).unwrap();
    db.put("c", "3").unwrap();
    engine.set_verify_checksums(false);
    engine.create_backup(&db).unwrap();
    let infos = engine.backups();
    assert_eq!(infos.iter().map(|info| info.id).collect::<Vec<_>>(), [1, 2, 3]);
    assert_eq!(infos.iter().map(|info| info.is_checked).collect::<Vec<_>>(), [true, true, false]);
    assert_eq!(infos[1].sequence_number, 2);
    assert!(infos.iter().all(|info| info.size > 0 && info.number_files > 0 && info.timestamp > 1_600_000_000));
    assert!(engine.corrupted_backups().is_empty());
    assert!(format!("{engine:?}").contains("id: 3"));
    for info in &infos {
        engine.verify_backup(info.id, false).unwrap();
        engine.verify_backup(info.id, true).unwrap();
    }
    assert_eq!(kind(engine.verify_backup(9, false)), Some(ErrorKind::NotFound));
    engine.restore(2, directory.path("second")).unwrap();
    engine.restore_latest(directory.path("latest")).unwrap();
    assert_eq!(texts(Db::open(&options(), directory.path("second")).unwrap().iter().unwrap()), ["a=1", "b=2"]);
    assert_eq!(Db::open(&options(), directory.path("latest")).unwrap().keys().unwrap().count(), 3);
    engine.delete_backup(1).unwrap();
    assert_eq!(kind(engine.delete_backup(1)), Some(ErrorKind::NotFound));
    engine.purge_old_backups(1).unwrap();
    engine.garbage_collect().unwrap();
    assert_eq!(engine.backups().iter().map(|info| info.id).collect::<Vec<_>>(), [3]);
    assert_eq!(kind(BackupEngine::open(&Options::new(), &backups)), Some(ErrorKind::Locked));
    drop(engine);
    let reader = BackupEngine::open_read_only(&Options::new(), &backups).unwrap();
    assert_eq!(reader.backups().len(), 1);
    assert!(reader.create_backup(&db).is_err());
}

#[test]
fn a_closed_database_is_backed_up() {
    let (directory, db) = new_db();
    db.put("a", "1").unwrap();
    db.close().unwrap();
    let engine = BackupEngine::open(&Options::new(), directory.path("backups")).unwrap();
    engine.create_backup_offline(directory.path("db")).unwrap();
    engine.restore(1, directory.path("copy")).unwrap();
    assert_eq!(Db::open(&options(), directory.path("copy")).unwrap().get("a"), Ok(Some(bytes("1"))));
}

#[test]
fn damaged_backups_are_listed() {
    let (directory, db) = new_db();
    db.put("a", "1").unwrap();
    let backups = directory.path("backups");
    let engine = BackupEngine::open(&Options::new(), &backups).unwrap();
    engine.create_backup(&db).unwrap();
    engine.create_backup(&db).unwrap();
    drop(engine);
    // The record of a backup is the file that has its number in `meta`, or in the directory itself.
    let mut records = Vec::new();
    let mut folders = vec![backups.clone()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.file_name().unwrap().to_string_lossy().trim_start_matches('0').starts_with('2') {
                records.push(path);
            }
        }
    }
    for record in records {
        let mut content = std::fs::read(&record).unwrap();
        if let Some(last) = content.last_mut() {
            *last ^= 0xff;
            std::fs::write(&record, content).unwrap();
        }
    }
    let engine = BackupEngine::open(&Options::new(), &backups).unwrap();
    assert_eq!(engine.corrupted_backups(), [2]);
    assert_eq!(engine.backups().len(), 1);
}

#[test]
fn threads_share_an_engine() {
    let (directory, db) = new_db();
    db.put("a", "1").unwrap();
    let engine = Arc::new(BackupEngine::open(&Options::new(), directory.path("backups")).unwrap());
    let threads: Vec<_> = (0..3)
        .map(|_| {
            let (engine, db) = (Arc::clone(&engine), db.clone());
            std::thread::spawn(move || engine.create_backup(&db).unwrap())
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert_eq!(engine.backups().len(), 3);
    engine.stop_backup();
    assert_eq!(kind(engine.create_backup(&db)), Some(ErrorKind::Incomplete));
}

#[test]
fn paths_are_checked() {
    let directory = TempDir::new();
    let (_its, db) = new_db();
    assert_eq!(kind(db.checkpoint("a\0b")), Some(ErrorKind::InvalidArgument));
    assert_eq!(kind(BackupEngine::open(&Options::new(), "a\0b")), Some(ErrorKind::InvalidArgument));
    assert!(BackupEngine::open_read_only(&Options::new(), directory.path("none")).is_err());
}
