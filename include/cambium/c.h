/* The C interface, in C99, also for other languages. Names are LevelDB's and RocksDB's, with the prefix cambium_. Their
   meaning is that of the C++ headers in this directory, whose comments apply here too. docs/C_API.md says more.

   Sections   Versions, types, errors; opening and closing, column families, writing, reading, asynchronous reads,
              iterators, snapshots, flushing and compacting, properties, options of an open database; write batches;
              options; comparators, compaction filters, environment, event listeners; checkpoints, backups, traces,
              memory.
              Each begins with its name between dashes. Transactions are in c_transaction.h, which this header includes.

   Errors     A function that can fail takes `char** errptr`, which points at NULL or at an earlier error. Success does
              not change it. An error frees the earlier one and stores a text, "IO error: ...", as Status::ToString()
              gives it. The text is the caller's and is freed with cambium_free. cambium_error_code and its neighbours
              say what kind of error it is. After an error the function returns NULL, 0, or nothing.
   Memory     What a comment calls "the caller's" is freed with cambium_free, or with the function that the comment
              names. Pointers to bytes inside an object are valid as long as the comment says. Bytes have a length, need
              no terminator, and may include zeros. NULL with a length of 0 means no bytes.
   Objects    Each cambium_x_create has its cambium_x_destroy, which also accepts NULL. A NULL column family or batch is
              an error. No other function accepts NULL for an object unless its comment says so. A comparator, filter or
              snapshot that options, reads or writes use is borrowed: it must outlive this use. Strings, bounds and
              options are copied.
   Truth      unsigned char: 0 is false, all else true; functions return 1 for true.
   Threads    Any thread may use a database, its families and snapshots. Everything else: one thread at a time.
   Callbacks  Called by any thread of the library, several at once; those of an asynchronous reader only by the thread
              that polls or destroys it. They must return, and not by longjmp or an exception.
   Exceptions A function with an errptr, or errors, reports out of memory as an error. Any other function throws
              std::bad_alloc, the only exception that can leave the library: it ends a program that is not C++.
   Forks      As in C++: in a forked child every call fails. */
#ifndef CAMBIUM_C_H_
#define CAMBIUM_C_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Versions ---- */

/* The version of this interface: the number in the shared library's name. It grows when programs built with an earlier
   header might fail: a function removed or changed in parameters or meaning, or a constant with another number. New
   functions do not change it. A program compares the header's version with the library's. */
#define CAMBIUM_ABI_VERSION 1
int cambium_abi_version(void);
/* The version of the release. */
int cambium_major_version(void);
int cambium_minor_version(void);
int cambium_patch_version(void);

/* ---- Types ---- */
typedef struct cambium_asyncreader_t cambium_asyncreader_t;
typedef struct cambium_backgrounderrorinfo_t cambium_backgrounderrorinfo_t;
typedef struct cambium_backup_engine_info_t cambium_backup_engine_info_t;
typedef struct cambium_backup_engine_t cambium_backup_engine_t;
typedef struct cambium_blobfilecreationinfo_t cambium_blobfilecreationinfo_t;
typedef struct cambium_blobfiledeletioninfo_t cambium_blobfiledeletioninfo_t;
typedef struct cambium_cache_t cambium_cache_t;
typedef struct cambium_checkpoint_t cambium_checkpoint_t;
typedef struct cambium_column_family_handle_t cambium_column_family_handle_t;
typedef struct cambium_compactionfilter_t cambium_compactionfilter_t;
typedef struct cambium_compactionfilteranswer_t cambium_compactionfilteranswer_t;
typedef struct cambium_compactionfiltercontext_t cambium_compactionfiltercontext_t;
typedef struct cambium_compactionfilterfactory_t cambium_compactionfilterfactory_t;
typedef struct cambium_compactionjobinfo_t cambium_compactionjobinfo_t;
typedef struct cambium_compactoptions_t cambium_compactoptions_t;
typedef struct cambium_comparator_t cambium_comparator_t;
typedef struct cambium_env_t cambium_env_t;
typedef struct cambium_eventlistener_t cambium_eventlistener_t;
typedef struct cambium_filterpolicy_t cambium_filterpolicy_t;
typedef struct cambium_flushjobinfo_t cambium_flushjobinfo_t;
typedef struct cambium_flushoptions_t cambium_flushoptions_t;
typedef struct cambium_iterator_t cambium_iterator_t;
typedef struct cambium_loggcjobinfo_t cambium_loggcjobinfo_t;
typedef struct cambium_logger_t cambium_logger_t;
typedef struct cambium_memtableinfo_t cambium_memtableinfo_t;
typedef struct cambium_options_t cambium_options_t;
typedef struct cambium_pinnableslice_t cambium_pinnableslice_t;
typedef struct cambium_ratelimiter_t cambium_ratelimiter_t;
typedef struct cambium_write_buffer_manager_t cambium_write_buffer_manager_t;
typedef struct cambium_readoptions_t cambium_readoptions_t;
typedef struct cambium_snapshot_t cambium_snapshot_t;
typedef struct cambium_statistics_histogram_data_t cambium_statistics_histogram_data_t;
typedef struct cambium_t cambium_t;
typedef struct cambium_tablefilecreationinfo_t cambium_tablefilecreationinfo_t;
typedef struct cambium_tablefiledeletioninfo_t cambium_tablefiledeletioninfo_t;
typedef struct cambium_traceoptions_t cambium_traceoptions_t;
typedef struct cambium_writebatch_t cambium_writebatch_t;
typedef struct cambium_writeoptions_t cambium_writeoptions_t;
typedef struct cambium_writestallinfo_t cambium_writestallinfo_t;

/* ---- Errors ----

   The text of an error begins with its kind, so these functions need nothing but the text: one that errptr received, an
   element of an array of errors, an argument of a callback, or a copy of it. They allocate nothing. */

/* Status::Code: what has happened. */
enum {
  cambium_code_ok = 0,
  cambium_code_not_found = 1,
  cambium_code_corruption = 2,
  cambium_code_not_supported = 3,
  cambium_code_invalid_argument = 4,
  cambium_code_io_error = 5,
  cambium_code_incomplete = 7,
  cambium_code_shutdown_in_progress = 8,
  cambium_code_timed_out = 9,
  cambium_code_aborted = 10,
  cambium_code_busy = 11,
  cambium_code_expired = 12,
  cambium_code_try_again = 13,
  cambium_code_column_family_dropped = 15,
  cambium_code_unknown = 255 /* the text is not an error of this library */
};
/* Status::SubCode: more about some errors of one code, which the comment names. */
enum {
  cambium_subcode_none = 0,
  cambium_subcode_no_space = 1,       /* io_error */
  cambium_subcode_locked = 2,         /* io_error */
  cambium_subcode_path_not_found = 3, /* io_error */
  cambium_subcode_denied = 4,         /* io_error */
  cambium_subcode_lock_timeout = 5,   /* timed_out */
  cambium_subcode_deadlock = 6,       /* busy */
  cambium_subcode_lock_limit = 7,     /* busy */
  cambium_subcode_out_of_memory = 8   /* aborted */
};
/* Status::Severity. After a fatal error the database takes no writes until it is opened again. */
enum { cambium_severity_none = 0, cambium_severity_fatal = 1 };
/* One of these constants. NULL is cambium_code_ok. Later versions may add codes and subcodes. */
int cambium_error_code(const char* error);
int cambium_error_subcode(const char* error);
int cambium_error_severity(const char* error);
/* The part of the text after the kind: what the error is about. It may be empty. It is the whole text if that is not an
   error of this library, and NULL for NULL. */
const char* cambium_error_message(const char* error);

/* ---- Opening and closing ---- */
cambium_t* cambium_open(const cambium_options_t* options, const char* name, char** errptr);
cambium_t* cambium_open_for_read_only(const cambium_options_t* options, const char* name, char** errptr);
/* Opens the `num_column_families` named families, each with its own options. handles[i] belongs to names[i]; release it
   with cambium_column_family_handle_destroy before closing the database. */
cambium_t* cambium_open_column_families(const cambium_options_t* options, const char* name, int num_column_families,
                                        const char* const* column_family_names,
                                        const cambium_options_t* const* column_family_options,
                                        cambium_column_family_handle_t** column_family_handles, char** errptr);
cambium_t* cambium_open_for_read_only_column_families(const cambium_options_t* options, const char* name,
                                                      int num_column_families, const char* const* column_family_names,
                                                      const cambium_options_t* const* column_family_options,
                                                      cambium_column_family_handle_t** column_family_handles,
                                                      char** errptr);
/* Closes, and logs errors. Release snapshots, iterators, asynchronous readers, pinned slices and handles first. NULL
   does nothing. */
void cambium_close(cambium_t* db);
/* Closes and reports errors. Returns 1 if `db` is gone: the database is closed, with or without an error. Returns 0,
   always with an error (cambium_code_aborted), if `db` must be closed again later: a snapshot, an iterator, a
   transaction, an asynchronous reader or a slice that refers to a mapping exists, and the database remains open and
   usable; or memory ran out (cambium_subcode_out_of_memory). */
unsigned char cambium_close_with_status(cambium_t* db, char** errptr);
void cambium_destroy_db(const cambium_options_t* options, const char* name, char** errptr);
/* As in LevelDB: what survives of a damaged database replaces it; the damaged one is renamed to `name`.damaged, which
   must not exist. A healthy database is not changed. */
