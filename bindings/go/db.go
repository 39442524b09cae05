package cambium

// #include "shim.h"
import "C"

import (
	"context"
	"maps"
	"slices"
	"sync"
)

// DB is an open database. Its functions for keys use the default column family.
type DB struct {
	c        *C.cambium_t
	path     string
	readOnly bool
	def      *ColumnFamily // the default family; not in `families`
	calls    guard         // of all calls that use c
	idle     chan struct{} // closed when calls is closed and no call is running

	closing sync.Mutex // one Close at a time
	closed  bool       // under closing

	mu        sync.Mutex // for what follows
	resources resources
	families  map[*ColumnFamily]struct{}
	snapshots map[*Snapshot]struct{}
	iterators map[*Iterator]struct{}
	readers   map[*AsyncReader]struct{}

	txnDB        *C.cambium_transactiondb_t // the same as c; nil: transactions do not lock keys
	transactions map[*Transaction]struct{}  // under mu
	batches      map[*IndexedBatch]struct{} // under mu
}

// newDB makes a DB of a database that was just opened. It takes over the resources.
func newDB(c *C.cambium_t, path string, readOnly bool, r *resources, order *order) *DB {
	db := &DB{
		c:         c,
		path:      path,
		readOnly:  readOnly,
		idle:      make(chan struct{}),
		resources: *r,
		families:  make(map[*ColumnFamily]struct{}),
		snapshots: make(map[*Snapshot]struct{}),
		iterators: make(map[*Iterator]struct{}),
		readers:   make(map[*AsyncReader]struct{}),

		transactions: make(map[*Transaction]struct{}),
		batches:      make(map[*IndexedBatch]struct{}),
	}
	r.releases = nil
	db.def = &ColumnFamily{db: db, name: DefaultFamilyName, order: order}
	db.def.c = C.cambium_get_default_column_family_handle(c)
	live.add("database")
	return db
}

// Path returns the path with which the database was opened.
func (db *DB) Path() string { return db.path }

// IsReadOnly reports whether the database was opened for reading only.
func (db *DB) IsReadOnly() bool { return db.readOnly }

// enter begins a call that uses the database.
func (db *DB) enter() error {
	if !db.calls.enter() {
		return ErrClosed
	}
	return nil
}

func (db *DB) leave() {
	if db.calls.leave() {
		close(db.idle)
	}
}

// Close waits for the calls that are running, syncs the log, waits for background work, and closes the database. Before
// that it releases all iterators, transactions, snapshots, families and readers of the database; their functions return
// ErrClosed from then on. A second call does nothing.
//
// After an error that matches ErrOutOfMemory the database is still open, but its iterators, snapshots, families and
// readers are not: call Close again. After any other error it is closed.
//
// A callback of the database must not call Close, because Close would wait for it.
func (db *DB) Close() error {
	db.closing.Lock()
	defer db.closing.Unlock()
	if db.closed {
		return nil
	}
	if _, idle := db.calls.close(); !idle {
		<-db.idle
	}
	db.closeReaders()
	db.releaseChildren()
	var errptr *C.char
	isGone := C.cambium_close_with_status(db.c, &errptr) != 0
	err := takeError(errptr)
	if !isGone {
		db.idle = make(chan struct{})
		db.def.c = C.cambium_get_default_column_family_handle(db.c)
		db.calls.reopen()
		return err
	}
	db.closed = true
	db.c = nil
	db.mu.Lock()
	defer db.mu.Unlock()
	db.resources.release()
	live.remove("database")
	return err
}

// closeReaders ends the loops of the asynchronous readers.
func (db *DB) closeReaders() {
	db.mu.Lock()
	readers := slices.Collect(maps.Keys(db.readers))
	db.mu.Unlock()
	for _, each := range readers {
		each.Close()
	}
}

// releaseChildren releases what was made from the database, in the order that the library wants. No call is running.
func (db *DB) releaseChildren() {
	db.mu.Lock()
	defer db.mu.Unlock()
	for it := range db.iterators {
		it.destroy()
	}
	for tx := range db.transactions {
		tx.destroy()
	}
	for batch := range db.batches {
		batch.destroy()
	}
	for snapshot := range db.snapshots {
		snapshot.destroy()
	}
	for family := range db.families {
		family.destroy()
	}
	C.cambium_column_family_handle_destroy(db.def.c)
	db.def.c = nil
}

// wait runs a call that may take long. If the context ends first, it returns the cause, and the call goes on
// in the background: Close waits for it.
func wait(ctx context.Context, enter func() error, leave func(), call func() error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err := enter(); err != nil {
		return err
	}
	if ctx.Done() == nil {
		defer leave()
		return call()
	}
	done := make(chan error, 1)
	go func() {
		defer leave()
		done <- call()
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
