/* C functions that do in one call from Go what the C interface does in several. None of them keeps a pointer to Go
   memory. Pointers to objects of C that Go only hands back are uintptr_t, so that cgo has no pointers to check. A
   returned char* is an error of the C interface, NULL if there is none; Go frees it. */
#ifndef CAMBIUM_GO_SHIM_H_
#define CAMBIUM_GO_SHIM_H_

#include <cambium/c.h>
#include <stddef.h>
#include <stdint.h>

static inline char* cambium_go_text(uintptr_t address) { return (char*)address; }
static inline uintptr_t cambium_go_address(const void* object) { return (uintptr_t)object; }

/* A function that libraries of the same interface version may lack, because they are older than the header. */
#pragma weak cambium_get_db_identity
static inline int cambium_go_has_identity(void) { return &cambium_get_db_identity != NULL; }

/* ---- Errors ---- */
typedef struct {
  int code;
  int subcode;
  int severity;
  size_t message; /* the offset of the message in the text */
} cambium_go_error_t;
cambium_go_error_t cambium_go_describe(const char* text);

/* ---- Writing ---- */
char* cambium_go_put(cambium_t* db, const cambium_writeoptions_t* options, cambium_column_family_handle_t* family,
                     const char* key, size_t key_length, const char* value, size_t value_length);
char* cambium_go_delete(cambium_t* db, const cambium_writeoptions_t* options, cambium_column_family_handle_t* family,
                        const char* key, size_t key_length);
char* cambium_go_delete_range(cambium_t* db, const cambium_writeoptions_t* options,
                              cambium_column_family_handle_t* family, const char* start, size_t start_length,
                              const char* end, size_t end_length);

/* ---- Writing on a condition: each sets *written to whether it has written ---- */
char* cambium_go_put_if_absent(cambium_t* db, const cambium_writeoptions_t* options,
                               cambium_column_family_handle_t* family, const char* key, size_t key_length,
                               const char* value, size_t value_length, unsigned char* written);
char* cambium_go_compare_and_set(cambium_t* db, const cambium_writeoptions_t* options,
                                 cambium_column_family_handle_t* family, const char* key, size_t key_length,
                                 const char* expected, size_t expected_length, const char* value, size_t value_length,
                                 unsigned char* written);
char* cambium_go_compare_and_delete(cambium_t* db, const cambium_writeoptions_t* options,
                                    cambium_column_family_handle_t* family, const char* key, size_t key_length,
                                    const char* expected, size_t expected_length, unsigned char* written);

/* ---- Batches: operations as batch.go encodes them ---- */
enum { cambium_go_op_put = 1, cambium_go_op_delete = 2, cambium_go_op_delete_range = 3 };
/* families[i] is the handle of the family that operations call i; 0: the default one. */
char* cambium_go_write(cambium_t* db, const cambium_writeoptions_t* options, const char* ops, size_t length,
                       const uintptr_t* families);
/* The same if the conditions hold, which are encoded as operations are. */
enum { cambium_go_is_absent = 1, cambium_go_has_value = 2 };
char* cambium_go_write_if(cambium_t* db, const cambium_writeoptions_t* options, const char* ops, size_t length,
                          const uintptr_t* families, const char* conditions, size_t conditions_length,
                          const uintptr_t* conditions_families, unsigned char* written);
/* Sets *data to a copy of the bytes of cambium_writebatch_data; NULL: out of memory. */
void cambium_go_batch_data(const char* ops, size_t length, const uintptr_t* families, char** data, size_t* data_length);
/* Sets *ops to the operations of a batch, with the numbers of families as the library has them; NULL without an error:
   out of memory. */
char* cambium_go_batch_ops(const char* data, size_t length, int* is_batch, char** ops, size_t* ops_length);

/* ---- Reading ---- */
enum { cambium_go_found = 0, cambium_go_absent = 1, cambium_go_long = 2, cambium_go_failed = 3 };
typedef struct {
  uint64_t length;  /* of the value */
  uintptr_t error;  /* failed: a char* */
} cambium_go_value_t;
/* Copies a value of at most `capacity` bytes to `out`. A longer one is not copied: cambium_go_long. */
int cambium_go_get(cambium_t* db, const cambium_readoptions_t* options, cambium_column_family_handle_t* family,
                   const char* key, size_t key_length, char* out, size_t capacity, cambium_go_value_t* value);

