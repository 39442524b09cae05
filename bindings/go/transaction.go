package cambium

// #include "shim.h"
import "C"

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"
	"unsafe"
)

// SnapshotUse says whether a transaction begins with a snapshot. A key conflicts if others have written it after the
// snapshot; without one, if they have written it after the transaction has tracked it.
type SnapshotUse int

const (
	// SnapshotDefault: optimistic transactions begin with a snapshot, those of OpenTransactionDB do not.
	SnapshotDefault SnapshotUse = iota
	// SnapshotAtBegin: the transaction begins with a snapshot.
	SnapshotAtBegin
	// NoSnapshot: the transaction begins without one.
	NoSnapshot
)

// TransactionOptions are the options of a transaction; nil and the zero value are the defaults. The last five concern
// databases of OpenTransactionDB only, whose transactions lock their keys.
type TransactionOptions struct {
	WriteOptions // of the commit, and of Prepare
	Snapshot     SnapshotUse
	ReadNewest   bool // reads see the newest state, also if the transaction has a snapshot

	DeadlockDetect bool          // before a wait for a lock, look whether transactions wait for each other: ErrBusy
	LockTimeout    time.Duration // of a wait for a lock; 0: that of the database; negative: without limit
	Expiration     time.Duration // after that others may take the locks, and Commit returns ErrExpired; 0: never
	MaxBatchBytes  int           // the most bytes of the writes; 0: no limit
	NeedsPrepare   bool          // Commit returns ErrInvalidArgument unless the transaction is prepared
}

// TransactionDBOptions are the options of OpenTransactionDB; nil and the zero value are the defaults.
type TransactionDBOptions struct {
	LockTimeout      time.Duration // of transactions; 0: one second; negative: without limit
	WriteLockTimeout time.Duration // of writes of the DB itself; likewise
	MaxLocks         int64         // the most locked keys of a family: then calls return ErrBusy; 0: no limit
	LockStripes      int           // tables of locks; 0: 16
}

// OpenTransactionDB opens a database whose transactions lock the keys that they use: others wait for them. Its writes
// without a transaction lock their keys too, and DeleteRange its range. Families are as in OpenFamilies; without any, the
// default one is opened.
func OpenTransactionDB(path string, options *Options, transactions *TransactionDBOptions, families ...FamilyDescriptor) (*DB, []*ColumnFamily, error) {
	if transactions == nil {
		transactions = &TransactionDBOptions{}
	}
	return open(path, options, families, openMode{transactions: transactions})
}

// c makes options of C, which the caller destroys.
func (o *TransactionDBOptions) c() *C.cambium_transactiondb_options_t {
	c := C.cambium_transactiondb_options_create()
	if o.LockTimeout != 0 {
		C.cambium_transactiondb_options_set_transaction_lock_timeout(c, milliseconds(o.LockTimeout))
	}
	if o.WriteLockTimeout != 0 {
		C.cambium_transactiondb_options_set_default_lock_timeout(c, milliseconds(o.WriteLockTimeout))
	}
	if o.MaxLocks > 0 {
		C.cambium_transactiondb_options_set_max_num_locks(c, C.int64_t(o.MaxLocks))
	}
	if o.LockStripes > 0 {
		C.cambium_transactiondb_options_set_num_stripes(c, C.size_t(o.LockStripes))
	}
	return c
}

// milliseconds rounds up, so that a short time does not become 0, which may mean something else.
func milliseconds(d time.Duration) C.int64_t {
	if d < 0 {
		return -1
	}
	whole := d / time.Millisecond
	if d%time.Millisecond != 0 {
		whole++
	}
	return C.int64_t(whole)
}

// Transaction reads and writes keys that take effect together when it commits, and only if no other writer has written
// a key that it tracks: one that it writes, or reads by GetForUpdate. Its reads see its own writes; other reads do not.
//
// It belongs to one goroutine at a time; a call that meets another call returns an error that matches
// ErrInvalidArgument. It ends by a successful Commit, by Rollback, or with its database: then its functions return
// ErrClosed, and its iterators cannot move (Err returns ErrClosed). One that is prepared remains so until Commit or
// Rollback, whatever becomes of the object. Any other must end:
//
//	tx, err := db.Begin(nil)
//	if err != nil { ... }
//	defer tx.Rollback() // does nothing after a commit
//
// Update does this.
type Transaction struct {
	db       *DB
	readOnly bool
	mu       sync.Mutex // held during a call; only Iterator.Close waits for it
	c        *C.cambium_transaction_t
}