void cambium_repair_db(const cambium_options_t* options, const char* name, char** errptr);
/* Creates a new database `out` from what survives of `name`, which is not changed. Sets *num_lost to how many things
   were lost, and *num_unproven to how many values may be old or of deleted keys. These values are written only with
   `include_unproven`. */
void cambium_salvage_db(const cambium_options_t* options, const char* name, const char* out,
                        unsigned char include_unproven, uint64_t* num_lost, uint64_t* num_unproven, char** errptr);
/* Also takes the options of `num_column_families` families by name. Other families get default options. A family with a
   comparator of your own must be named. */
void cambium_salvage_db_column_families(const cambium_options_t* options, const char* name, int num_column_families,
                                        const char* const* column_family_names,
                                        const cambium_options_t* const* column_family_options, const char* out,
                                        unsigned char include_unproven, uint64_t* num_lost, uint64_t* num_unproven,
                                        char** errptr);
/* Checks a database that no process has open for writing; with `deep`, every value too. Sets *problems to a list of
   *num_problems lines about what is damaged, the caller's: cambium_string_list_destroy. After a thousand lines, one
   more says how many there would be. If something cannot be read, that is an error, and the list still has everything
   else that was found. A comparator of your own in `options` applies to the default family; the library's own need not
   be given. */
void cambium_verify_db(const cambium_options_t* options, const char* name, unsigned char deep, char*** problems,
                       size_t* num_problems, char** errptr);
/* Also takes families by name, each with the comparator in its options. A family with a comparator of your own must be
   named. */
void cambium_verify_db_column_families(const cambium_options_t* options, const char* name, int num_column_families,
                                       const char* const* column_family_names,
                                       const cambium_options_t* const* column_family_options, unsigned char deep,
                                       char*** problems, size_t* num_problems, char** errptr);

/* ---- Column families ---- */
/* The list is the caller's: cambium_list_column_families_destroy. */
char** cambium_list_column_families(const cambium_options_t* options, const char* name, size_t* num, char** errptr);
void cambium_list_column_families_destroy(char** list, size_t num);
cambium_column_family_handle_t* cambium_create_column_family(cambium_t* db, const cambium_options_t* options,
                                                             const char* name, char** errptr);
void cambium_drop_column_family(cambium_t* db, cambium_column_family_handle_t* handle, char** errptr);
/* This handle, too, is the caller's. */
cambium_column_family_handle_t* cambium_get_default_column_family_handle(cambium_t* db);
void cambium_column_family_handle_destroy(cambium_column_family_handle_t* handle);
uint32_t cambium_column_family_handle_get_id(const cambium_column_family_handle_t* handle);
/* The name is the caller's, and ends with a zero. */
char* cambium_column_family_handle_get_name(const cambium_column_family_handle_t* handle, size_t* name_length);

/* ---- Writing ---- */
void cambium_put(cambium_t* db, const cambium_writeoptions_t* options, const char* key, size_t key_length,
                 const char* value, size_t value_length, char** errptr);
void cambium_put_cf(cambium_t* db, const cambium_writeoptions_t* options, cambium_column_family_handle_t* family,
                    const char* key, size_t key_length, const char* value, size_t value_length, char** errptr);
void cambium_delete(cambium_t* db, const cambium_writeoptions_t* options, const char* key, size_t key_length,
                    char** errptr);
void cambium_delete_cf(cambium_t* db, const cambium_writeoptions_t* options, cambium_column_family_handle_t* family,
                       const char* key, size_t key_length, char** errptr);
void cambium_singledelete(cambium_t* db, const cambium_writeoptions_t* options, const char* key, size_t key_length,
                          char** errptr);
void cambium_singledelete_cf(cambium_t* db, const cambium_writeoptions_t* options,
                             cambium_column_family_handle_t* family, const char* key, size_t key_length, char** errptr);
/* Deletes the keys in [start, end). */
void cambium_delete_range(cambium_t* db, const cambium_writeoptions_t* options, const char* start, size_t start_length,
                          const char* end, size_t end_length, char** errptr);
void cambium_delete_range_cf(cambium_t* db, const cambium_writeoptions_t* options,
                             cambium_column_family_handle_t* family, const char* start, size_t start_length,
                             const char* end, size_t end_length, char** errptr);
void cambium_write(cambium_t* db, const cambium_writeoptions_t* options, cambium_writebatch_t* batch, char** errptr);

/* ---- Reading ---- */
/* The value is the caller's, *value_length bytes; NULL, without an error, if the key does not exist. An empty value is
   not NULL. */
char* cambium_get(cambium_t* db, const cambium_readoptions_t* options, const char* key, size_t key_length,
                  size_t* value_length, char** errptr);
char* cambium_get_cf(cambium_t* db, const cambium_readoptions_t* options, cambium_column_family_handle_t* family,
                     const char* key, size_t key_length, size_t* value_length, char** errptr);
/* As cambium_get, into memory of the caller's. Sets *found to whether the key exists, and *value_length to the length
   of its value. Returns 1 if the value is in `buffer`. If the key exists and this returns 0, *value_length is more than
   buffer_size: nothing was copied, and the value itself was not checked. `buffer` may be NULL if buffer_size is 0. A
   value that is in memory is copied without an allocation, unless it is compressed, or long and not mapped. After an
   error `buffer` may have any bytes. */
unsigned char cambium_get_into_buffer(cambium_t* db, const cambium_readoptions_t* options, const char* key,
                                      size_t key_length, char* buffer, size_t buffer_size, size_t* value_length,
                                      unsigned char* found, char** errptr);
unsigned char cambium_get_into_buffer_cf(cambium_t* db, const cambium_readoptions_t* options,
                                         cambium_column_family_handle_t* family, const char* key, size_t key_length,
                                         char* buffer, size_t buffer_size, size_t* value_length, unsigned char* found,
                                         char** errptr);
/* As cambium_get, but copies the value once less, or not at all: see cambium_readoptions_set_pin_mapped_values. The
   slice is the caller's: cambium_pinnableslice_destroy, before the database is closed. */
cambium_pinnableslice_t* cambium_get_pinned(cambium_t* db, const cambium_readoptions_t* options, const char* key,
                                            size_t key_length, char** errptr);
cambium_pinnableslice_t* cambium_get_pinned_cf(cambium_t* db, const cambium_readoptions_t* options,
                                               cambium_column_family_handle_t* family, const char* key,
                                               size_t key_length, char** errptr);
/* The bytes are valid as long as the slice. NULL, and no bytes, for NULL: the key does not exist. */
const char* cambium_pinnableslice_value(const cambium_pinnableslice_t* slice, size_t* value_length);
void cambium_pinnableslice_destroy(cambium_pinnableslice_t* slice);
/* Reads all keys at one state. For each i below num_keys, values[i] and errors[i] are set as by cambium_get and its
   errptr, but errors[i] need not be initialized. values[i] and errors[i] are the caller's. */
void cambium_multi_get(cambium_t* db, const cambium_readoptions_t* options, size_t num_keys, const char* const* keys,
                       const size_t* key_lengths, char** values, size_t* value_lengths, char** errors);
void cambium_multi_get_cf(cambium_t* db, const cambium_readoptions_t* options,
                          const cambium_column_family_handle_t* const* families, size_t num_keys,
                          const char* const* keys, const size_t* key_lengths, char** values, size_t* value_lengths,
                          char** errors);
/* Reads keys of one family without copies: values[i] is NULL, or the caller's: cambium_pinnableslice_destroy.
   `sorted_input` is there as in RocksDB and ignored: keys are sorted here, at no cost if they are sorted already. */
void cambium_batched_multi_get_cf(cambium_t* db, const cambium_readoptions_t* options,
                                  cambium_column_family_handle_t* family, size_t num_keys, const char* const* keys,
                                  const size_t* key_lengths, cambium_pinnableslice_t** values, char** errors,
                                  unsigned char sorted_input);

/* ---- Asynchronous reads ---- */
/* Many reads in flight from one thread; async.h describes them. A read begins with cambium_asyncreader_get, and ends in
   cambium_asyncreader_poll or cambium_asyncreader_destroy, which call its callback, once; it must not be NULL. During
   the callback `value` and `error` are valid; they are the library's, and the callback must not free them. Both are
   NULL if the key does not exist. The callback may begin reads; during cambium_asyncreader_destroy they fail. It must
   not destroy the reader. */
typedef void (*cambium_asyncreader_callback_t)(void* state, const char* value, size_t value_length, const char* error);
/* The same for all keys of one call: arrays of num_keys. */
typedef void (*cambium_asyncreader_many_callback_t)(void* state, size_t num_keys, const char* const* values,
                                                    const size_t* value_lengths, const char* const* errors);
/* `depth`: keys in flight at most, 1 to 4096. `bytes_max`: the most bytes of the values that are read together. If
   `use_io_uring` is false, threads read. Destroy the reader before closing the database. */
cambium_asyncreader_t* cambium_asyncreader_create(cambium_t* db, size_t depth, uint64_t bytes_max,
                                                  unsigned char use_io_uring, char** errptr);
void cambium_asyncreader_destroy(cambium_asyncreader_t* reader);
/* Return true if the read has begun: the callback will be called. False, and no error: `depth` reads are in flight, so
   poll first. The key is copied. */
unsigned char cambium_asyncreader_get(cambium_asyncreader_t* reader, const cambium_readoptions_t* options,
                                      const char* key, size_t key_length, cambium_asyncreader_callback_t callback,
                                      void* state, char** errptr);
