/* Declarations shared by the files of the extension module cambium._core.

   Rules:
   - The GIL guards all fields of all objects here. It is released for every call that may wait, or that may call a
     Python function through a callback: a library thread that waits for the GIL may hold a lock of the library.
   - A call into an open database is between guard_enter and guard_leave, so that close can wait for it.
   - Objects that must be released before the database is closed are children of its handle. */
#ifndef CAMBIUM_PYTHON_CORE_H_
#define CAMBIUM_PYTHON_CORE_H_

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <cambium/c.h>
#include <stdbool.h>
#include <stdint.h>

/* ---- arguments.c ---- */

#define MAX_ARGUMENTS 16
/* The parameters of a function: the first `positional` may be given by position, the first `required` must be given. */
typedef struct {
  const char* function;
  int required;
  int positional;
  const char* names[MAX_ARGUMENTS];
  PyObject* interned[MAX_ARGUMENTS];
} Signature;
/* Stores borrowed references, NULL for arguments that are not given. False: an exception is set. */
bool arguments_parse(Signature* signature, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames, PyObject** out);
/* NULL and None leave *value as it is. */
bool argument_bool(PyObject* argument, bool* value);
bool argument_uint64(PyObject* argument, uint64_t* value);
bool argument_double(PyObject* argument, double* value);
bool argument_int(PyObject* argument, int* value);

/* The bytes of an object with the buffer protocol; valid until bytes_release. */
typedef struct {
  const char* data;
  size_t length;
  PyObject* object; /* a bytes object that is held; NULL: `view` is held */
  Py_buffer view;
} Bytes;
bool bytes_take(Bytes* bytes, PyObject* argument, const char* what);
void bytes_release(Bytes* bytes);

/* A key of a store: its prefix, and the bytes of the argument. */
typedef struct {
  const char* data;
  size_t length;
  Bytes bytes;
  char* joined; /* NULL: `small` or `bytes` has the key */
  char small[256];
} Key;
bool key_take(Key* key, PyObject* prefix, PyObject* argument);
void key_release(Key* key);

/* Text without a zero byte, as str or bytes, in the encoding of file names. Returns a new bytes object. */
PyObject* text_take(PyObject* argument, const char* what);
PyObject* path_take(PyObject* argument);
/* A str from the library's text, in the encoding of file names. */
PyObject* text_make(const char* text, size_t length);

/* ---- errors.c ---- */
extern PyObject* error_base;
extern PyObject* error_closed;
extern PyObject* error_iterator_invalid;
bool errors_init(void);
/* Raises the exception for a message of the library, and frees the message. Returns NULL. */
PyObject* error_raise(char* message);
/* The exception itself, a new reference; the message is not freed. */
PyObject* error_make(const char* message);

/* ---- guard.c ---- */

/* Grows in each forked child. */
extern volatile unsigned fork_generation;
typedef struct {
  Py_ssize_t calls; /* calls in the library, of any thread */
  bool is_open;
  bool is_closing;
  unsigned generation;
} Guard;
bool guard_init(void);
void guard_open(Guard* guard);
/* False with an exception: closed, in a forked child, or in a callback that must not call the library. */
bool guard_enter(Guard* guard, const char* what);
void guard_leave(Guard* guard);
static inline bool guard_is_forked(const Guard* guard) { return guard->generation != fork_generation; }
/* Waits until no call is in the library. False with an exception after a signal. */
bool guard_wait(Guard* guard);
/* An object that one thread at a time may use. */
bool busy_enter(bool* is_busy, const char* what);

/* ---- callbacks.c ---- */

typedef enum { callback_none = 0, callback_listener = 1, callback_pure = 2 } CallbackKind;
extern __thread CallbackKind callback_kind; /* of the callback that this thread is in */
typedef struct {
  PyGILState_STATE gil;
  CallbackKind outer;
} Callback;
/* Takes the GIL for a callback. False: the interpreter ends, and Python must not be called. */
bool callback_begin(Callback* callback, CallbackKind kind);
void callback_end(Callback* callback);
/* Never returns: for callbacks whose answer the library needs, while the interpreter ends. */
void callback_wait_forever(void);
/* Reports the exception that is set through sys.unraisablehook. Returns a new reference to it. */
PyObject* callback_report(PyObject* where);
PyObject* callbacks_stop(PyObject* module, PyObject* ignored);

/* ---- handle.c ---- */

typedef struct Child {
  struct Child* previous;
  struct Child* next;
  void (*close)(struct Child* child);         /* releases what the library holds; called with the GIL */
  Py_ssize_t (*exports)(struct Child* child); /* NULL: none */
} Child;