// Begin begins a transaction: an optimistic one, unless the database was opened by OpenTransactionDB.
func (db *DB) Begin(options *TransactionOptions) (*Transaction, error) {
	if options == nil {
		options = &TransactionOptions{}
	}
	if err := db.enter(); err != nil {
		return nil, err
	}
	defer db.leave()
	c, err := db.beginC(options)
	if err != nil {
		return nil, err
	}
	return db.addTransaction(c), nil
}

func (db *DB) addTransaction(c *C.cambium_transaction_t) *Transaction {
	tx := &Transaction{db: db, c: c}
	db.mu.Lock()
	defer db.mu.Unlock()
	db.transactions[tx] = struct{}{}
	live.add("transaction")
	return tx
}

// PreparedTransactions returns the transactions that were prepared before the database was opened, in the order of their
// names. Their keys are locked. The caller commits each of them or rolls it back; what is neither until the database is
// closed remains prepared. Each is returned once. For databases of OpenTransactionDB only.
func (db *DB) PreparedTransactions() ([]*Transaction, error) {
	if db.txnDB == nil {
		return nil, notSupported("only a database of OpenTransactionDB has prepared transactions")
	}
	if err := db.enter(); err != nil {
		return nil, err
	}
	defer db.leave()
	var errptr *C.char
	var count C.size_t
	found := C.cambium_transactiondb_get_prepared_transactions(db.txnDB, &count, &errptr)
	if err := takeError(errptr); err != nil {
		return nil, err
	}
	defer C.cambium_free(unsafe.Pointer(found))
	transactions := make([]*Transaction, 0, int(count))
	for _, c := range unsafe.Slice(found, int(count)) {
		transactions = append(transactions, db.addTransaction(c))
	}
	return transactions, nil
}

func (db *DB) beginC(options *TransactionOptions) (*C.cambium_transaction_t, error) {
	if db.txnDB == nil {
		c := C.cambium_optimistictransaction_options_create()
		defer C.cambium_optimistictransaction_options_destroy(c)
		if options.Snapshot != SnapshotDefault {
			C.cambium_optimistictransaction_options_set_set_snapshot(c, truth(options.Snapshot == SnapshotAtBegin))
		}
		C.cambium_optimistictransaction_options_set_read_at_snapshot(c, truth(!options.ReadNewest))
		var errptr *C.char
		tx := C.cambium_begin_optimistic_transaction(db.c, options.WriteOptions.c(), c, &errptr)
		return tx, takeError(errptr)
	}
	c := C.cambium_transaction_options_create()
	defer C.cambium_transaction_options_destroy(c)
	C.cambium_transaction_options_set_set_snapshot(c, truth(options.Snapshot == SnapshotAtBegin))
	C.cambium_transaction_options_set_read_at_snapshot(c, truth(!options.ReadNewest))
	C.cambium_transaction_options_set_deadlock_detect(c, truth(options.DeadlockDetect))
	if options.LockTimeout > 0 {
		C.cambium_transaction_options_set_lock_timeout(c, milliseconds(options.LockTimeout))
	}
	if options.Expiration > 0 {
		C.cambium_transaction_options_set_expiration(c, milliseconds(options.Expiration))
	}
	if options.MaxBatchBytes > 0 {
		C.cambium_transaction_options_set_max_write_batch_size(c, C.size_t(options.MaxBatchBytes))
	}
	C.cambium_transaction_options_set_skip_prepare(c, truth(!options.NeedsPrepare))
	tx := C.cambium_transaction_begin(db.txnDB, options.WriteOptions.c(), c, nil)
	if tx == nil {
		return nil, notSupported("the database takes no writes")
	}
	if options.LockTimeout < 0 {
		C.cambium_transaction_set_lock_timeout(tx, -1)
	}
	return tx, nil
}