unsigned char cambium_asyncreader_get_cf(cambium_asyncreader_t* reader, const cambium_readoptions_t* options,
                                         cambium_column_family_handle_t* family, const char* key, size_t key_length,
                                         cambium_asyncreader_callback_t callback, void* state, char** errptr);
/* Reads all keys at one state; at most `depth`. */
unsigned char cambium_asyncreader_multi_get_cf(cambium_asyncreader_t* reader, const cambium_readoptions_t* options,
                                               const cambium_column_family_handle_t* const* families, size_t num_keys,
                                               const char* const* keys, const size_t* key_lengths,
                                               cambium_asyncreader_many_callback_t callback, void* state,
                                               char** errptr);
/* Hands the reads that have begun to the system, as each poll does. */
void cambium_asyncreader_submit(cambium_asyncreader_t* reader);
/* Ends reads and calls their callbacks, until `least` have ended, or timeout_micros have passed (UINT64_MAX: no limit),
   or none is in flight. Returns how many it has ended. */
size_t cambium_asyncreader_poll(cambium_asyncreader_t* reader, size_t least, uint64_t timeout_micros);
/* The number of keys that are in flight. */
size_t cambium_asyncreader_in_flight(const cambium_asyncreader_t* reader);
/* An eventfd of the reader, readable when a poll has something to do. -1 after an error. */
int cambium_asyncreader_event_fd(cambium_asyncreader_t* reader, char** errptr);

/* ---- Iterators ---- */
/* Never NULL: errors show in cambium_iter_get_error. Destroy the iterator before closing the database. */
cambium_iterator_t* cambium_create_iterator(cambium_t* db, const cambium_readoptions_t* options);
cambium_iterator_t* cambium_create_iterator_cf(cambium_t* db, const cambium_readoptions_t* options,
                                               cambium_column_family_handle_t* family);
/* Makes one iterator per family, all of the same state. After an error there are none. */
void cambium_create_iterators(cambium_t* db, const cambium_readoptions_t* options,
                              cambium_column_family_handle_t* const* families, cambium_iterator_t** iterators,
                              size_t num_families, char** errptr);
void cambium_iter_destroy(cambium_iterator_t* iterator);
unsigned char cambium_iter_valid(const cambium_iterator_t* iterator);
void cambium_iter_seek_to_first(cambium_iterator_t* iterator);
void cambium_iter_seek_to_last(cambium_iterator_t* iterator);
void cambium_iter_seek(cambium_iterator_t* iterator, const char* key, size_t key_length);
void cambium_iter_seek_for_prev(cambium_iterator_t* iterator, const char* key, size_t key_length);
/* On an iterator that is not valid, these do nothing. */
void cambium_iter_next(cambium_iterator_t* iterator);
void cambium_iter_prev(cambium_iterator_t* iterator);
/* These require a valid iterator, which has a key and a value: each move reads the value of the entry that it finds,
   unless allow_unprepared_value is set. If it cannot be read, the iterator is not valid until the next seek, and
   cambium_iter_get_error says why. Bytes are valid until the iterator moves. */
const char* cambium_iter_key(const cambium_iterator_t* iterator, size_t* key_length);
const char* cambium_iter_value(const cambium_iterator_t* iterator, size_t* value_length);
/* With allow_unprepared_value, must precede cambium_iter_value: reads the value. Returns false if it cannot be read:
   the iterator is then not valid. Without that option, the value has been read already. */
unsigned char cambium_iter_prepare_value(cambium_iterator_t* iterator);
/* Bytes of the value; if it has not been read, as far as the index knows them. */
uint64_t cambium_iter_value_size(const cambium_iterator_t* iterator);
/* May be called at any time. The error says why the iterator is not valid, and stays until the next seek; at the end of
   the keys there is none. */
void cambium_iter_get_error(const cambium_iterator_t* iterator, char** errptr);

/* ---- Snapshots ---- */
/* NULL if the database is closed. */
const cambium_snapshot_t* cambium_create_snapshot(cambium_t* db);
void cambium_release_snapshot(cambium_t* db, const cambium_snapshot_t* snapshot);
uint64_t cambium_snapshot_get_sequence_number(const cambium_snapshot_t* snapshot);
uint64_t cambium_get_latest_sequence_number(cambium_t* db);

/* ---- Flushing, compacting, durability ---- */
void cambium_flush(cambium_t* db, const cambium_flushoptions_t* options, char** errptr);
void cambium_flush_cf(cambium_t* db, const cambium_flushoptions_t* options, cambium_column_family_handle_t* family,
                      char** errptr);
/* With `sync`, makes everything written so far durable, in all families. */
void cambium_flush_wal(cambium_t* db, unsigned char sync, char** errptr);
/* Compacts from the start key to the limit, both included; NULL: unbounded. The first two calls lose errors. */
void cambium_compact_range(cambium_t* db, const char* start_key, size_t start_key_length, const char* limit_key,
                           size_t limit_key_length);
void cambium_compact_range_cf(cambium_t* db, cambium_column_family_handle_t* family, const char* start_key,
                              size_t start_key_length, const char* limit_key, size_t limit_key_length);
void cambium_compact_range_opt(cambium_t* db, const cambium_compactoptions_t* options, const char* start_key,
                               size_t start_key_length, const char* limit_key, size_t limit_key_length, char** errptr);
void cambium_compact_range_cf_opt(cambium_t* db, cambium_column_family_handle_t* family,
                                  const cambium_compactoptions_t* options, const char* start_key,
                                  size_t start_key_length, const char* limit_key, size_t limit_key_length,
                                  char** errptr);
/* Waits until no background work is left. */
void cambium_wait_for_compact(cambium_t* db, char** errptr);
/* DB::VerifyChecksum: reads each key and value of each column family. The first damage is the error. */
void cambium_verify_checksum(cambium_t* db, const cambium_readoptions_t* options, char** errptr);

/* ---- Properties ---- */
/* The text is the caller's, and ends with a zero; NULL for an unknown name. docs/OPTIONS.md lists the names. */
char* cambium_property_value(cambium_t* db, const char* property_name);
char* cambium_property_value_cf(cambium_t* db, cambium_column_family_handle_t* family, const char* property_name);
/* DB::GetDbIdentity: 32 digits, and a zero that *id_length does not count. The text is the caller's. NULL after a fatal
   error. */
char* cambium_get_db_identity(cambium_t* db, size_t* id_length);
/* Returns 0, or -1 for an unknown name or a property that is not a number. */
int cambium_property_int(cambium_t* db, const char* property_name, uint64_t* value);
int cambium_property_int_cf(cambium_t* db, cambium_column_family_handle_t* family, const char* property_name,
                            uint64_t* value);

/* ---- Options of an open database ---- */
/* `count` names and their texts. All changes take effect, or none. */
void cambium_set_options(cambium_t* db, int count, const char* const* keys, const char* const* values, char** errptr);
void cambium_set_options_cf(cambium_t* db, cambium_column_family_handle_t* family, int count, const char* const* keys,
                            const char* const* values, char** errptr);
void cambium_set_db_options(cambium_t* db, int count, const char* const* keys, const char* const* values,
                            char** errptr);
/* The options in force, the caller's: cambium_options_destroy. */
cambium_options_t* cambium_get_options(cambium_t* db);
cambium_options_t* cambium_get_options_cf(cambium_t* db, cambium_column_family_handle_t* family);

/* Sets each size to about the bytes that the keys in [start, limit) take in files: see GetApproximateSizes in db.h. As
   in LevelDB errors are lost: if pages cannot be read, all sizes are 0. */
void cambium_approximate_sizes(cambium_t* db, int num_ranges, const char* const* range_start_keys,
                               const size_t* range_start_key_lengths, const char* const* range_limit_keys,
                               const size_t* range_limit_key_lengths, uint64_t* sizes);
enum { cambium_size_approximation_include_memtables = 1, cambium_size_approximation_include_files = 2 };
/* As in RocksDB: for any family, and errors are reported. */
void cambium_approximate_sizes_cf(cambium_t* db, cambium_column_family_handle_t* family, int num_ranges,
                                  const char* const* range_start_keys, const size_t* range_start_key_lengths,
                                  const char* const* range_limit_keys, const size_t* range_limit_key_lengths,
                                  uint64_t* sizes, char** errptr);
/* Can include memtables: `include` is one of the constants above, or their sum. */
void cambium_approximate_sizes_cf_with_flags(cambium_t* db, cambium_column_family_handle_t* family, int num_ranges,
                                             const char* const* range_start_keys,
                                             const size_t* range_start_key_lengths,
                                             const char* const* range_limit_keys,
                                             const size_t* range_limit_key_lengths, unsigned char include,
                                             uint64_t* sizes, char** errptr);

/* ---- Write batches ---- */
cambium_writebatch_t* cambium_writebatch_create(void);
/* From bytes of cambium_writebatch_data; NULL if they are not a batch. */
cambium_writebatch_t* cambium_writebatch_create_from(const char* bytes, size_t length);
void cambium_writebatch_destroy(cambium_writebatch_t* batch);
void cambium_writebatch_clear(cambium_writebatch_t* batch);
int cambium_writebatch_count(const cambium_writebatch_t* batch);
/* These report no errors. If a key or a value is too long, or a family is NULL or of another database than the others,
   cambium_write rejects the batch and says why, until the batch is cleared or rolled back to a save point before it. */
