//! Callbacks for events of a database.

use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};

use cambium_sys as ffi;

use crate::listener_infos::{
    BackgroundErrorInfo, BlobFileCreationInfo, BlobFileDeletionInfo, CompactionJobInfo, FlushJobInfo, LogGcJobInfo,
    MemtableInfo, TableFileCreationInfo, TableFileDeletionInfo, WriteStallInfo,
};

/// Receives a call for each event of a database, as it happens.
///
/// - It is called on the thread that did the work, which may be a caller's. Several threads may call one listener at once.
/// - The database waits for each call. Move long work elsewhere.
/// - A listener may read, and write with [`WriteOptions::set_no_slowdown`](crate::WriteOptions::set_no_slowdown). It must
///   not call other writes, flushes or compactions, nor create or drop families: these may wait for the very job that is
///   calling. It must not hold a [`Db`](crate::Db) or one of its objects: the database would then never be closed, or
///   would be closed by one of its own threads.
/// - A panic in a listener ends the call, and nothing else. The panic hook reports it.
///
/// All functions do nothing by default.
pub trait EventListener {
    /// A memtable was frozen.
    fn on_memtable_sealed(&self, info: &MemtableInfo<'_>) {
        let _ = info;
    }
    /// A flush begins. Its results are not known yet.
    fn on_flush_begin(&self, info: &FlushJobInfo<'_>) {
        let _ = info;
    }
    /// A flush has ended, perhaps with an error.
    fn on_flush_completed(&self, info: &FlushJobInfo<'_>) {
        let _ = info;
    }
    /// A step of a sweep or a compaction begins. Its results are not known yet.
    fn on_compaction_begin(&self, info: &CompactionJobInfo<'_>) {
        let _ = info;
    }
    /// A step of a sweep or a compaction has ended, perhaps with an error.
    fn on_compaction_completed(&self, info: &CompactionJobInfo<'_>) {
        let _ = info;
    }
    /// A step of log GC has ended, perhaps with an error.
    fn on_log_gc_completed(&self, info: &LogGcJobInfo<'_>) {
        let _ = info;
    }
    /// An index file exists, and is empty. Its size is not known yet.
    fn on_table_file_creation_started(&self, info: &TableFileCreationInfo<'_>) {
        let _ = info;
    }
    /// An index file is complete, or its job has failed.
    fn on_table_file_created(&self, info: &TableFileCreationInfo<'_>) {
        let _ = info;
    }
    /// An index file was removed.
    fn on_table_file_deleted(&self, info: &TableFileDeletionInfo<'_>) {
        let _ = info;
    }
    /// A file of values exists, and is empty. Its size is not known yet.
    fn on_blob_file_creation_started(&self, info: &BlobFileCreationInfo<'_>) {
        let _ = info;
    }
    /// A file of values is complete, or takes records, or is not needed.
    fn on_blob_file_created(&self, info: &BlobFileCreationInfo<'_>) {
        let _ = info;
    }
    /// A file of values was removed.
    fn on_blob_file_deleted(&self, info: &BlobFileDeletionInfo<'_>) {
        let _ = info;
    }
    /// Writes begin or cease to wait.
    fn on_stall_conditions_changed(&self, info: &WriteStallInfo<'_>) {
        let _ = info;
    }
    /// Work in the background has failed.
    fn on_background_error(&self, info: &BackgroundErrorInfo<'_>) {
        let _ = info;
    }
}

/// Gives a listener to options.
///
/// # Safety
/// `options` are options that no other thread uses.
pub(crate) unsafe fn add<L>(options: *mut ffi::cambium_options_t, listener: L)
where
    L: EventListener + Send + Sync + 'static,
{
    let state = Box::into_raw(Box::new(listener)).cast();
    // SAFETY: the callbacks are those for this type of state. The destructor frees the state when no options and no
    // database use the listener; the object itself may be destroyed before.
    unsafe {
        let made = ffi::cambium_eventlistener_create(
            state,
            Some(destroy::<L>),
            Some(on_flush_begin::<L>),
            Some(on_flush_completed::<L>),
            Some(on_compaction_begin::<L>),
            Some(on_compaction_completed::<L>),
            Some(on_background_error::<L>),
            Some(on_stall_conditions_changed::<L>),
            Some(on_memtable_sealed::<L>),
        );
        ffi::cambium_eventlistener_set_on_log_gc_completed(made, Some(on_log_gc_completed::<L>));
        ffi::cambium_eventlistener_set_on_table_files(
            made,
            Some(on_table_file_creation_started::<L>),
            Some(on_table_file_created::<L>),
            Some(on_table_file_deleted::<L>),
        );
        ffi::cambium_eventlistener_set_on_blob_files(
            made,
            Some(on_blob_file_creation_started::<L>),
            Some(on_blob_file_created::<L>),
            Some(on_blob_file_deleted::<L>),
        );
        ffi::cambium_options_add_eventlistener(options, made);
        ffi::cambium_eventlistener_destroy(made);
    }
}