// Update calls fn with a new transaction, and commits it if fn returns nil. After an error of fn, or a panic, it is rolled
// back. IsConflict says whether the same work may succeed if it is repeated; UpdateWithRetry repeats it.
//
// If fn has prepared the transaction, and the commit fails, it remains prepared: PreparedTransactions returns it after the
// next open. If it cannot be rolled back after an error of fn, Update returns both errors, joined.
func (db *DB) Update(fn func(tx *Transaction) error, options *TransactionOptions) (err error) {
	tx, err := db.Begin(options)
	if err != nil {
		return err
	}
	isCommitting := false
	defer func() {
		if isCommitting {
			tx.abandon()
		} else if failed := tx.Rollback(); failed != nil {
			err = errors.Join(err, failed)
		}
	}()
	if err := fn(tx); err != nil {
		return err
	}
	isCommitting = true
	return tx.Commit()
}

// UpdateWithRetry does the same, and repeats it in a new transaction after a conflict, until the context ends: then it
// returns the conflict, joined with the cause. fn is called several times, so it must have no effects outside of the
// transaction.
func (db *DB) UpdateWithRetry(ctx context.Context, fn func(tx *Transaction) error, options *TransactionOptions) error {
	for pause := 100 * time.Microsecond; ; pause = min(2*pause, 20*time.Millisecond) {
		err := db.Update(fn, options)
		if !IsConflict(err) {
			return err
		}
		// Some chance, so that two transactions do not meet again and again.
		timer := time.NewTimer(rand.N(pause))
		select {
		case <-ctx.Done():
			timer.Stop()
			return errors.Join(err, context.Cause(ctx))
		case <-timer.C:
		}
	}
}

// View calls fn with a transaction that reads one state and cannot write. It needs a database that is open for writing;
// Snapshot does without.
func (db *DB) View(fn func(tx *Transaction) error) error {
	tx, err := db.Begin(&TransactionOptions{Snapshot: SnapshotAtBegin})
	if err != nil {
		return err
	}
	tx.readOnly = true
	defer tx.Rollback()
	return fn(tx)
}

// IsConflict reports whether an error says that transactions were in each other's way: ErrBusy, ErrTryAgain, or
// ErrTimedOut. The same work may succeed in a new transaction.
func IsConflict(err error) bool {
	return errors.Is(err, ErrBusy) || errors.Is(err, ErrTryAgain) || errors.Is(err, ErrTimedOut)
}

func notSupported(message string) error {
	return &Error{Code: CodeNotSupported, Message: message, text: "Not implemented: " + message}
}

// lock begins a call of the transaction.
func (tx *Transaction) lock() error {
	if !tx.mu.TryLock() {
		return invalidArgument("the transaction is used by two goroutines at once")
	}
	return nil
}

// enter begins a call that uses the transaction and a family; nil is the default one.
func (tx *Transaction) enter(family *ColumnFamily) (*ColumnFamily, error) {
	if family == nil {
		family = tx.db.def
	}
	if family.db != tx.db {
		return nil, invalidArgument("the column family is of another database")
	}
	if err := tx.lock(); err != nil {
		return nil, err
	}
	if err := family.enter(); err != nil {
		tx.mu.Unlock()
		return nil, err
	}
	if tx.c == nil {
		family.leave()
		tx.mu.Unlock()
		return nil, ErrClosed
	}
	return family, nil
}

func (tx *Transaction) leave(family *ColumnFamily) {
	family.leave()
	tx.mu.Unlock()
}

// enterForWriting is enter for a call that writes.
func (tx *Transaction) enterForWriting(family *ColumnFamily) (*ColumnFamily, error) {
	if tx.readOnly {
		return nil, notSupported("the transaction of View cannot write")
	}
	return tx.enter(family)
}

// call calls C without a family.
func (tx *Transaction) call(call func(errptr **C.char)) error {
	family, err := tx.enter(nil)
	if err != nil {
		return err
	}
	defer tx.leave(family)
	var errptr *C.char
	call(&errptr)
	return takeError(errptr)
}

// Commit writes what the transaction has written, as a whole. After a success the transaction has ended. After an error
// it has written nothing (except after a failed sync: then the database takes no writes until it is opened again, and
// reads may see those of the transaction) and has not ended: Rollback ends it. Its iterators are closed in both cases.
//
// ErrBusy: others have written a key that it tracks. ErrTryAgain: whether that is so is not known any more. ErrExpired:
// it took longer than its expiration.
func (tx *Transaction) Commit() error {
	family, err := tx.enterForWriting(nil)
	if err != nil {
		return err
	}
	defer tx.leave(family)
	tx.closeIterators()
	var errptr *C.char
	C.cambium_transaction_commit(tx.c, &errptr)
	if err := takeError(errptr); err != nil {
		return err
	}
	tx.release()
	return nil
}