void cambium_writebatch_put(cambium_writebatch_t* batch, const char* key, size_t key_length, const char* value,
                            size_t value_length);
void cambium_writebatch_put_cf(cambium_writebatch_t* batch, cambium_column_family_handle_t* family, const char* key,
                               size_t key_length, const char* value, size_t value_length);
void cambium_writebatch_delete(cambium_writebatch_t* batch, const char* key, size_t key_length);
void cambium_writebatch_delete_cf(cambium_writebatch_t* batch, cambium_column_family_handle_t* family, const char* key,
                                  size_t key_length);
void cambium_writebatch_singledelete(cambium_writebatch_t* batch, const char* key, size_t key_length);
void cambium_writebatch_singledelete_cf(cambium_writebatch_t* batch, cambium_column_family_handle_t* family,
                                        const char* key, size_t key_length);
void cambium_writebatch_delete_range(cambium_writebatch_t* batch, const char* start, size_t start_length,
                                     const char* end, size_t end_length);
void cambium_writebatch_delete_range_cf(cambium_writebatch_t* batch, cambium_column_family_handle_t* family,
                                        const char* start, size_t start_length, const char* end, size_t end_length);
/* Appends all operations of `source` to `destination`. */
void cambium_writebatch_append(cambium_writebatch_t* destination, const cambium_writebatch_t* source);
/* The bytes are valid until the batch changes. */
const char* cambium_writebatch_data(const cambium_writebatch_t* batch, size_t* size);
void cambium_writebatch_set_save_point(cambium_writebatch_t* batch);
void cambium_writebatch_rollback_to_save_point(cambium_writebatch_t* batch, char** errptr);
void cambium_writebatch_pop_save_point(cambium_writebatch_t* batch, char** errptr);
/* Calls the callbacks for each operation in order. Stops at the first operation that has no callback (another family,
   or a range delete): cambium_writebatch_iterate_cf handles all. */
void cambium_writebatch_iterate(const cambium_writebatch_t* batch, void* state,
                                void (*put)(void* state, const char* key, size_t key_length, const char* value,
                                            size_t value_length),
                                void (*deleted)(void* state, const char* key, size_t key_length));
/* Gives families by number, and reports errors. A single delete is reported as a delete. `delete_range` may be NULL: a
   range delete is then an error. */
void cambium_writebatch_iterate_cf(const cambium_writebatch_t* batch, void* state,
                                   void (*put_cf)(void* state, uint32_t family_id, const char* key, size_t key_length,
                                                  const char* value, size_t value_length),
                                   void (*deleted_cf)(void* state, uint32_t family_id, const char* key,
                                                      size_t key_length),
                                   void (*delete_range_cf)(void* state, uint32_t family_id, const char* start,
                                                           size_t start_length, const char* end, size_t end_length),
                                   char** errptr);

/* ---- Options of a database and of a family ----

   Defaults are the library's. If a value is out of range, or is none of the constants of its option, the call that uses
   the options fails. */
cambium_options_t* cambium_options_create(void);
cambium_options_t* cambium_options_create_copy(const cambium_options_t* options);
void cambium_options_destroy(cambium_options_t* options);
/* Sets RocksDB's defaults for the options that it has; see options.h. */
void cambium_options_optimize_for_rocksdb_compatibility(cambium_options_t* options);
/* The text is "name=value;name=value", see convenience.h. */
void cambium_get_options_from_string(const cambium_options_t* base_options, const char* text,
                                     cambium_options_t* new_options, char** errptr);
/* All options that have a text form, the caller's. Error if an option is not legal. */
char* cambium_options_to_string(const cambium_options_t* options, char** errptr);
/* Reads the newest OPTIONS file of a database. Comparators of the caller's own are looked up by name in `comparators`.
   Release the results with cambium_load_latest_options_destroy. */
void cambium_load_latest_options(const char* name, unsigned char ignore_unknown_options,
                                 const cambium_comparator_t* const* comparators, size_t num_comparators,
                                 cambium_options_t** db_options, size_t* num_column_families,
                                 char*** column_family_names, cambium_options_t*** column_family_options,
                                 char** errptr);
void cambium_load_latest_options_destroy(cambium_options_t* db_options, char** column_family_names,
                                         cambium_options_t** column_family_options, size_t num_column_families);

/* Open. */
void cambium_options_set_create_if_missing(cambium_options_t* options, unsigned char value);
unsigned char cambium_options_get_create_if_missing(const cambium_options_t* options);
void cambium_options_set_create_missing_column_families(cambium_options_t* options, unsigned char value);
unsigned char cambium_options_get_create_missing_column_families(const cambium_options_t* options);
void cambium_options_set_error_if_exists(cambium_options_t* options, unsigned char value);
unsigned char cambium_options_get_error_if_exists(const cambium_options_t* options);
enum {
  cambium_tolerate_corrupted_tail_records_recovery = 0,
  cambium_absolute_consistency_recovery = 1,
  cambium_point_in_time_recovery = 2,
  cambium_skip_any_corrupted_records_recovery = 3 /* not supported */
};
void cambium_options_set_wal_recovery_mode(cambium_options_t* options, int value);
int cambium_options_get_wal_recovery_mode(const cambium_options_t* options);
void cambium_options_set_lock_wait_micros(cambium_options_t* options, uint64_t value);
uint64_t cambium_options_get_lock_wait_micros(const cambium_options_t* options);

/* Memory, log, threads. */
void cambium_options_set_page_cache_size(cambium_options_t* options, size_t value);
size_t cambium_options_get_page_cache_size(const cambium_options_t* options);
void cambium_options_set_db_write_buffer_size(cambium_options_t* options, size_t value);
size_t cambium_options_get_db_write_buffer_size(const cambium_options_t* options);
void cambium_options_set_max_total_wal_size(cambium_options_t* options, uint64_t value);
uint64_t cambium_options_get_max_total_wal_size(const cambium_options_t* options);
void cambium_options_set_max_space_amplification(cambium_options_t* options, double value);
double cambium_options_get_max_space_amplification(const cambium_options_t* options);
void cambium_options_set_min_space_limit(cambium_options_t* options, uint64_t value);
uint64_t cambium_options_get_min_space_limit(const cambium_options_t* options);
void cambium_options_set_min_punch_size(cambium_options_t* options, uint64_t value);
uint64_t cambium_options_get_min_punch_size(const cambium_options_t* options);
void cambium_options_set_allow_mmap_reads(cambium_options_t* options, unsigned char value);
unsigned char cambium_options_get_allow_mmap_reads(const cambium_options_t* options);
void cambium_options_set_max_open_files(cambium_options_t* options, int value);
int cambium_options_get_max_open_files(const cambium_options_t* options);
void cambium_options_set_max_background_jobs(cambium_options_t* options, int value);
int cambium_options_get_max_background_jobs(const cambium_options_t* options);

/* Keys and index. */
void cambium_options_set_comparator(cambium_options_t* options, cambium_comparator_t* comparator); /* borrowed */
enum { cambium_btree_index = 1, cambium_lsm_index = 2 };
void cambium_options_set_index_type(cambium_options_t* options, int value);
int cambium_options_get_index_type(const cambium_options_t* options);
void cambium_options_set_page_size(cambium_options_t* options, uint64_t value);
uint64_t cambium_options_get_page_size(const cambium_options_t* options);
void cambium_options_set_filter_bits_per_key(cambium_options_t* options, int value);
int cambium_options_get_filter_bits_per_key(const cambium_options_t* options);
void cambium_options_set_write_buffer_size(cambium_options_t* options, size_t value);
size_t cambium_options_get_write_buffer_size(const cambium_options_t* options);
void cambium_options_set_max_write_buffer_number(cambium_options_t* options, int value);
int cambium_options_get_max_write_buffer_number(const cambium_options_t* options);

/* Values. Three names are shorter, as in RocksDB's C interface: enable_blob_gc is enable_blob_garbage_collection, and
   blob_gc_age_cutoff and blob_gc_force_threshold are blob_garbage_collection_age_cutoff and _force_threshold. */
enum { cambium_no_compression = 0, cambium_snappy_compression = 1 /* not supported */, cambium_lz4_compression = 4,
       cambium_zstd_compression = 7 };
void cambium_options_set_enable_blob_files(cambium_options_t* options, unsigned char value);
unsigned char cambium_options_get_enable_blob_files(const cambium_options_t* options);
void cambium_options_set_min_blob_size(cambium_options_t* options, uint64_t value);
uint64_t cambium_options_get_min_blob_size(const cambium_options_t* options);
void cambium_options_set_large_value_size(cambium_options_t* options, uint64_t value);
uint64_t cambium_options_get_large_value_size(const cambium_options_t* options);
void cambium_options_set_blob_compression_type(cambium_options_t* options, int value);
int cambium_options_get_blob_compression_type(const cambium_options_t* options);
void cambium_options_set_blob_file_size(cambium_options_t* options, uint64_t value);
uint64_t cambium_options_get_blob_file_size(const cambium_options_t* options);
enum { cambium_value_clustering_off = 0, cambium_value_clustering_auto = 1, cambium_value_clustering_full = 2 };
void cambium_options_set_value_clustering(cambium_options_t* options, int value);
int cambium_options_get_value_clustering(const cambium_options_t* options);
void cambium_options_set_enable_blob_gc(cambium_options_t* options, unsigned char value);
unsigned char cambium_options_get_enable_blob_gc(const cambium_options_t* options);
void cambium_options_set_blob_gc_age_cutoff(cambium_options_t* options, double value);
double cambium_options_get_blob_gc_age_cutoff(const cambium_options_t* options);
void cambium_options_set_blob_gc_force_threshold(cambium_options_t* options, double value);
double cambium_options_get_blob_gc_force_threshold(const cambium_options_t* options);