typedef struct {
  uint64_t total;    /* bytes of all values */
  uintptr_t held;    /* unless 0: the results, for cambium_go_multi_take */
  uint32_t failed;   /* how many keys have an error */
  uint32_t no_memory;
} cambium_go_multi_t;
/* Reads `count` keys at one state. The keys lie in `keys` one after the other. families[i] is the handle of the family
   of the i-th key; NULL: all are in `family`. lengths[i] becomes the length of the value, -1 if there is none, -2 if
   there is an error. Copies the values to `out` one after the other if they have at most `capacity` bytes and no key
   has an error; otherwise all results are held. */
void cambium_go_multi_get(cambium_t* db, const cambium_readoptions_t* options, cambium_column_family_handle_t* family,
                          const uintptr_t* families, size_t count, const char* keys, const uint64_t* key_lengths,
                          int64_t* lengths, char* out, size_t capacity, cambium_go_multi_t* result);
/* Copies the values to `out` and moves the errors to errors[i], then frees the results. */
void cambium_go_multi_take(uintptr_t held, char* out, uintptr_t* errors);

/* ---- Transactions ---- */
enum { cambium_go_only_read = 0, cambium_go_shared = 1, cambium_go_exclusive = 2 };
/* `use`: whether the key is tracked, and how. Sets *value to NULL, or to memory that cambium_free frees. */
char* cambium_go_txn_get(cambium_transaction_t* txn, const cambium_readoptions_t* options,
                         cambium_column_family_handle_t* family, int use, const char* key, size_t key_length,
                         char** value, size_t* value_length);
char* cambium_go_txn_put(cambium_transaction_t* txn, cambium_column_family_handle_t* family, const char* key,
                         size_t key_length, const char* value, size_t value_length);
char* cambium_go_txn_delete(cambium_transaction_t* txn, cambium_column_family_handle_t* family, const char* key,
                            size_t key_length);
/* As cambium_go_write. */
char* cambium_go_txn_write(cambium_transaction_t* txn, const char* ops, size_t length, const uintptr_t* families);
/* As cambium_go_iterators, for one family. */
char* cambium_go_txn_iterator(cambium_transaction_t* txn, int flags, const cambium_snapshot_t* snapshot,
                              const char* lower, size_t lower_length, const char* upper, size_t upper_length,
                              cambium_column_family_handle_t* family, uintptr_t* iterator);

/* ---- Iterators ---- */
enum {
  cambium_go_seek_first = 0,
  cambium_go_seek_last = 1,
  cambium_go_seek_key = 2,
  cambium_go_seek_for_prev = 3,
  cambium_go_step = 4,   /* one step from the entry at which the iterator is */
  cambium_go_stay = 5,   /* begin with the entry at which the iterator is */
  cambium_go_turn = 6    /* to the entry next to the key, which a transaction may have deleted meanwhile */
};
/* What is copied of each entry. */
enum { cambium_go_keys_and_values = 0, cambium_go_keys = 1 };
typedef struct {
  uint32_t offset;        /* of the key; the value follows the key */
  uint32_t key_length;
  uint64_t value_length;  /* with cambium_go_keys: cambium_iter_value_size, and no value follows */
} cambium_go_entry_t;
typedef struct {
  uint32_t count;    /* entries that were copied */
  uint32_t ended;    /* there are no more, or an error says why */
  uint64_t pending;  /* unless 0: 1 + the bytes of the next entry, at which the iterator is, and which has no room */
  uintptr_t error;   /* a char* */
} cambium_go_chunk_t;
enum {
  cambium_go_no_checksums = 1,
  cambium_go_no_fill_cache = 2,
  cambium_go_no_async_io = 4,
  cambium_go_durable_only = 8,
  cambium_go_unprepared = 16
};
cambium_readoptions_t* cambium_go_read_options(int flags, const cambium_snapshot_t* snapshot);
/* Makes one iterator for each of `count` families, all of one state. lower and upper may be NULL. */
char* cambium_go_iterators(cambium_t* db, int flags, const cambium_snapshot_t* snapshot, const char* lower,
                           size_t lower_length, const char* upper, size_t upper_length, const uintptr_t* families,
                           size_t count, uintptr_t* iterators);