// Prepare is the first of two phases: it records the transaction, which needs a name, in its database. From then on the
// transaction can only be read, committed or rolled back, and neither others nor a crash can make its commit fail. It
// remains prepared if the database is closed before; see PreparedTransactions. For databases of OpenTransactionDB only.
func (tx *Transaction) Prepare() error {
	family, err := tx.enterForWriting(nil)
	if err != nil {
		return err
	}
	defer tx.leave(family)
	var errptr *C.char
	C.cambium_transaction_prepare(tx.c, &errptr)
	return takeError(errptr)
}

// Rollback ends the transaction and discards what it has written. If it has ended already, this does nothing. For a
// prepared transaction it writes: after an error the transaction is still prepared, and has not ended.
func (tx *Transaction) Rollback() error {
	return tx.end(func() error {
		if C.cambium_transaction_get_state(tx.c) != C.cambium_transaction_prepared {
			return nil // the destruction of the object does it
		}
		var errptr *C.char
		C.cambium_transaction_rollback(tx.c, &errptr)
		return takeError(errptr)
	})
}

// abandon ends the transaction, and leaves it prepared if it is.
func (tx *Transaction) abandon() { _ = tx.end(func() error { return nil }) }

// end destroys the transaction if the call succeeds. If it has ended already, this does nothing.
func (tx *Transaction) end(call func() error) error {
	family, err := tx.enter(nil)
	if err != nil {
		if errors.Is(err, ErrClosed) {
			return nil
		}
		return err
	}
	defer tx.leave(family)
	tx.closeIterators()
	if err := call(); err != nil {
		return err
	}
	tx.release()
	return nil
}

// closeIterators destroys the iterators of the transaction. A call of it is running.
func (tx *Transaction) closeIterators() {
	var snapshots []*Snapshot
	tx.db.mu.Lock()
	for it := range tx.db.iterators {
		if it.tx != tx {
			continue
		}
		if snapshot := it.destroyButSnapshot(); snapshot != nil {
			snapshots = append(snapshots, snapshot)
		}
	}
	tx.db.mu.Unlock()
	for _, each := range snapshots {
		each.leave()
	}
}

func (tx *Transaction) release() {
	tx.db.mu.Lock()
	defer tx.db.mu.Unlock()
	tx.destroy()
}

// destroy ends the transaction, once. The database's mutex is held.
func (tx *Transaction) destroy() {
	if _, found := tx.db.transactions[tx]; !found {
		return
	}
	delete(tx.db.transactions, tx)
	C.cambium_transaction_destroy(tx.c)
	tx.c = nil
	live.remove("transaction")
}

// ---- Reading ----

// Get returns the value of a key, or ErrNotFound.
func (tx *Transaction) Get(key []byte, options *ReadOptions) ([]byte, error) {
	return tx.GetIn(nil, key, options)
}

// GetIn returns the value of a key of a family, or ErrNotFound.
func (tx *Transaction) GetIn(family *ColumnFamily, key []byte, options *ReadOptions) ([]byte, error) {
	return tx.get(family, key, options, C.cambium_go_only_read)
}

// GetForUpdate tracks the key, and returns its value, or ErrNotFound: then the absence is tracked. If others write the key
// before the transaction commits, the commit fails; in a database of OpenTransactionDB, they wait for its end.
func (tx *Transaction) GetForUpdate(key []byte, options *ReadOptions) ([]byte, error) {
	return tx.GetForUpdateIn(nil, key, options)
}

// GetForUpdateIn does the same for a key of a family.
func (tx *Transaction) GetForUpdateIn(family *ColumnFamily, key []byte, options *ReadOptions) ([]byte, error) {
	return tx.get(family, key, options, C.cambium_go_exclusive)
}

// GetForShare does the same as GetForUpdate, except that in a database of OpenTransactionDB others may call GetForShare
// too meanwhile.
func (tx *Transaction) GetForShare(key []byte, options *ReadOptions) ([]byte, error) {
	return tx.GetForShareIn(nil, key, options)
}