/* Compactions. */
void cambium_options_set_sweep_ratio(cambium_options_t* options, int value);
int cambium_options_get_sweep_ratio(const cambium_options_t* options);
enum { cambium_level_compaction = 0, cambium_lazy_level_compaction = 8 };
void cambium_options_set_compaction_style(cambium_options_t* options, int value);
int cambium_options_get_compaction_style(const cambium_options_t* options);
void cambium_options_set_level0_file_num_compaction_trigger(cambium_options_t* options, int value);
int cambium_options_get_level0_file_num_compaction_trigger(const cambium_options_t* options);
void cambium_options_set_level0_slowdown_writes_trigger(cambium_options_t* options, int value);
int cambium_options_get_level0_slowdown_writes_trigger(const cambium_options_t* options);
void cambium_options_set_level0_stop_writes_trigger(cambium_options_t* options, int value);
int cambium_options_get_level0_stop_writes_trigger(const cambium_options_t* options);
void cambium_options_set_target_file_size_base(cambium_options_t* options, uint64_t value);
uint64_t cambium_options_get_target_file_size_base(const cambium_options_t* options);
void cambium_options_set_target_file_size_multiplier(cambium_options_t* options, int value);
int cambium_options_get_target_file_size_multiplier(const cambium_options_t* options);
void cambium_options_set_max_bytes_for_level_base(cambium_options_t* options, uint64_t value);
uint64_t cambium_options_get_max_bytes_for_level_base(const cambium_options_t* options);
void cambium_options_set_max_bytes_for_level_multiplier(cambium_options_t* options, double value);
double cambium_options_get_max_bytes_for_level_multiplier(const cambium_options_t* options);
void cambium_options_set_num_levels(cambium_options_t* options, int value);
int cambium_options_get_num_levels(const cambium_options_t* options);
void cambium_options_set_compression(cambium_options_t* options, int value);
int cambium_options_get_compression(const cambium_options_t* options);

/* Objects. A filter is borrowed. A factory is owned by the options from here on, and shared with their copies. Rate
   limiter, write buffer manager, environment and logger may be destroyed afterwards: options and databases keep what
   they need. */
void cambium_options_set_compaction_filter(cambium_options_t* options, cambium_compactionfilter_t* filter);
void cambium_options_set_compaction_filter_factory(cambium_options_t* options,
                                                   cambium_compactionfilterfactory_t* factory);
void cambium_options_set_ratelimiter(cambium_options_t* options, cambium_ratelimiter_t* limiter); /* NULL: none */
void cambium_options_set_write_buffer_manager(cambium_options_t* options,
                                              cambium_write_buffer_manager_t* manager); /* NULL: none */
void cambium_options_set_env(cambium_options_t* options, cambium_env_t* env);                     /* NULL: default */
void cambium_options_set_info_log(cambium_options_t* options, cambium_logger_t* logger); /* NULL: the file LOG */

/* Statistics belong to the options, and are shared with their copies and with all databases opened with them. Without
   cambium_options_enable_statistics there are none: no text, and counts of 0. Numbers of tickers and histograms are
   this library's: cambium_statistics_ticker("rocksdb.memtable.hit") returns one, or UINT32_MAX for an unknown name. */
void cambium_options_enable_statistics(cambium_options_t* options);
void cambium_options_set_statistics_level(cambium_options_t* options, int level);
int cambium_options_get_statistics_level(const cambium_options_t* options);
char* cambium_options_statistics_get_string(const cambium_options_t* options); /* the caller's */
uint32_t cambium_statistics_ticker(const char* name);
uint32_t cambium_statistics_histogram(const char* name);
uint64_t cambium_options_statistics_get_ticker_count(const cambium_options_t* options, uint32_t ticker);
void cambium_options_statistics_get_histogram_data(const cambium_options_t* options, uint32_t histogram,
                                                   cambium_statistics_histogram_data_t* data);
cambium_statistics_histogram_data_t* cambium_statistics_histogram_data_create(void);
void cambium_statistics_histogram_data_destroy(cambium_statistics_histogram_data_t* data);
double cambium_statistics_histogram_data_get_median(const cambium_statistics_histogram_data_t* data);
double cambium_statistics_histogram_data_get_p95(const cambium_statistics_histogram_data_t* data);
double cambium_statistics_histogram_data_get_p99(const cambium_statistics_histogram_data_t* data);
double cambium_statistics_histogram_data_get_average(const cambium_statistics_histogram_data_t* data);
double cambium_statistics_histogram_data_get_std_dev(const cambium_statistics_histogram_data_t* data);
double cambium_statistics_histogram_data_get_max(const cambium_statistics_histogram_data_t* data);
double cambium_statistics_histogram_data_get_min(const cambium_statistics_histogram_data_t* data);
uint64_t cambium_statistics_histogram_data_get_count(const cambium_statistics_histogram_data_t* data);
uint64_t cambium_statistics_histogram_data_get_sum(const cambium_statistics_histogram_data_t* data);

/* LevelDB's names. The first five set the nearest option here. block_restart_interval, and a filter policy of the
   caller's own, have no effect: LOG says so. */
void cambium_options_set_block_size(cambium_options_t* options, size_t value);    /* page_size */
void cambium_options_set_max_file_size(cambium_options_t* options, size_t value); /* target_file_size_base */
/* wal_recovery_mode: true is tolerate_corrupted_tail_records, the default; false is point_in_time. */
void cambium_options_set_paranoid_checks(cambium_options_t* options, unsigned char value);
/* page_cache_size: each database has its own cache, of the capacity of this one. NULL: the default. */
void cambium_options_set_cache(cambium_options_t* options, cambium_cache_t* cache);
/* filter_bits_per_key. NULL: no filter. */
void cambium_options_set_filter_policy(cambium_options_t* options, cambium_filterpolicy_t* policy);
void cambium_options_set_block_restart_interval(cambium_options_t* options, int value); /* 1: every key can be found */
cambium_cache_t* cambium_cache_create_lru(size_t capacity);
void cambium_cache_destroy(cambium_cache_t* cache);
cambium_filterpolicy_t* cambium_filterpolicy_create_bloom(int bits_per_key);
/* A filter policy of the caller's own: the library uses its own filters instead. `destructor` is called when it is
   destroyed; the other functions are never called. */
cambium_filterpolicy_t* cambium_filterpolicy_create(
    void* state, void (*destructor)(void* state),
    char* (*create_filter)(void* state, const char* const* keys, const size_t* key_lengths, int num_keys,
                           size_t* filter_length),
    unsigned char (*key_may_match)(void* state, const char* key, size_t key_length, const char* filter,
                                   size_t filter_length),
    const char* (*name)(void* state));
void cambium_filterpolicy_destroy(cambium_filterpolicy_t* policy);

/* ---- Options of calls ---- */
cambium_readoptions_t* cambium_readoptions_create(void);
void cambium_readoptions_destroy(cambium_readoptions_t* options);
void cambium_readoptions_set_snapshot(cambium_readoptions_t* options, const cambium_snapshot_t* snapshot);
void cambium_readoptions_set_verify_checksums(cambium_readoptions_t* options, unsigned char value);
unsigned char cambium_readoptions_get_verify_checksums(const cambium_readoptions_t* options);
void cambium_readoptions_set_fill_cache(cambium_readoptions_t* options, unsigned char value);
unsigned char cambium_readoptions_get_fill_cache(const cambium_readoptions_t* options);
/* Bounds are copied. NULL: no bound. */
void cambium_readoptions_set_iterate_lower_bound(cambium_readoptions_t* options, const char* key, size_t key_length);
void cambium_readoptions_set_iterate_upper_bound(cambium_readoptions_t* options, const char* key, size_t key_length);
void cambium_readoptions_set_allow_unprepared_value(cambium_readoptions_t* options, unsigned char value);
unsigned char cambium_readoptions_get_allow_unprepared_value(const cambium_readoptions_t* options);
void cambium_readoptions_set_async_io(cambium_readoptions_t* options, unsigned char value);
unsigned char cambium_readoptions_get_async_io(const cambium_readoptions_t* options);
/* Slices and iterators' values of 1 KiB and more may refer to a mapped file, as ReadOptions in options.h says. */
void cambium_readoptions_set_pin_mapped_values(cambium_readoptions_t* options, unsigned char value);
unsigned char cambium_readoptions_get_pin_mapped_values(const cambium_readoptions_t* options);
void cambium_readoptions_set_durable_only(cambium_readoptions_t* options, unsigned char value);
unsigned char cambium_readoptions_get_durable_only(const cambium_readoptions_t* options);

cambium_writeoptions_t* cambium_writeoptions_create(void);
void cambium_writeoptions_destroy(cambium_writeoptions_t* options);
void cambium_writeoptions_set_sync(cambium_writeoptions_t* options, unsigned char value);
unsigned char cambium_writeoptions_get_sync(const cambium_writeoptions_t* options);
void cambium_writeoptions_disable_WAL(cambium_writeoptions_t* options, int value);
unsigned char cambium_writeoptions_get_disable_WAL(const cambium_writeoptions_t* options);
void cambium_writeoptions_set_no_slowdown(cambium_writeoptions_t* options, unsigned char value);
unsigned char cambium_writeoptions_get_no_slowdown(const cambium_writeoptions_t* options);