/* Moves as `op` says, then copies entries in the direction (1 or -1) until `max` entries are copied or there is no room.
   The iterator stays at the last copied entry, or at the pending one. */
void cambium_go_iter_fill(uintptr_t iterator, int op, int direction, int mode, const char* key, size_t key_length,
                          char* out, size_t capacity, cambium_go_entry_t* entries, uint32_t max,
                          cambium_go_chunk_t* chunk);
/* Reads the value of the entry at which the iterator is; as cambium_go_iter_fill with one entry, without its key. */
void cambium_go_iter_value(uintptr_t iterator, char* out, size_t capacity, cambium_go_chunk_t* chunk,
                           uint64_t* value_length);
void cambium_go_iter_destroy(uintptr_t iterator);

/* ---- Callbacks ---- */
/* The state of callbacks: a runtime/cgo.Handle, and a name. */
typedef struct {
  uintptr_t handle;
  char name[];
} cambium_go_state_t;
/* NULL if there is no memory. */
cambium_go_state_t* cambium_go_state_create(uintptr_t handle, const char* name, size_t name_length);
void cambium_go_state_destroy(cambium_go_state_t* state);
/* These objects own their state, and release it when they are destroyed. NULL if there is no memory. */
cambium_comparator_t* cambium_go_comparator(uintptr_t handle, const char* name, size_t name_length);
cambium_compactionfilter_t* cambium_go_filter(uintptr_t handle, const char* name, size_t name_length, int asks_by_key);
cambium_compactionfilterfactory_t* cambium_go_filter_factory(uintptr_t handle, const char* name, size_t name_length);
/* The state is the caller's: cambium_go_state_destroy, after the last database that logs has been closed. */
cambium_logger_t* cambium_go_logger(int level, cambium_go_state_t* state);
enum {
  cambium_go_on_flush_begin = 0,
  cambium_go_on_flush_completed = 1,
  cambium_go_on_compaction_begin = 2,
  cambium_go_on_compaction_completed = 3,
  cambium_go_on_log_gc_completed = 4,
  cambium_go_on_memtable_sealed = 5,
  cambium_go_on_background_error = 6,
  cambium_go_on_stall_changed = 7,
  cambium_go_on_table_file_started = 8,
  cambium_go_on_table_file_created = 9,
  cambium_go_on_table_file_deleted = 10,
  cambium_go_on_blob_file_started = 11,
  cambium_go_on_blob_file_created = 12,
  cambium_go_on_blob_file_deleted = 13
};
/* `events` has the bit 1 << n for each n above that is wanted. */
cambium_eventlistener_t* cambium_go_listener(uintptr_t handle, uint32_t events);

/* ---- Asynchronous reads ---- */
typedef struct {
  uint64_t id;       /* the caller's */
  uint64_t length;   /* of the value */
  uintptr_t value;   /* the value, freed by cambium_free; 0 if there is none */
  uintptr_t error;   /* a char*, or 0 */
  uint32_t failed;   /* without an error: out of memory */
} cambium_go_answer_t;
typedef struct cambium_go_reader_t cambium_go_reader_t;
/* If *reader remains NULL without an error, there is no memory. */
char* cambium_go_reader_create(cambium_t* db, size_t depth, uint64_t bytes_max, unsigned char use_io_uring,
                               cambium_go_reader_t** reader);
/* Ends all reads; their answers can be taken before the reader is freed. */
void cambium_go_reader_stop(cambium_go_reader_t* reader);
void cambium_go_reader_free(cambium_go_reader_t* reader);
enum { cambium_go_read_no_room = 0, cambium_go_read_begun = 1, cambium_go_read_failed = 2 };
/* Begins a read. cambium_go_read_failed without an error: out of memory. */
int cambium_go_reader_get(cambium_go_reader_t* reader, const cambium_readoptions_t* options,
                          cambium_column_family_handle_t* family, const char* key, size_t key_length, uint64_t id,
                          char** error);
/* Polls, then moves at most `max` answers to `answers`; returns their number. */
size_t cambium_go_reader_poll(cambium_go_reader_t* reader, size_t least, uint64_t timeout_micros,
                              cambium_go_answer_t* answers, size_t max);

#endif /* CAMBIUM_GO_SHIM_H_ */