// GetForShareIn does the same for a key of a family.
func (tx *Transaction) GetForShareIn(family *ColumnFamily, key []byte, options *ReadOptions) ([]byte, error) {
	return tx.get(family, key, options, C.cambium_go_shared)
}

func (tx *Transaction) get(family *ColumnFamily, key []byte, options *ReadOptions, use C.int) ([]byte, error) {
	family, err := tx.enter(family)
	if err != nil {
		return nil, err
	}
	defer tx.leave(family)
	read, err := options.beginRead(tx.db)
	if err != nil {
		return nil, err
	}
	defer options.endRead()
	var value *C.char
	var length C.size_t
	errptr := C.cambium_go_txn_get(tx.c, read, family.c, use, chars(key), C.size_t(len(key)), &value, &length)
	return takeValue(value, length, errptr)
}

// UndoGetForUpdate takes one GetForUpdate of a key back, if nothing else tracks it.
func (tx *Transaction) UndoGetForUpdate(key []byte) error { return tx.UndoGetForUpdateIn(nil, key) }

// UndoGetForUpdateIn does the same for a key of a family.
func (tx *Transaction) UndoGetForUpdateIn(family *ColumnFamily, key []byte) error {
	family, err := tx.enter(family)
	if err != nil {
		return err
	}
	defer tx.leave(family)
	C.cambium_transaction_undo_get_for_update_cf(tx.c, family.c, chars(key), C.size_t(len(key)))
	return nil
}

// NewIterator makes an iterator over the default family that also shows the transaction's writes. Entries are read ahead,
// so what the transaction writes while it exists may not be shown; OnDemand is the same as ReadValues. It does not track
// the keys that it shows.
func (tx *Transaction) NewIterator(options *IteratorOptions) (*Iterator, error) {
	return tx.NewIteratorIn(nil, options)
}

// NewIteratorIn makes an iterator over a family.
func (tx *Transaction) NewIteratorIn(family *ColumnFamily, options *IteratorOptions) (*Iterator, error) {
	if options == nil {
		options = &IteratorOptions{}
	}
	if options.Values == OnDemand { // the entry may be gone when its value is wanted
		copied := *options
		copied.Values = ReadValues
		options = &copied
	}
	family, err := tx.enter(family)
	if err != nil {
		return nil, err
	}
	defer tx.leave(family)
	return family.newIteratorOver(options, tx, func(flags C.int, snapshot *C.cambium_snapshot_t, lower, upper []byte, made *C.uintptr_t) *C.char {
		return C.cambium_go_txn_iterator(tx.c, flags, snapshot, bound(lower), C.size_t(len(lower)), bound(upper),
			C.size_t(len(upper)), family.c, made)
	})
}

// ---- Writing ----

// Put sets the value of a key, and tracks it.
func (tx *Transaction) Put(key, value []byte) error { return tx.PutIn(nil, key, value) }

// PutIn sets the value of a key of a family, and tracks it.
func (tx *Transaction) PutIn(family *ColumnFamily, key, value []byte) error {
	family, err := tx.enterForWriting(family)
	if err != nil {
		return err
	}
	defer tx.leave(family)
	return takeError(C.cambium_go_txn_put(tx.c, family.c, chars(key), C.size_t(len(key)), chars(value),
		C.size_t(len(value))))
}

// Delete deletes a key, and tracks it. It is no error if the key does not exist.
func (tx *Transaction) Delete(key []byte) error { return tx.DeleteIn(nil, key) }

// DeleteIn deletes a key of a family, and tracks it.
func (tx *Transaction) DeleteIn(family *ColumnFamily, key []byte) error {
	family, err := tx.enterForWriting(family)
	if err != nil {
		return err
	}
	defer tx.leave(family)
	return takeError(C.cambium_go_txn_delete(tx.c, family.c, chars(key), C.size_t(len(key))))
}

// Write does the operations of a batch one by one.
func (tx *Transaction) Write(batch *WriteBatch) error {
	if batch == nil {
		return invalidArgument("the batch is nil")
	}
	if batch.err != nil {
		return batch.err
	}
	family, err := tx.enterForWriting(nil)
	if err != nil {
		return err
	}
	defer tx.leave(family)
	handles, leave, err := tx.db.enterBatch(batch)
	if err != nil {
		return err
	}
	defer leave()
	return takeError(C.cambium_go_txn_write(tx.c, chars(batch.ops), C.size_t(len(batch.ops)),
		unsafe.SliceData(handles)))
}