cambium_flushoptions_t* cambium_flushoptions_create(void);
void cambium_flushoptions_destroy(cambium_flushoptions_t* options);
void cambium_flushoptions_set_wait(cambium_flushoptions_t* options, unsigned char value);
unsigned char cambium_flushoptions_get_wait(const cambium_flushoptions_t* options);

enum { cambium_blob_gc_policy_force = 0, cambium_blob_gc_policy_disable = 1, cambium_blob_gc_policy_use_default = 2 };
cambium_compactoptions_t* cambium_compactoptions_create(void);
void cambium_compactoptions_destroy(cambium_compactoptions_t* options);
void cambium_compactoptions_set_blob_garbage_collection_policy(cambium_compactoptions_t* options, int value);
int cambium_compactoptions_get_blob_garbage_collection_policy(const cambium_compactoptions_t* options);
void cambium_compactoptions_set_blob_garbage_collection_age_cutoff(cambium_compactoptions_t* options, double value);
double cambium_compactoptions_get_blob_garbage_collection_age_cutoff(const cambium_compactoptions_t* options);
void cambium_compactoptions_set_cluster_values(cambium_compactoptions_t* options, unsigned char value);
unsigned char cambium_compactoptions_get_cluster_values(const cambium_compactoptions_t* options);

/* ---- Comparators ---- */
/* `name` may be called at any time; the string must live as long as the comparator, which must outlive every database
   that uses it. `destructor` may be NULL; it is called with the state when the comparator is destroyed. */
cambium_comparator_t* cambium_comparator_create(void* state, void (*destructor)(void* state),
                                                int (*compare)(void* state, const char* a, size_t a_length,
                                                               const char* b, size_t b_length),
                                                const char* (*name)(void* state));
/* The library's own. */
cambium_comparator_t* cambium_comparator_create_bytewise(void);
cambium_comparator_t* cambium_comparator_create_reverse_bytewise(void);
/* False if keys with different bytes may be equal. Call it before the comparator is used; no effect on the library's
   own. */
void cambium_comparator_set_equal_means_same_bytes(cambium_comparator_t* comparator, unsigned char value);
void cambium_comparator_destroy(cambium_comparator_t* comparator);

/* ---- Compaction filters ---- */
/* `filter` returns true to remove the key. If it keeps the key and sets *value_changed, *new_value replaces the value:
   the library copies it when `filter` returns; the memory is still the filter's. */
cambium_compactionfilter_t* cambium_compactionfilter_create(
    void* state, void (*destructor)(void* state),
    unsigned char (*filter)(void* state, int level, const char* key, size_t key_length, const char* existing_value,
                            size_t value_length, char** new_value, size_t* new_value_length,
                            unsigned char* value_changed),
    const char* (*name)(void* state));
enum {
  cambium_filter_keep = 0,
  cambium_filter_remove = 1,
  cambium_filter_change_value = 2,         /* to what was given to cambium_compactionfilteranswer_set_value */
  cambium_filter_remove_and_skip_until = 3, /* the key that was given to cambium_compactionfilteranswer_skip_until */
  cambium_filter_undetermined = 8          /* of filter_blob_by_key only: the value is needed */
};
/* A filter with everything that C++ filters can do. `filter_blob_by_key` is asked first about separated values, which
   are read only if it returns undetermined. NULL: they are always read. */
cambium_compactionfilter_t* cambium_compactionfilter_create_v2(
    void* state, void (*destructor)(void* state),
    int (*filter_blob_by_key)(void* state, int level, const char* key, size_t key_length,
                              cambium_compactionfilteranswer_t* answer),
    int (*filter)(void* state, int level, const char* key, size_t key_length, const char* existing_value,
                  size_t value_length, cambium_compactionfilteranswer_t* answer),
    const char* (*name)(void* state));
void cambium_compactionfilteranswer_set_value(cambium_compactionfilteranswer_t* answer, const char* value,
                                              size_t value_length);
void cambium_compactionfilteranswer_skip_until(cambium_compactionfilteranswer_t* answer, const char* key,
                                               size_t key_length);
/* Only true, the default, is supported: jobs whose filter is set to false fail. */
void cambium_compactionfilter_set_ignore_snapshots(cambium_compactionfilter_t* filter, unsigned char value);
/* Do not destroy a filter that options still use, or that a factory has returned. */
void cambium_compactionfilter_destroy(cambium_compactionfilter_t* filter);
/* `create` makes a filter for each job, which owns it; NULL: the job keeps everything. The context is valid until
   `create` returns. */
cambium_compactionfilterfactory_t* cambium_compactionfilterfactory_create(
    void* state, void (*destructor)(void* state),
    cambium_compactionfilter_t* (*create)(void* state, cambium_compactionfiltercontext_t* context),
    const char* (*name)(void* state));
/* Do not destroy a factory that was given to options. */
void cambium_compactionfilterfactory_destroy(cambium_compactionfilterfactory_t* factory);
unsigned char cambium_compactionfiltercontext_is_full_compaction(const cambium_compactionfiltercontext_t* context);
unsigned char cambium_compactionfiltercontext_is_manual_compaction(const cambium_compactionfiltercontext_t* context);
uint32_t cambium_compactionfiltercontext_column_family_id(const cambium_compactionfiltercontext_t* context);

/* ---- Environment, logger, rate limiter ---- */
/* The operating system's files and clock. */
cambium_env_t* cambium_create_default_env(void);
void cambium_env_destroy(cambium_env_t* env);
/* A directory for tests, created if it does not exist; the caller's. NULL if it cannot be created. */
char* cambium_env_get_test_directory(cambium_env_t* env);
enum { cambium_log_debug = 0, cambium_log_info = 1, cambium_log_warn = 2, cambium_log_error = 3 };
/* Calls `log` with each line of at least `level`: `length` bytes without a line end. */
cambium_logger_t* cambium_logger_create_callback_logger(int level,
                                                        void (*log)(void* state, int level, const char* line,
                                                                    size_t length),
                                                        void* state);
/* Drops everything. */
cambium_logger_t* cambium_logger_create_null_logger(void);
void cambium_logger_destroy(cambium_logger_t* logger);
cambium_ratelimiter_t* cambium_ratelimiter_create(int64_t rate_bytes_per_sec, int64_t refill_period_us,
                                                  int32_t fairness);
void cambium_ratelimiter_set_bytes_per_second(cambium_ratelimiter_t* limiter, int64_t bytes_per_second, char** errptr);
int64_t cambium_ratelimiter_get_bytes_per_second(const cambium_ratelimiter_t* limiter);
void cambium_ratelimiter_destroy(cambium_ratelimiter_t* limiter);
/* One limit for the memory of memtables and filters, for all databases that are opened with it; see
   cambium/write_buffer_manager.h. */
cambium_write_buffer_manager_t* cambium_write_buffer_manager_create(size_t buffer_size, unsigned char allow_stall);
void cambium_write_buffer_manager_destroy(cambium_write_buffer_manager_t* manager);
unsigned char cambium_write_buffer_manager_enabled(const cambium_write_buffer_manager_t* manager);
size_t cambium_write_buffer_manager_memory_usage(const cambium_write_buffer_manager_t* manager);
size_t cambium_write_buffer_manager_mutable_memtable_memory_usage(const cambium_write_buffer_manager_t* manager);
size_t cambium_write_buffer_manager_buffer_size(const cambium_write_buffer_manager_t* manager);
void cambium_write_buffer_manager_set_buffer_size(cambium_write_buffer_manager_t* manager, size_t new_size);
void cambium_write_buffer_manager_set_allow_stall(cambium_write_buffer_manager_t* manager,
                                                  unsigned char new_allow_stall);

/* ---- Event listeners ----

   Called for each event of a database; cambium/listener.h says on which threads, in what order, and what they may call.
   `db` and the info are valid during the call; `db` must not be closed. The getters return memory of the info. File
   names and texts have a length; getters of a status set the error, if there is one. */
typedef void (*cambium_on_flush_cb)(void* state, cambium_t* db, const cambium_flushjobinfo_t* info);
typedef void (*cambium_on_compaction_cb)(void* state, cambium_t* db, const cambium_compactionjobinfo_t* info);
typedef void (*cambium_on_log_gc_cb)(void* state, cambium_t* db, const cambium_loggcjobinfo_t* info);
typedef void (*cambium_on_memtable_sealed_cb)(void* state, const cambium_memtableinfo_t* info);
typedef void (*cambium_on_background_error_cb)(void* state, const cambium_backgrounderrorinfo_t* info);
typedef void (*cambium_on_stall_conditions_changed_cb)(void* state, const cambium_writestallinfo_t* info);
typedef void (*cambium_on_table_file_creation_cb)(void* state, const cambium_tablefilecreationinfo_t* info);
typedef void (*cambium_on_table_file_deleted_cb)(void* state, const cambium_tablefiledeletioninfo_t* info);
typedef void (*cambium_on_blob_file_creation_cb)(void* state, const cambium_blobfilecreationinfo_t* info);
typedef void (*cambium_on_blob_file_deleted_cb)(void* state, const cambium_blobfiledeletioninfo_t* info);

/* NULL callbacks are not called. `destructor` may be NULL; it is called with the state when no listener, options or
   database uses it any more. */