typedef struct ComparatorObject ComparatorObject;
typedef struct {
  PyObject_HEAD cambium_t* db;
  cambium_transactiondb_t* txn_db; /* the same as db; NULL: transactions do not lock their keys */
  Guard guard;
  Child children;  /* the head of the list */
  PyObject* owned; /* the Options that were given; they hold the callbacks */
  PyObject* weak;
} HandleObject;
extern PyTypeObject HandleType;

typedef struct {
  PyObject_HEAD Child child;
  HandleObject* handle;
  cambium_column_family_handle_t* rep; /* NULL: the database is closed */
  PyObject* name;
  ComparatorObject* comparator; /* NULL: bytes are compared */
} FamilyObject;
extern PyTypeObject FamilyType;

void child_add(HandleObject* handle, Child* child);
void child_remove(Child* child);
void child_move_to_front(HandleObject* handle, Child* child);
#define CHILD_OBJECT(type, pointer) ((type*)((char*)(pointer)-offsetof(type, child)))
/* Calls function(db, rep) without the GIL, as a call that close waits for, also while the database is being closed. In
   a forked child it is not called: what it would release belongs to the parent. In a callback that must not call the
   library (an object may be freed there, for example by the garbage collector) it is called later. */
typedef void (*ReleaseFunction)(cambium_t* db, void* rep);
void release_in_library(HandleObject* handle, ReleaseFunction function, void* rep);
/* Makes the calls that were put off. */
extern volatile bool has_deferred;
void release_deferred(void);
void handle_close_later(HandleObject* handle);
void handle_close_quietly(HandleObject* handle);
FamilyObject* family_make(HandleObject* handle, cambium_column_family_handle_t* rep, PyObject* name,
                          ComparatorObject* comparator);
/* After a call: raises `message`, or the exception of a comparator. False: an exception is set. */
bool call_finish(HandleObject* handle, FamilyObject* family, char* message);
PyObject* core_open(PyObject* module, PyObject* args);

/* ---- snapshot.c ---- */
typedef struct {
  PyObject_HEAD Child child;
  HandleObject* handle;
  const cambium_snapshot_t* rep; /* NULL: released */
  Py_ssize_t users;              /* iterators and calls */
  bool is_closed;
} SnapshotObject;
extern PyTypeObject SnapshotType;
SnapshotObject* snapshot_make(HandleObject* handle);
bool snapshot_use(SnapshotObject* snapshot); /* NULL is no snapshot */
void snapshot_unuse(SnapshotObject* snapshot);

/* ---- reader.c, store.c: the functions of databases, families, snapshots and prefixes ---- */
typedef struct {
  PyObject_HEAD HandleObject* handle;
  FamilyObject* family;
  SnapshotObject* snapshot; /* NULL: the newest state */
  PyObject* prefix;         /* bytes; NULL: none */
} ReaderObject;
extern PyTypeObject ReaderType;
extern PyTypeObject StoreType;
bool reader_enter(ReaderObject* self);
void reader_leave(ReaderObject* self);

/* ---- work.c: transactions and batches with an index ---- */
typedef struct {
  PyObject_HEAD Child child;
  HandleObject* handle;
  FamilyObject* family; /* where operations without a family go */
  PyObject* prefix;
  cambium_transaction_t* txn;     /* NULL: this is a batch, or it has ended */
  cambium_writebatch_wi_t* batch; /* NULL: this is a transaction, or it has ended */
  Py_ssize_t users;               /* iterators that are not destroyed yet */
  bool is_busy;
  bool is_closed;
  bool has_ended; /* by commit, rollback or close; not with the database */
} WorkObject;
extern PyTypeObject TransactionType;
extern PyTypeObject IndexedBatchType;
PyObject* core_begin(PyObject* module, PyObject* args);
PyObject* core_prepared_transactions(PyObject* module, PyObject* argument);
PyObject* core_indexed_batch(PyObject* module, PyObject* args);
bool work_enter(WorkObject* self);
void work_leave(WorkObject* self);
/* An iterator over it has been destroyed. */
void work_unuse(WorkObject* self);

/* ---- call_options.c ---- */
typedef struct {
  cambium_readoptions_t* rep;
  int slot; /* -1: not shared */
} ReadOptions;
typedef struct {
  bool verify_checksums;
  bool fill_cache;
  bool async_io;
  bool pin_mapped_values;
  bool durable_only;
} ReadFlags;
#define READ_FLAGS_DEFAULT \
  { true, true, true, false, false }