// ---- Save points and snapshots ----

// SetSavePoint remembers what the transaction has written and tracked so far.
func (tx *Transaction) SetSavePoint() error {
	return tx.call(func(**C.char) { C.cambium_transaction_set_savepoint(tx.c) })
}

// RollbackToSavePoint takes back what was done since the newest save point, and removes it. ErrNotFound: there is none.
func (tx *Transaction) RollbackToSavePoint() error {
	return tx.call(func(errptr **C.char) { C.cambium_transaction_rollback_to_savepoint(tx.c, errptr) })
}

// PopSavePoint removes the newest save point, and takes nothing back. ErrNotFound: there is none.
func (tx *Transaction) PopSavePoint() error {
	return tx.call(func(errptr **C.char) { C.cambium_transaction_pop_savepoint(tx.c, errptr) })
}

// SetSnapshot takes a snapshot now: from now on, a key conflicts if others have written it after it.
func (tx *Transaction) SetSnapshot() error {
	return tx.call(func(**C.char) { C.cambium_transaction_set_snapshot(tx.c) })
}

// ClearSnapshot releases the snapshot of the transaction. Reads then see the newest state.
func (tx *Transaction) ClearSnapshot() error {
	return tx.call(func(**C.char) { C.cambium_transaction_clear_snapshot(tx.c) })
}

// SnapshotSequence returns the number of the newest write that the snapshot of the transaction sees. ErrNotFound: it has
// no snapshot.
func (tx *Transaction) SnapshotSequence() (sequence uint64, err error) {
	hasSnapshot := false
	err = tx.call(func(**C.char) {
		if snapshot := C.cambium_transaction_snapshot(tx.c); snapshot != nil {
			hasSnapshot, sequence = true, uint64(C.cambium_snapshot_get_sequence_number(snapshot))
		}
	})
	if err == nil && !hasSnapshot {
		err = ErrNotFound
	}
	return sequence, err
}

// ---- Names and figures ----

// SetName gives the transaction a name of 1 to 511 bytes, which no other one may have until it ends. For databases of
// OpenTransactionDB only.
func (tx *Transaction) SetName(name string) error {
	return tx.call(func(errptr **C.char) {
		C.cambium_transaction_set_name(tx.c, charsOf(name), C.size_t(len(name)), errptr)
	})
}

// Name returns the name; empty if it has none.
func (tx *Transaction) Name() (name string, err error) {
	err = tx.call(func(**C.char) {
		var length C.size_t
		text := C.cambium_transaction_get_name(tx.c, &length)
		name = string(view(text, length))
		C.cambium_free(unsafe.Pointer(text))
	})
	return name, err
}

// TransactionState is the state of a transaction that has not ended.
type TransactionState int

// The states of transactions. Those of calls that run are not listed: no other call can see them.
const (
	TransactionStarted     TransactionState = C.cambium_transaction_started
	TransactionPrepared    TransactionState = C.cambium_transaction_prepared
	TransactionLocksStolen TransactionState = C.cambium_transaction_locks_stolen // it has expired, and lost a lock
)

// TransactionInfo has the figures of a transaction.
type TransactionInfo struct {
	ID      uint64
	State   TransactionState
	Keys    uint64 // that are tracked
	Puts    uint64
	Deletes uint64
	Elapsed time.Duration // since it began
}

// Info returns figures of the transaction.
func (tx *Transaction) Info() (info TransactionInfo, err error) {
	err = tx.call(func(**C.char) {
		info = TransactionInfo{
			ID:      uint64(C.cambium_transaction_get_id(tx.c)),
			State:   TransactionState(C.cambium_transaction_get_state(tx.c)),
			Keys:    uint64(C.cambium_transaction_get_num_keys(tx.c)),
			Puts:    uint64(C.cambium_transaction_get_num_puts(tx.c)),
			Deletes: uint64(C.cambium_transaction_get_num_deletes(tx.c)),
			Elapsed: time.Duration(C.cambium_transaction_get_elapsed_time(tx.c)) * time.Millisecond,
		}
	})
	return info, err
}
