//! Programs that the compiler must refuse. Each has the code of its error.
//!
//! A pinned value is used after the database was closed:
//!
//! ```compile_fail,E0505
//! let db = cambium::Db::open_default("x").unwrap();
//! let value = db.get_pinned("key").unwrap();
//! db.close().unwrap();
//! drop(value);
//! ```
//!
//! A pinned value outlives the database:
//!
//! ```compile_fail,E0597
//! let value;
//! {
//!     let db = cambium::Db::open_default("x").unwrap();
//!     value = db.get_pinned("key").unwrap();
//! }
//! drop(value);
//! ```
//!
//! A pinned value outlives the column family that it was read with:
//!
//! ```compile_fail,E0505
//! let db = cambium::Db::open_default("x").unwrap();
//! let family = db.default_column_family().clone();
//! let values = family.multi_get_pinned(&["key"]);
//! drop(family);
//! drop(values);
//! ```
//!
//! A database is used after it was closed:
//!
//! ```compile_fail,E0382
//! let db = cambium::Db::open_default("x").unwrap();
//! db.close().unwrap();
//! db.put("key", "value").unwrap();
//! ```
//!
//! A database is closed twice:
//!
//! ```compile_fail,E0382
//! let db = cambium::Db::open_default("x").unwrap();
//! db.close().unwrap();
//! db.close().unwrap();
//! ```
//!
//! A key of a cursor is used after the cursor has moved:
//!
//! ```compile_fail,E0502
//! let db = cambium::Db::open_default("x").unwrap();
//! let mut cursor = db.cursor().unwrap();
//! let key = cursor.key();
//! cursor.next().unwrap();
//! drop(key);
//! ```
//!
//! The bytes of a batch are used after the batch has changed:
//!
//! ```compile_fail,E0502
//! let mut batch = cambium::WriteBatch::new();
//! let data = batch.data();
//! batch.put("key", "value");
//! assert!(data.is_empty());
//! ```
//!
//! Conditions outlive the column family of one of them:
//!
//! ```compile_fail,E0505
//! let db = cambium::Db::open_default("x").unwrap();
//! let family = db.default_column_family().clone();
//! let mut conditions = cambium::WriteConditions::new();
//! conditions.is_absent_cf(&family, "key");
//! drop(family);
//! db.write_if(&cambium::WriteBatch::new(), &conditions).unwrap();
//! ```
//!
//! A database is closed under a transaction, and under an indexed batch:
//!
//! ```compile_fail,E0505
//! let db = cambium::Db::open_default("x").unwrap();
//! let transaction = db.transaction().unwrap();
//! db.close().unwrap();
//! transaction.commit().unwrap();
//! ```
//! ```compile_fail,E0505
//! let db = cambium::Db::open_default("x").unwrap();
//! let batch = db.indexed_batch(0);
//! drop(db);
//! drop(batch);
//! ```
//!
//! A transaction is used after it was committed:
//!
//! ```compile_fail,E0382
//! let db = cambium::Db::open_default("x").unwrap();
//! let mut transaction = db.transaction().unwrap();
//! transaction.commit().unwrap();
//! transaction.put("key", "value").unwrap();
//! ```
//!
//! A transaction writes, or ends, while a cursor over it exists:
//!
//! ```compile_fail,E0502
//! let db = cambium::Db::open_default("x").unwrap();
//! let mut transaction = db.transaction().unwrap();
//! let cursor = transaction.cursor().unwrap();
//! transaction.put("key", "value").unwrap();
//! drop(cursor);
//! ```
//! ```compile_fail,E0505
//! let db = cambium::Db::open_default("x").unwrap();
//! let transaction = db.transaction().unwrap();
//! let entries = transaction.iter().unwrap();
//! transaction.commit().unwrap();
//! drop(entries);
//! ```
//!
//! A cursor is only dropped after its transaction was:
//!
//! ```compile_fail,E0597
//! let db = cambium::Db::open_default("x").unwrap();
//! let cursor;
//! {
//!     let transaction = db.transaction().unwrap();
//!     cursor = transaction.cursor().unwrap();
//! }
//! ```
//!
//! Two threads use a transaction, or a batch; a cursor over it is sent to another thread:
//!
//! ```compile_fail,E0277
//! fn shared<T: Sync>() {}
//! shared::<cambium::Transaction<'static>>();
//! ```
//! ```compile_fail,E0277
//! fn shared<T: Sync>() {}
//! shared::<cambium::IndexedBatch<'static>>();
//! ```
//! ```compile_fail,E0277
//! fn sent<T: Send>() {}
//! sent::<cambium::OverlayCursor<'static>>();
//! ```
//! ```compile_fail,E0277
//! fn sent<T: Send>() {}
//! sent::<cambium::OverlayEntries<'static>>();
//! ```
//!
//! Two threads use a cursor:
//!
//! ```compile_fail,E0277
//! fn shared<T: Sync>() {}
//! shared::<cambium::Cursor>();
//! ```
//!
//! Two threads use an iterator, options, a batch, a reader, statistics, or a limit:
//!
//! ```compile_fail,E0277
//! fn shared<T: Sync>() {}
//! shared::<cambium::Entries>();
//! ```
//! ```compile_fail,E0277
//! fn shared<T: Sync>() {}
//! shared::<cambium::KeyIter>();
//! ```
//! ```compile_fail,E0277
//! fn shared<T: Sync>() {}
//! shared::<cambium::Options>();
//! ```
//! ```compile_fail,E0277
//! fn shared<T: Sync>() {}
//! shared::<cambium::ReadOptions>();
//! ```
//! ```compile_fail,E0277
//! fn shared<T: Sync>() {}
//! shared::<cambium::WriteOptions>();
//! ```
//! ```compile_fail,E0277
//! fn shared<T: Sync>() {}
//! shared::<cambium::WriteBatch>();
//! ```
//! ```compile_fail,E0277
//! fn shared<T: Sync>() {}
//! shared::<cambium::AsyncReader<'static>>();
//! ```
//! ```compile_fail,E0277
//! fn shared<T: Sync>() {}
//! shared::<cambium::Statistics>();
//! ```
//! ```compile_fail,E0277
//! fn shared<T: Sync>() {}
//! shared::<cambium::RateLimiter>();
//! ```
//! ```compile_fail,E0277
//! fn shared<T: Sync>() {}
//! shared::<cambium::WriteBufferManager>();
//! ```
//!
//! What a listener is told is sent to another thread:
//!
//! ```compile_fail,E0277
//! fn sent<T: Send>() {}
//! sent::<cambium::FlushJobInfo<'static>>();
//! ```
//!
//! A comparator that only one thread may call:
//!
//! ```compile_fail,E0277
//! let calls = std::cell::Cell::new(0);
//! let comparator = unsafe {
//!     cambium::Comparator::new("x", move |a, b| {
//!         calls.set(calls.get() + 1);
//!         a.cmp(b)
//!     })
//! };
//! ```
//!
//! A comparator that borrows:
//!
//! ```compile_fail,E0373
//! let order = vec![1];
//! let comparator = unsafe { cambium::Comparator::new("x", |a, b| order[0].cmp(&1).then_with(|| a.cmp(b))) };
//! ```
//!
//! A compaction filter that only one thread may call:
//!
//! ```compile_fail,E0277
//! let calls = std::rc::Rc::new(());
//! let mut options = cambium::Options::new();
//! let set = options.set_compaction_filter("x", move |_: i32, _: &[u8], _: &[u8]| {
//!     let _ = &calls;
//!     cambium::Decision::Keep
//! });
//! ```
//!
//! A read in flight whose closure borrows what is gone before the reader:
//!
//! ```compile_fail,E0597
//! let db = cambium::Db::open_default("x").unwrap();
//! let mut reader = db.async_reader(Default::default()).unwrap();
//! {
//!     let found = std::sync::Mutex::new(0);
//!     reader.get("key", |_| *found.lock().unwrap() += 1).unwrap();
//! }
//! ```
//!
//! A reader for closures that live long, as one for closures that do not:
//!
//! ```compile_fail
//! fn shorter<'a, 'b>(reader: &'b mut cambium::AsyncReader<'static>) -> &'b mut cambium::AsyncReader<'a> {
//!     reader
//! }
//! ```
//!
//! A comparator without `unsafe`:
//!
//! ```compile_fail,E0133
//! let comparator = cambium::Comparator::new("x", |a, b| b.cmp(a));
//! ```
//!
//! Mapped values without `unsafe`:
//!
//! ```compile_fail,E0133
//! let mut options = cambium::ReadOptions::new();
//! options.set_pin_mapped_values(true);
//! ```