ReadOptions read_options_take(const ReadFlags* flags, const SnapshotObject* snapshot);
void read_options_give(ReadOptions options);
typedef struct {
  bool sync;
  bool disable_wal;
  bool no_slowdown;
} WriteFlags;
typedef struct {
  cambium_writeoptions_t* rep;
  int slot;
} WriteOptions;
WriteOptions write_options_take(const WriteFlags* flags);
void write_options_give(WriteOptions options);

/* ---- Other types ---- */
typedef struct {
  PyObject_HEAD cambium_options_t* rep;
  PyObject* kept; /* a list of the objects that the options refer to */
  ComparatorObject* comparator;
} OptionsObject;
extern PyTypeObject OptionsType;
OptionsObject* options_make(cambium_options_t* rep, PyObject* kept, ComparatorObject* comparator);

struct ComparatorObject {
  PyObject_HEAD cambium_comparator_t* rep;
  int builtin; /* 1: bytes; -1: bytes, reversed; 0: `function` */
  PyObject* function;
  PyObject* name;  /* bytes */
};
extern PyTypeObject ComparatorType;
/* Compares without a call of Python if it can. The caller need not hold the GIL. NULL: bytes. */
int comparator_compare(const ComparatorObject* comparator, const char* a, size_t a_length, const char* b,
                       size_t b_length);

extern PyTypeObject IteratorType;
extern PyTypeObject RawIteratorType;
extern PyTypeObject BatchType;
extern PyTypeObject ConditionsType;
extern PyTypeObject PinnedType;
extern PyTypeObject FilterType;
extern PyTypeObject FilterFactoryType;
extern PyTypeObject ListenerType;
extern PyTypeObject LoggerType;
extern PyTypeObject RateLimiterType;
extern PyTypeObject WriteBufferManagerType;
extern PyTypeObject BackupEngineType;
extern PyTypeObject AsyncReaderType;

PyObject* pinned_make(HandleObject* handle, cambium_pinnableslice_t* rep);
/* Makes an iterator over a reader. */
PyObject* iterator_make(ReaderObject* reader, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames);
#define ITERATOR_PARAMETERS                                                                                         \
  "reverse", "start", "stop", "include_start", "include_stop", "prefix", "include_key", "include_value",            \
      "verify_checksums", "fill_cache", "durable_only", "async_io"
#define ITERATOR_PARAMETER_COUNT 12
/* Makes an iterator that also shows the writes of `work`, whose call is running; this ends the call of the database. */
PyObject* iterator_make_over(WorkObject* work, FamilyObject* family, PyObject* prefix, PyObject* const* given);
/* Closes the iterators over `work`, whose call is running: so none of them is in a call. */
void iterators_close_over(WorkObject* work);
/* The batch of a WriteBatch, and its database, for one call. NULL: an exception is set. */
cambium_writebatch_t* batch_borrow(PyObject* object, HandleObject** handle);
void batch_give_back(PyObject* object);
/* The reader of an operation: `argument`, or `store` if there is none. Adds its family to the list `families`, which
   keeps it. NULL with an exception: it is no part of the database of `store`, or that is closed. */
ReaderObject* family_argument(ReaderObject* store, PyObject* families, PyObject* argument);
/* The conditions of a WriteConditions of this database, for one call. NULL: an exception is set. */
cambium_writeconditions_t* conditions_borrow(PyObject* object, const HandleObject* handle);
void conditions_give_back(PyObject* object);
PyObject* raw_iterator_make(ReaderObject* reader, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames);

cambium_compactionfilter_t* filter_rep_make(PyObject* object, bool owns);

typedef struct {
  PyObject_HEAD cambium_compactionfilter_t* rep;
  PyObject* object;
} FilterObject;
typedef struct {
  PyObject_HEAD PyObject* function;
  PyObject* name; /* bytes */
} FilterFactoryObject;
cambium_compactionfilterfactory_t* filter_factory_rep_make(FilterFactoryObject* factory);
typedef struct {
  PyObject_HEAD cambium_eventlistener_t* rep;
  PyObject* object;
} ListenerObject;
typedef struct {
  PyObject_HEAD cambium_logger_t* rep;
  PyObject* function;
} LoggerObject;
typedef struct {
  PyObject_HEAD cambium_ratelimiter_t* rep;
} RateLimiterObject;
typedef struct {
  PyObject_HEAD cambium_write_buffer_manager_t* rep;
} WriteBufferManagerObject;

/* ---- tools.c: functions on databases that are not open ---- */
extern PyMethodDef tool_methods[];

/* Defines the common ends of methods. */
#define FASTCALL(name, function, doc) \
  { name, (PyCFunction)(void (*)(void))(function), METH_FASTCALL | METH_KEYWORDS, PyDoc_STR(doc) }

#endif /* CAMBIUM_PYTHON_CORE_H_ */
