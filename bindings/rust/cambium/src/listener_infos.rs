//! What a listener is told about an event.

use std::borrow::Cow;
use std::ffi::{OsStr, c_char};
use std::marker::PhantomData;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use cambium_sys as ffi;

use crate::enums::{
    BackgroundErrorReason, BlobFileReason, CompactionReason, FlushReason, LogGcReason, StallCause, StallCondition,
    TableFileReason,
};
use crate::error::Result;
use crate::raw;

/// Reads bytes of an info.
///
/// # Safety
/// `getter` is a getter of an info that is valid during 'a, and whose bytes do not change.
unsafe fn read<'a>(getter: impl FnOnce(*mut usize) -> *const c_char) -> &'a [u8] {
    let mut length = 0;
    let data = getter(&raw mut length);
    // SAFETY: the caller promises it.
    unsafe { raw::bytes(data, length) }
}

/// Defines an info: a borrow of the library's object, and a function for each field.
macro_rules! info {
    ($(#[$doc:meta])* $name:ident($raw:ident) { $($(#[$field_doc:meta])* $kind:ident $field:ident $args:tt;)* }) => {
        $(#[$doc])*
        #[derive(Debug)]
        pub struct $name<'a> {
            // A pointer, so that an info is neither `Send` nor `Sync`.
            info: *const ffi::$raw,
            call: PhantomData<&'a ()>,
        }

        impl $name<'_> {
            /// # Safety
            /// `info` is valid as long as the result, unless no function of the result is called.
            pub(crate) unsafe fn new(info: *const ffi::$raw) -> Self {
                Self { info, call: PhantomData }
            }

            $(info!(@field $(#[$field_doc])* $kind $field $args);)*
        }
    };
    (@field $(#[$doc:meta])* text $field:ident ($getter:ident)) => {
        $(#[$doc])*
        #[must_use]
        pub fn $field(&self) -> Cow<'_, str> {
            // SAFETY: the info is valid as long as this borrow.
            String::from_utf8_lossy(unsafe { read(|length| ffi::$getter(self.info, length)) })
        }
    };
    (@field $(#[$doc:meta])* path $field:ident ($getter:ident)) => {
        $(#[$doc])*
        #[must_use]
        pub fn $field(&self) -> &Path {
            // SAFETY: the info is valid as long as this borrow.
            Path::new(OsStr::from_bytes(unsafe { read(|length| ffi::$getter(self.info, length)) }))
        }
    };
    (@field $(#[$doc:meta])* paths $field:ident ($count:ident, $getter:ident)) => {
        $(#[$doc])*
        pub fn $field(&self) -> impl Iterator<Item = &Path> {
            // SAFETY: the info is valid.
            let count = unsafe { ffi::$count(self.info) };
            (0..count).map(|i| {
                // SAFETY: the info is valid as long as this borrow, and the index is below the count.
                Path::new(OsStr::from_bytes(unsafe { read(|length| ffi::$getter(self.info, i, length)) }))
            })
        }
    };
    (@field $(#[$doc:meta])* number $field:ident ($getter:ident, $type:ty)) => {
        $(#[$doc])*
        #[must_use]
        pub fn $field(&self) -> $type {
            // SAFETY: the info is valid.
            unsafe { ffi::$getter(self.info) }
        }
    };
    (@field $(#[$doc:meta])* truth $field:ident ($getter:ident)) => {
        $(#[$doc])*
        #[must_use]
        pub fn $field(&self) -> bool {
            // SAFETY: the info is valid.
            unsafe { ffi::$getter(self.info) != 0 }
        }
    };
    (@field $(#[$doc:meta])* enumeration $field:ident ($getter:ident, $type:ty)) => {
        $(#[$doc])*
        #[must_use]
        pub fn $field(&self) -> $type {
            // SAFETY: the info is valid.
            <$type>::from_raw(unsafe { ffi::$getter(self.info) })
        }
    };
    (@field $(#[$doc:meta])* status $field:ident ($getter:ident)) => {
        $(#[$doc])*
        ///
        /// # Errors
        /// The error of the event, if it has one.
        pub fn $field(&self) -> Result<()> {
            // SAFETY: the info is valid.
            raw::check(|error| unsafe { ffi::$getter(self.info, error) })
        }
    };
}

info! {
    /// A flush.
    FlushJobInfo(cambium_flushjobinfo_t) {
        /// The path of the database, as it was given when the database was opened.
        path db_path(cambium_flushjobinfo_db_name);
        /// The name of the column family.
        text cf_name(cambium_flushjobinfo_cf_name);
        /// The number of the column family.
        number cf_id(cambium_flushjobinfo_cf_id, u32);
        /// The number of the job.
        number job_id(cambium_flushjobinfo_job_id, i32);
        /// Why the memtable was frozen.
        enumeration flush_reason(cambium_flushjobinfo_flush_reason, FlushReason);
        /// Versions in the memtable.
        number num_entries(cambium_flushjobinfo_num_entries, u64);
        /// All operations up to this one are in the index after the flush.
        number largest_seqno(cambium_flushjobinfo_largest_seqno, u64);
        /// True if the memtable went into the tree; otherwise it became runs.
        truth merged_into_tree(cambium_flushjobinfo_merged_into_tree);
        /// The files that were created.
        paths output_files(cambium_flushjobinfo_output_files_count, cambium_flushjobinfo_output_file_at);
        /// Bytes in index files.
        number bytes_written(cambium_flushjobinfo_bytes_written, u64);
        /// How long it took.
        number elapsed_micros(cambium_flushjobinfo_elapsed_micros, u64);
        /// How it ended. After an error the memtable is kept, and will be flushed again.
        status status(cambium_flushjobinfo_status);
    }
}

info! {
    /// A step of a sweep or a compaction.
    CompactionJobInfo(cambium_compactionjobinfo_t) {
        /// The path of the database, as it was given when the database was opened.
        path db_path(cambium_compactionjobinfo_db_name);
        /// The name of the column family.
        text cf_name(cambium_compactionjobinfo_cf_name);
        /// The number of the column family.
        number cf_id(cambium_compactionjobinfo_cf_id, u32);
        /// The number of the job.
        number job_id(cambium_compactionjobinfo_job_id, i32);
        /// Why it ran.
        enumeration compaction_reason(cambium_compactionjobinfo_compaction_reason, CompactionReason);
        /// The level of its input; 0: runs.
        number base_input_level(cambium_compactionjobinfo_base_input_level, i32);
        /// The level of its output; 1 for a tree.
        number output_level(cambium_compactionjobinfo_output_level, i32);
        /// Files that are no longer in use.
        paths input_files(cambium_compactionjobinfo_input_files_count, cambium_compactionjobinfo_input_file_at);
        /// Files that were created.
        paths output_files(cambium_compactionjobinfo_output_files_count, cambium_compactionjobinfo_output_file_at);
        /// Bytes that it has read.
        number bytes_read(cambium_compactionjobinfo_bytes_read, u64);
        /// Bytes that it has written.
        number bytes_written(cambium_compactionjobinfo_bytes_written, u64);
        /// Entries that it has merged.
        number entries_merged(cambium_compactionjobinfo_entries_merged, u64);
        /// Entries that it has dropped.
        number entries_dropped(cambium_compactionjobinfo_entries_dropped, u64);
        /// How long it took.
        number elapsed_micros(cambium_compactionjobinfo_elapsed_micros, u64);
        /// How it ended. After an error nothing has changed.
        status status(cambium_compactionjobinfo_status);
    }
}

info! {
    /// A step of log GC: it either copies live values, or punches dead ones out.
    LogGcJobInfo(cambium_loggcjobinfo_t) {
        /// The path of the database, as it was given when the database was opened.
        path db_path(cambium_loggcjobinfo_db_name);
        /// The number of the job.
        number job_id(cambium_loggcjobinfo_job_id, i32);
        /// Why it ran.
        enumeration reason(cambium_loggcjobinfo_reason, LogGcReason);
        /// Files that it has read.
        paths input_files(cambium_loggcjobinfo_input_files_count, cambium_loggcjobinfo_input_file_at);
        /// Those of them that are no longer in use.
        paths emptied_files(cambium_loggcjobinfo_emptied_files_count, cambium_loggcjobinfo_emptied_file_at);
        /// Those of them that get holes.
        paths punched_files(cambium_loggcjobinfo_punched_files_count, cambium_loggcjobinfo_punched_file_at);
        /// Bytes that it has read.
        number bytes_read(cambium_loggcjobinfo_bytes_read, u64);
        /// Keys whose values it has moved.
        number keys_relocated(cambium_loggcjobinfo_keys_relocated, u64);
        /// Bytes of records that it has written.
        number bytes_written(cambium_loggcjobinfo_bytes_written, u64);
        /// Bytes that it has freed.
        number bytes_freed(cambium_loggcjobinfo_bytes_freed, u64);
        /// How long it took.
        number elapsed_micros(cambium_loggcjobinfo_elapsed_micros, u64);
        /// How it ended. After an error nothing has changed.
        status status(cambium_loggcjobinfo_status);
    }
}

info! {
    /// A frozen memtable.
    MemtableInfo(cambium_memtableinfo_t) {
        /// The path of the database, as it was given when the database was opened.
        path db_path(cambium_memtableinfo_db_name);
        /// The name of the column family.
        text cf_name(cambium_memtableinfo_cf_name);
        /// The number of the column family.
        number cf_id(cambium_memtableinfo_cf_id, u32);
        /// Versions, with deletions of single keys.
        number num_entries(cambium_memtableinfo_num_entries, u64);
        /// Range deletes.
        number num_range_deletes(cambium_memtableinfo_num_range_deletes, u64);
        /// Bytes of memory.
        number memory_bytes(cambium_memtableinfo_memory_bytes, u64);
        /// Why it was frozen.
        enumeration reason(cambium_memtableinfo_reason, FlushReason);
    }
}

info! {
    /// An index file that was begun or is complete.
    TableFileCreationInfo(cambium_tablefilecreationinfo_t) {
        /// The path of the database, as it was given when the database was opened.
        path db_path(cambium_tablefilecreationinfo_db_name);
        /// The name of the column family.
        text cf_name(cambium_tablefilecreationinfo_cf_name);
        /// The number of the column family.
        number cf_id(cambium_tablefilecreationinfo_cf_id, u32);
        /// The file.
        path file_path(cambium_tablefilecreationinfo_file_path);
        /// Its number. No other file of the database ever has it.
        number file_number(cambium_tablefilecreationinfo_file_number, u64);
        /// The number of the job; 0: none.
        number job_id(cambium_tablefilecreationinfo_job_id, i32);
        /// What it was made for.
        enumeration reason(cambium_tablefilecreationinfo_reason, TableFileReason);
        /// Its bytes.
        number file_size(cambium_tablefilecreationinfo_file_size, u64);
        /// How the job ended, as far as this file is concerned.
        status status(cambium_tablefilecreationinfo_status);
    }
}

info! {
    /// An index file that was removed.
    TableFileDeletionInfo(cambium_tablefiledeletioninfo_t) {
        /// The path of the database, as it was given when the database was opened.
        path db_path(cambium_tablefiledeletioninfo_db_name);
        /// The file.
        path file_path(cambium_tablefiledeletioninfo_file_path);
        /// Its number.
        number file_number(cambium_tablefiledeletioninfo_file_number, u64);
    }
}

info! {
    /// A file of values that was begun or is complete.
    BlobFileCreationInfo(cambium_blobfilecreationinfo_t) {
        /// The path of the database, as it was given when the database was opened.
        path db_path(cambium_blobfilecreationinfo_db_name);
        /// The file.
        path file_path(cambium_blobfilecreationinfo_file_path);
        /// Its number. No other file of the database ever has it.
        number file_number(cambium_blobfilecreationinfo_file_number, u64);
        /// What it was made for.
        enumeration reason(cambium_blobfilecreationinfo_reason, BlobFileReason);
        /// Its bytes; for a segment of the log, its size at the beginning.
        number file_size(cambium_blobfilecreationinfo_file_size, u64);
        /// An error says why the file is not needed.
        status status(cambium_blobfilecreationinfo_status);
    }
}

info! {
    /// A file of values that was removed.
    BlobFileDeletionInfo(cambium_blobfiledeletioninfo_t) {
        /// The path of the database, as it was given when the database was opened.
        path db_path(cambium_blobfiledeletioninfo_db_name);
        /// The file.
        path file_path(cambium_blobfiledeletioninfo_file_path);
        /// Its number.
        number file_number(cambium_blobfiledeletioninfo_file_number, u64);
    }
}

info! {
    /// Writes that begin or cease to wait.
    WriteStallInfo(cambium_writestallinfo_t) {
        /// The path of the database, as it was given when the database was opened.
        path db_path(cambium_writestallinfo_db_name);
        /// The name of the column family; empty if the whole database is affected.
        text cf_name(cambium_writestallinfo_cf_name);
        /// The number of the column family.
        number cf_id(cambium_writestallinfo_cf_id, u32);
        /// What they wait for.
        enumeration cause(cambium_writestallinfo_cause, StallCause);
        /// The condition now.
        enumeration current(cambium_writestallinfo_cur, StallCondition);
        /// The condition before.
        enumeration previous(cambium_writestallinfo_prev, StallCondition);
        /// Counts the changes of the database: the higher, the newer.
        number change(cambium_writestallinfo_change, u64);
    }
}

info! {
    /// A failure in the background.
    BackgroundErrorInfo(cambium_backgrounderrorinfo_t) {
        /// The path of the database, as it was given when the database was opened.
        path db_path(cambium_backgrounderrorinfo_db_name);
        /// What has failed.
        enumeration reason(cambium_backgrounderrorinfo_reason, BackgroundErrorReason);
        /// Its error.
        status status(cambium_backgrounderrorinfo_status);
    }
}