cambium_eventlistener_t* cambium_eventlistener_create(
    void* state, void (*destructor)(void* state), cambium_on_flush_cb on_flush_begin,
    cambium_on_flush_cb on_flush_completed, cambium_on_compaction_cb on_compaction_begin,
    cambium_on_compaction_cb on_compaction_completed, cambium_on_background_error_cb on_background_error,
    cambium_on_stall_conditions_changed_cb on_stall_conditions_changed,
    cambium_on_memtable_sealed_cb on_memtable_sealed);
/* Further callbacks. Set them before the listener is added to options. */
void cambium_eventlistener_set_on_log_gc_completed(cambium_eventlistener_t* listener, cambium_on_log_gc_cb callback);
/* In `started`, the info has no size and no status yet. */
void cambium_eventlistener_set_on_table_files(cambium_eventlistener_t* listener,
                                              cambium_on_table_file_creation_cb started,
                                              cambium_on_table_file_creation_cb created,
                                              cambium_on_table_file_deleted_cb deleted);
void cambium_eventlistener_set_on_blob_files(cambium_eventlistener_t* listener,
                                             cambium_on_blob_file_creation_cb started,
                                             cambium_on_blob_file_creation_cb created,
                                             cambium_on_blob_file_deleted_cb deleted);
/* The listener may be destroyed afterwards: options and databases keep what they need. */
void cambium_options_add_eventlistener(cambium_options_t* options, cambium_eventlistener_t* listener);
void cambium_eventlistener_destroy(cambium_eventlistener_t* listener);

enum {
  cambium_flush_reason_write_buffer_full = 0,
  cambium_flush_reason_wal_full = 1,
  cambium_flush_reason_manual_flush = 2,
  cambium_flush_reason_space = 3,
  cambium_flush_reason_idle = 4,
  cambium_flush_reason_recovery = 5,
  cambium_flush_reason_write_buffer_manager = 6
};
const char* cambium_flushjobinfo_db_name(const cambium_flushjobinfo_t* info, size_t* length);
const char* cambium_flushjobinfo_cf_name(const cambium_flushjobinfo_t* info, size_t* length);
uint32_t cambium_flushjobinfo_cf_id(const cambium_flushjobinfo_t* info);
int cambium_flushjobinfo_job_id(const cambium_flushjobinfo_t* info);
int cambium_flushjobinfo_flush_reason(const cambium_flushjobinfo_t* info);
uint64_t cambium_flushjobinfo_num_entries(const cambium_flushjobinfo_t* info);
uint64_t cambium_flushjobinfo_largest_seqno(const cambium_flushjobinfo_t* info);
unsigned char cambium_flushjobinfo_merged_into_tree(const cambium_flushjobinfo_t* info);
size_t cambium_flushjobinfo_output_files_count(const cambium_flushjobinfo_t* info);
const char* cambium_flushjobinfo_output_file_at(const cambium_flushjobinfo_t* info, size_t index, size_t* length);
uint64_t cambium_flushjobinfo_bytes_written(const cambium_flushjobinfo_t* info);
uint64_t cambium_flushjobinfo_elapsed_micros(const cambium_flushjobinfo_t* info);
void cambium_flushjobinfo_status(const cambium_flushjobinfo_t* info, char** errptr);
enum {
  cambium_compaction_reason_sweep = 0,
  cambium_compaction_reason_levels = 1,
  cambium_compaction_reason_manual_compaction = 2,
  cambium_compaction_reason_space = 3
};
const char* cambium_compactionjobinfo_db_name(const cambium_compactionjobinfo_t* info, size_t* length);
const char* cambium_compactionjobinfo_cf_name(const cambium_compactionjobinfo_t* info, size_t* length);
uint32_t cambium_compactionjobinfo_cf_id(const cambium_compactionjobinfo_t* info);
int cambium_compactionjobinfo_job_id(const cambium_compactionjobinfo_t* info);
int cambium_compactionjobinfo_compaction_reason(const cambium_compactionjobinfo_t* info);
int cambium_compactionjobinfo_base_input_level(const cambium_compactionjobinfo_t* info);
int cambium_compactionjobinfo_output_level(const cambium_compactionjobinfo_t* info);
size_t cambium_compactionjobinfo_input_files_count(const cambium_compactionjobinfo_t* info);
const char* cambium_compactionjobinfo_input_file_at(const cambium_compactionjobinfo_t* info, size_t index,
                                                    size_t* length);
size_t cambium_compactionjobinfo_output_files_count(const cambium_compactionjobinfo_t* info);
const char* cambium_compactionjobinfo_output_file_at(const cambium_compactionjobinfo_t* info, size_t index,
                                                     size_t* length);
uint64_t cambium_compactionjobinfo_bytes_read(const cambium_compactionjobinfo_t* info);
uint64_t cambium_compactionjobinfo_bytes_written(const cambium_compactionjobinfo_t* info);
uint64_t cambium_compactionjobinfo_entries_merged(const cambium_compactionjobinfo_t* info);
uint64_t cambium_compactionjobinfo_entries_dropped(const cambium_compactionjobinfo_t* info);
uint64_t cambium_compactionjobinfo_elapsed_micros(const cambium_compactionjobinfo_t* info);
void cambium_compactionjobinfo_status(const cambium_compactionjobinfo_t* info, char** errptr);
enum {
  cambium_log_gc_reason_garbage = 0,
  cambium_log_gc_reason_forced = 1,
  cambium_log_gc_reason_small_segments = 2,
  cambium_log_gc_reason_space = 3,
  cambium_log_gc_reason_manual_compaction = 4,
  cambium_log_gc_reason_clustering = 5
};
const char* cambium_loggcjobinfo_db_name(const cambium_loggcjobinfo_t* info, size_t* length);
int cambium_loggcjobinfo_job_id(const cambium_loggcjobinfo_t* info);
int cambium_loggcjobinfo_reason(const cambium_loggcjobinfo_t* info);
size_t cambium_loggcjobinfo_input_files_count(const cambium_loggcjobinfo_t* info);
const char* cambium_loggcjobinfo_input_file_at(const cambium_loggcjobinfo_t* info, size_t index, size_t* length);
size_t cambium_loggcjobinfo_emptied_files_count(const cambium_loggcjobinfo_t* info);
const char* cambium_loggcjobinfo_emptied_file_at(const cambium_loggcjobinfo_t* info, size_t index, size_t* length);
size_t cambium_loggcjobinfo_punched_files_count(const cambium_loggcjobinfo_t* info);
const char* cambium_loggcjobinfo_punched_file_at(const cambium_loggcjobinfo_t* info, size_t index, size_t* length);
uint64_t cambium_loggcjobinfo_bytes_read(const cambium_loggcjobinfo_t* info);
uint64_t cambium_loggcjobinfo_keys_relocated(const cambium_loggcjobinfo_t* info);
uint64_t cambium_loggcjobinfo_bytes_written(const cambium_loggcjobinfo_t* info);
uint64_t cambium_loggcjobinfo_bytes_freed(const cambium_loggcjobinfo_t* info);
uint64_t cambium_loggcjobinfo_elapsed_micros(const cambium_loggcjobinfo_t* info);
void cambium_loggcjobinfo_status(const cambium_loggcjobinfo_t* info, char** errptr);
/* The reason is a flush reason. */
const char* cambium_memtableinfo_db_name(const cambium_memtableinfo_t* info, size_t* length);
const char* cambium_memtableinfo_cf_name(const cambium_memtableinfo_t* info, size_t* length);
uint32_t cambium_memtableinfo_cf_id(const cambium_memtableinfo_t* info);
uint64_t cambium_memtableinfo_num_entries(const cambium_memtableinfo_t* info);
uint64_t cambium_memtableinfo_num_range_deletes(const cambium_memtableinfo_t* info);
uint64_t cambium_memtableinfo_memory_bytes(const cambium_memtableinfo_t* info);
int cambium_memtableinfo_reason(const cambium_memtableinfo_t* info);
enum {
  cambium_table_file_reason_flush = 0,
  cambium_table_file_reason_compaction = 1,
  cambium_table_file_reason_log_gc = 4,
  cambium_table_file_reason_snapshot = 5
};
const char* cambium_tablefilecreationinfo_db_name(const cambium_tablefilecreationinfo_t* info, size_t* length);
const char* cambium_tablefilecreationinfo_cf_name(const cambium_tablefilecreationinfo_t* info, size_t* length);
uint32_t cambium_tablefilecreationinfo_cf_id(const cambium_tablefilecreationinfo_t* info);
const char* cambium_tablefilecreationinfo_file_path(const cambium_tablefilecreationinfo_t* info, size_t* length);
uint64_t cambium_tablefilecreationinfo_file_number(const cambium_tablefilecreationinfo_t* info);
int cambium_tablefilecreationinfo_job_id(const cambium_tablefilecreationinfo_t* info);
int cambium_tablefilecreationinfo_reason(const cambium_tablefilecreationinfo_t* info);
uint64_t cambium_tablefilecreationinfo_file_size(const cambium_tablefilecreationinfo_t* info);
void cambium_tablefilecreationinfo_status(const cambium_tablefilecreationinfo_t* info, char** errptr);
const char* cambium_tablefiledeletioninfo_db_name(const cambium_tablefiledeletioninfo_t* info, size_t* length);
const char* cambium_tablefiledeletioninfo_file_path(const cambium_tablefiledeletioninfo_t* info, size_t* length);
uint64_t cambium_tablefiledeletioninfo_file_number(const cambium_tablefiledeletioninfo_t* info);
enum {
  cambium_blob_file_reason_log = 0,
  cambium_blob_file_reason_large_value = 1,
  cambium_blob_file_reason_log_gc = 2,
  cambium_blob_file_reason_compaction_filter = 3
};
const char* cambium_blobfilecreationinfo_db_name(const cambium_blobfilecreationinfo_t* info, size_t* length);
const char* cambium_blobfilecreationinfo_file_path(const cambium_blobfilecreationinfo_t* info, size_t* length);
uint64_t cambium_blobfilecreationinfo_file_number(const cambium_blobfilecreationinfo_t* info);
int cambium_blobfilecreationinfo_reason(const cambium_blobfilecreationinfo_t* info);
uint64_t cambium_blobfilecreationinfo_file_size(const cambium_blobfilecreationinfo_t* info);
void cambium_blobfilecreationinfo_status(const cambium_blobfilecreationinfo_t* info, char** errptr);
const char* cambium_blobfiledeletioninfo_db_name(const cambium_blobfiledeletioninfo_t* info, size_t* length);
const char* cambium_blobfiledeletioninfo_file_path(const cambium_blobfiledeletioninfo_t* info, size_t* length);
uint64_t cambium_blobfiledeletioninfo_file_number(const cambium_blobfiledeletioninfo_t* info);
enum {
  cambium_write_stall_condition_normal = 0,
  cambium_write_stall_condition_delayed = 1,
  cambium_write_stall_condition_stopped = 2
};
enum {
  cambium_write_stall_cause_memtable_limit = 0,
  cambium_write_stall_cause_l0_file_count_limit = 1,
  cambium_write_stall_cause_space = 2,
  cambium_write_stall_cause_write_buffer_manager_limit = 3
};
const char* cambium_writestallinfo_db_name(const cambium_writestallinfo_t* info, size_t* length);
const char* cambium_writestallinfo_cf_name(const cambium_writestallinfo_t* info, size_t* length);
uint32_t cambium_writestallinfo_cf_id(const cambium_writestallinfo_t* info);
int cambium_writestallinfo_cause(const cambium_writestallinfo_t* info);
int cambium_writestallinfo_cur(const cambium_writestallinfo_t* info);
int cambium_writestallinfo_prev(const cambium_writestallinfo_t* info);
uint64_t cambium_writestallinfo_change(const cambium_writestallinfo_t* info);
enum {
  cambium_background_error_flush = 0,
  cambium_background_error_compaction = 1,
  cambium_background_error_log_gc = 2,
  cambium_background_error_files = 3,
  cambium_background_error_manifest_write = 4,
  cambium_background_error_write = 5
};
const char* cambium_backgrounderrorinfo_db_name(const cambium_backgrounderrorinfo_t* info, size_t* length);
int cambium_backgrounderrorinfo_reason(const cambium_backgrounderrorinfo_t* info);
void cambium_backgrounderrorinfo_status(const cambium_backgrounderrorinfo_t* info, char** errptr);