/// Defines the callback of one event. Those of jobs have a database too, which is not passed on.
macro_rules! callback {
    ($name:ident, $info:ident, $raw:ident $(, $db:ident)?) => {
        /// # Safety
        /// `state` is an `L` that is not destroyed yet, and `info` is that of this call.
        unsafe extern "C" fn $name<L: EventListener>(
            state: *mut c_void,
            $($db: *mut ffi::cambium_t,)?
            info: *const ffi::$raw,
        ) {
            $(let _ = $db;)?
            // SAFETY: the caller promises it.
            let (listener, info) = unsafe { (&*state.cast::<L>(), $info::new(info)) };
            let _ = catch_unwind(AssertUnwindSafe(|| listener.$name(&info)));
        }
    };
}
callback!(on_flush_begin, FlushJobInfo, cambium_flushjobinfo_t, db);
callback!(on_flush_completed, FlushJobInfo, cambium_flushjobinfo_t, db);
callback!(on_compaction_begin, CompactionJobInfo, cambium_compactionjobinfo_t, db);
callback!(on_compaction_completed, CompactionJobInfo, cambium_compactionjobinfo_t, db);
callback!(on_log_gc_completed, LogGcJobInfo, cambium_loggcjobinfo_t, db);
callback!(on_memtable_sealed, MemtableInfo, cambium_memtableinfo_t);
callback!(on_table_file_creation_started, TableFileCreationInfo, cambium_tablefilecreationinfo_t);
callback!(on_table_file_created, TableFileCreationInfo, cambium_tablefilecreationinfo_t);
callback!(on_table_file_deleted, TableFileDeletionInfo, cambium_tablefiledeletioninfo_t);
callback!(on_blob_file_creation_started, BlobFileCreationInfo, cambium_blobfilecreationinfo_t);
callback!(on_blob_file_created, BlobFileCreationInfo, cambium_blobfilecreationinfo_t);
callback!(on_blob_file_deleted, BlobFileDeletionInfo, cambium_blobfiledeletioninfo_t);
callback!(on_stall_conditions_changed, WriteStallInfo, cambium_writestallinfo_t);
callback!(on_background_error, BackgroundErrorInfo, cambium_backgrounderrorinfo_t);

/// # Safety
/// `state` is an `L` in a box, and nothing uses it any more.
unsafe extern "C" fn destroy<L>(state: *mut c_void) {
    // SAFETY: the caller promises it.
    let listener = unsafe { Box::from_raw(state.cast::<L>()) };
    let _ = catch_unwind(AssertUnwindSafe(|| drop(listener)));
}

#[cfg(test)]
mod tests {
    use std::ptr;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    struct Counts(Arc<AtomicUsize>);

    impl EventListener for Counts {
        fn on_flush_begin(&self, _: &FlushJobInfo<'_>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
        fn on_background_error(&self, _: &BackgroundErrorInfo<'_>) {
            panic!("expected by the test");
        }
    }

    /// Calls the functions as the library does. The infos are not read, so the library is not needed.
    #[test]
    fn callbacks_call_the_listener_catch_its_panics_and_free_it() {
        let count = Arc::new(AtomicUsize::new(0));
        let state: *mut c_void = Box::into_raw(Box::new(Counts(Arc::clone(&count)))).cast();
        // SAFETY: the state is of this type, and destroyed last.
        unsafe {
            on_flush_begin::<Counts>(state, ptr::null_mut(), ptr::null());
            on_flush_completed::<Counts>(state, ptr::null_mut(), ptr::null());
            on_background_error::<Counts>(state, ptr::null());
            on_flush_begin::<Counts>(state, ptr::null_mut(), ptr::null());
            assert_eq!(Arc::strong_count(&count), 2);
            destroy::<Counts>(state);
        }
        assert_eq!((count.load(Ordering::Relaxed), Arc::strong_count(&count)), (2, 1));
    }
}