/* ---- Checkpoints ---- */
cambium_checkpoint_t* cambium_checkpoint_object_create(cambium_t* db, char** errptr);
/* Creates the directory, which must not exist. Memtables are flushed first if the log that recovery would replay has at
   least log_size_for_flush bytes; 0: always. */
void cambium_checkpoint_create(cambium_checkpoint_t* checkpoint, const char* directory, uint64_t log_size_for_flush,
                               char** errptr);
void cambium_checkpoint_object_destroy(cambium_checkpoint_t* checkpoint);
/* For a database that no process has open for writing. */
void cambium_checkpoint_offline(const cambium_options_t* options, const char* name, const char* directory,
                                char** errptr);

/* ---- Backups ---- */
/* Any thread may call these, as cambium/backup_engine.h says. File system and clock are those of the options'
   environment. */
cambium_backup_engine_t* cambium_backup_engine_open(const cambium_options_t* options, const char* backup_dir,
                                                    char** errptr);
/* For listing, verifying and restoring; writes nothing. */
cambium_backup_engine_t* cambium_backup_engine_open_for_read_only(const cambium_options_t* options,
                                                                  const char* backup_dir, char** errptr);
void cambium_backup_engine_close(cambium_backup_engine_t* engine);
void cambium_backup_engine_create_new_backup(cambium_backup_engine_t* engine, cambium_t* db, char** errptr);
void cambium_backup_engine_create_new_backup_flush(cambium_backup_engine_t* engine, cambium_t* db,
                                                   unsigned char flush_before_backup, char** errptr);
/* For a database that no process has open for writing. */
void cambium_backup_engine_create_new_backup_offline(cambium_backup_engine_t* engine, const char* name, char** errptr);
/* Whether backups that this engine makes from now on compare the contents of the files that they store with the
   checksums in them, as CreateBackupOptions::verify_checksums says; they do by default. Not while a backup is made. */
void cambium_backup_engine_set_verify_checksums(cambium_backup_engine_t* engine, unsigned char verify_checksums);
void cambium_backup_engine_stop_backup(cambium_backup_engine_t* engine);
void cambium_backup_engine_purge_old_backups(cambium_backup_engine_t* engine, uint32_t num_backups_to_keep,
                                             char** errptr);
void cambium_backup_engine_delete_backup(cambium_backup_engine_t* engine, uint32_t backup_id, char** errptr);
void cambium_backup_engine_garbage_collect(cambium_backup_engine_t* engine, char** errptr);
/* With `verify_with_checksum`, every byte is read. */
void cambium_backup_engine_verify_backup(cambium_backup_engine_t* engine, uint32_t backup_id,
                                         unsigned char verify_with_checksum, char** errptr);
/* `db_dir` must not exist. */
void cambium_backup_engine_restore_db_from_backup(cambium_backup_engine_t* engine, const char* db_dir,
                                                  uint32_t backup_id, char** errptr);
void cambium_backup_engine_restore_db_from_latest_backup(cambium_backup_engine_t* engine, const char* db_dir,
                                                         char** errptr);
/* The readable backups, in the order of their numbers. `index` must be below the count; otherwise getters return 0. */
const cambium_backup_engine_info_t* cambium_backup_engine_get_backup_info(cambium_backup_engine_t* engine);
int cambium_backup_engine_info_count(const cambium_backup_engine_info_t* info);
int64_t cambium_backup_engine_info_timestamp(const cambium_backup_engine_info_t* info, int index);
uint32_t cambium_backup_engine_info_backup_id(const cambium_backup_engine_info_t* info, int index);
uint64_t cambium_backup_engine_info_size(const cambium_backup_engine_info_t* info, int index);
uint32_t cambium_backup_engine_info_number_files(const cambium_backup_engine_info_t* info, int index);
uint64_t cambium_backup_engine_info_sequence_number(const cambium_backup_engine_info_t* info, int index);
unsigned char cambium_backup_engine_info_is_checked(const cambium_backup_engine_info_t* info, int index);
void cambium_backup_engine_info_destroy(const cambium_backup_engine_info_t* info);
/* Numbers of the unreadable backups, *count of them; the caller's. */
uint32_t* cambium_backup_engine_get_corrupted_backups(cambium_backup_engine_t* engine, size_t* count);

/* ---- Traces ---- */
/* As cambium/trace.h says. */
enum {
  cambium_trace_filter_none = 0,
  cambium_trace_filter_get = 1,
  cambium_trace_filter_write = 2,
  cambium_trace_filter_iterator_seek = 4,
  cambium_trace_filter_iterator_seek_for_prev = 8,
  cambium_trace_filter_multiget = 16
};
cambium_traceoptions_t* cambium_traceoptions_create(void);
void cambium_traceoptions_destroy(cambium_traceoptions_t* options);
void cambium_traceoptions_set_max_trace_file_size(cambium_traceoptions_t* options, uint64_t value);
uint64_t cambium_traceoptions_get_max_trace_file_size(const cambium_traceoptions_t* options);
void cambium_traceoptions_set_sampling_frequency(cambium_traceoptions_t* options, uint64_t value);
uint64_t cambium_traceoptions_get_sampling_frequency(const cambium_traceoptions_t* options);
void cambium_traceoptions_set_filter(cambium_traceoptions_t* options, uint64_t value);
uint64_t cambium_traceoptions_get_filter(const cambium_traceoptions_t* options);
void cambium_traceoptions_set_preserve_write_order(cambium_traceoptions_t* options, unsigned char value);
unsigned char cambium_traceoptions_get_preserve_write_order(const cambium_traceoptions_t* options);
void cambium_traceoptions_set_include_values(cambium_traceoptions_t* options, unsigned char value);
unsigned char cambium_traceoptions_get_include_values(const cambium_traceoptions_t* options);
/* Writes to a new file, which must not exist. A trace never fails other calls: cambium_end_trace returns its first
   error. */
void cambium_start_trace(cambium_t* db, const cambium_traceoptions_t* options, const char* path, char** errptr);
void cambium_end_trace(cambium_t* db, char** errptr);

/* ---- Memory ---- */
void cambium_free(void* pointer);
void cambium_string_list_destroy(char** list, size_t length);

#ifdef __cplusplus
}
#endif

/* The two headers include each other, so that a program may include either. It comes last, because it needs the types
   above. In quotes: it is in the same directory, also for tools that are given the path of this file. */
#include "c_transaction.h"

#endif /* CAMBIUM_C_H_ */
