package cambium

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"
)

func begin(t *testing.T, db *DB, options *TransactionOptions) *Transaction {
	t.Helper()
	tx, err := db.Begin(options)
	must(t, err)
	t.Cleanup(func() { must(t, tx.Rollback()) })
	return tx
}

func openLocking(t *testing.T, transactions *TransactionDBOptions) *DB {
	t.Helper()
	db, _, err := OpenTransactionDB(newPath(t), small(), transactions)
	must(t, err)
	t.Cleanup(func() { must(t, db.Close()) })
	return db
}

func TestOfTwoTransactionsOneCommits(t *testing.T) {
	db := openNew(t, small())
	first := begin(t, db, nil)
	second := begin(t, db, nil)
	must(t, first.Put([]byte("a"), []byte("1")))
	wantGet(t, first, "a", "1", nil)
	wantNone(t, second, "a", nil)
	wantNone(t, db, "a", nil)
	must(t, second.Put([]byte("a"), []byte("2")))
	must(t, first.Commit())
	err := second.Commit()
	wantErr(t, err, ErrBusy)
	if !IsConflict(err) || IsConflict(nil) || IsConflict(ErrClosed) {
		t.Fatal("IsConflict is wrong")
	}
	wantGet(t, db, "a", "1", nil)

	// The first has ended, the second has not.
	wantErr(t, first.Put([]byte("a"), nil), ErrClosed)
	wantErr(t, first.Commit(), ErrClosed)
	must(t, first.Rollback())
	wantNone(t, second, "b", nil)
	must(t, second.Rollback())
	_, err = second.Get([]byte("a"), nil)
	wantErr(t, err, ErrClosed)
	_, err = second.NewIterator(nil)
	wantErr(t, err, ErrClosed)
	_, err = second.Info()
	wantErr(t, err, ErrClosed)
}

// GetForUpdate also tracks a key that does not exist.
func TestGetForUpdateTracks(t *testing.T) {
	db := openNew(t, small())
	for _, undo := range []bool{false, true} {
		put(t, db, "a", "0")
		tx := begin(t, db, nil)
		_, err := tx.GetForUpdate([]byte("none"), nil)
		wantErr(t, err, ErrNotFound)
		value, err := tx.GetForShare([]byte("a"), nil)
		must(t, err)
		if string(value) != "0" {
			t.Fatal(value)
		}
		info, err := tx.Info()
		must(t, err)
		if info.Keys != 2 || info.State != TransactionStarted || info.ID == 0 {
			t.Fatal(info)
		}
		if undo {
			must(t, tx.UndoGetForUpdate([]byte("none")))
		}
		put(t, db, "none", "others")
		must(t, tx.Put([]byte("b"), []byte("1")))
		if err := tx.Commit(); undo {
			must(t, err)
		} else {
			wantErr(t, err, ErrBusy)
		}
		must(t, db.Delete([]byte("none"), nil))
	}
}

func TestUpdateAndView(t *testing.T) {
	db := openNew(t, small())
	must(t, db.Update(func(tx *Transaction) error { return tx.Put([]byte("a"), []byte("1")) },
		&TransactionOptions{WriteOptions: WriteOptions{Sync: true}}))
	wantGet(t, db, "a", "1", nil)
	mine := errors.New("mine")
	wantErr(t, db.Update(func(tx *Transaction) error {
		must(t, tx.Put([]byte("a"), []byte("2")))
		return mine
	}, nil), mine)
	wantGet(t, db, "a", "1", nil)
	func() {
		defer func() { _ = recover() }()
		_ = db.Update(func(tx *Transaction) error {
			must(t, tx.Put([]byte("a"), []byte("3")))
			panic("in the function")
		}, nil)
	}()
	wantGet(t, db, "a", "1", nil)
	must(t, db.View(func(tx *Transaction) error {
		put(t, db, "a", "4")
		wantGet(t, tx, "a", "1", nil)
		wantErr(t, tx.Put([]byte("a"), nil), ErrNotSupported)
		wantErr(t, tx.Delete([]byte("a")), ErrNotSupported)
		wantErr(t, tx.Commit(), ErrNotSupported)
		return nil
	}))
	wantErr(t, db.View(func(*Transaction) error { return mine }), mine)
}

// Goroutines add to one counter, with and without locks.
func TestCounter(t *testing.T) {
	for name, db := range map[string]*DB{"optimistic": openNew(t, small()), "locking": openLocking(t, nil)} {
		const goroutines, rounds = 4, 25
		var group sync.WaitGroup
		for range goroutines {
			group.Add(1)
			go func() {
				defer group.Done()
				for range rounds {
					if err := db.UpdateWithRetry(context.Background(), addOne, nil); err != nil {
						t.Error(name, err)
					}
				}
			}()
		}
		group.Wait()
		wantGet(t, db, "counter", strconv.Itoa(goroutines*rounds), nil)
	}
}

func addOne(tx *Transaction) error {
	value, err := tx.GetForUpdate([]byte("counter"), nil)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return err
	}
	count, _ := strconv.Atoi(string(value))
	return tx.Put([]byte("counter"), fmt.Append(nil, count+1))
}

func TestRetriesEndWithTheContext(t *testing.T) {
	db := openNew(t, small())
	ctx, cancel := context.WithCancel(context.Background())
	rounds := 0
	err := db.UpdateWithRetry(ctx, func(tx *Transaction) error {
		if rounds++; rounds == 3 {
			cancel()
		}
		put(t, db, "a", "others")
		return tx.Put([]byte("a"), []byte("1"))
	}, nil)
	wantErr(t, err, ErrBusy)
	wantErr(t, err, context.Canceled)
	if rounds < 3 {
		t.Fatal(rounds)
	}
}

func TestSavePointsAndSnapshots(t *testing.T) {
	db := openNew(t, small())
	tx := begin(t, db, nil)
	before, err := tx.SnapshotSequence()
	must(t, err)
	put(t, db, "a", "1")
	wantNone(t, tx, "a", nil)
	must(t, tx.SetSnapshot())
	after, err := tx.SnapshotSequence()
	must(t, err)
	if after <= before {
		t.Fatal(before, after)
	}
	wantGet(t, tx, "a", "1", nil)
	must(t, tx.SetSavePoint())
	must(t, tx.Put([]byte("b"), []byte("1")))
	must(t, tx.SetSavePoint())
	must(t, tx.Delete([]byte("a")))
	wantNone(t, tx, "a", nil)
	must(t, tx.RollbackToSavePoint())
	wantGet(t, tx, "a", "1", nil)
	must(t, tx.PopSavePoint())
	wantErr(t, tx.PopSavePoint(), ErrNotFound)
	wantErr(t, tx.RollbackToSavePoint(), ErrNotFound)
	must(t, tx.ClearSnapshot())
	_, err = tx.SnapshotSequence()
	wantErr(t, err, ErrNotFound)
	put(t, db, "a", "2")
	wantGet(t, tx, "a", "2", nil)
	must(t, tx.Commit())
	wantGet(t, db, "b", "1", nil)

	newest := begin(t, db, &TransactionOptions{ReadNewest: true})
	put(t, db, "a", "3")
	wantGet(t, newest, "a", "3", nil)
	without := begin(t, db, &TransactionOptions{Snapshot: NoSnapshot})
	_, err = without.SnapshotSequence()
	wantErr(t, err, ErrNotFound)
}

func TestFamiliesOfTransactions(t *testing.T) {
	db := openNew(t, small())
	family, err := db.CreateFamily("x", nil)
	must(t, err)
	other := openNew(t, small())
	tx := begin(t, db, nil)
	long := string(make([]byte, 10_000))
	must(t, tx.PutIn(family, []byte("a"), []byte(long)))
	must(t, tx.PutIn(family, []byte("b"), nil))
	must(t, tx.DeleteIn(family, []byte("b")))
	wantNone(t, tx, "a", nil)
	for _, get := range []func(*ColumnFamily, []byte, *ReadOptions) ([]byte, error){tx.GetIn, tx.GetForUpdateIn, tx.GetForShareIn} {
		value, err := get(family, []byte("a"), nil)
		must(t, err)
		if string(value) != long {
			t.Fatal(len(value))
		}
	}
	must(t, tx.UndoGetForUpdateIn(family, []byte("a")))
	it, err := tx.NewIteratorIn(family, nil)
	must(t, err)
	if !it.First() || string(it.Key()) != "a" || it.Next() {
		t.Fatal("the iterator does not show the family")
	}
	must(t, it.Close())
	wantErr(t, tx.PutIn(other.DefaultFamily(), nil, nil), ErrInvalidArgument)
	_, err = tx.NewIteratorIn(other.DefaultFamily(), nil)
	wantErr(t, err, ErrInvalidArgument)

	batch := NewWriteBatch()
	batch.PutIn(family, []byte("c"), []byte("1"))
	must(t, tx.Write(batch))
	must(t, tx.Put([]byte("y1"), []byte("1")))
	batch.DeleteRange([]byte("y"), []byte("z"))
	must(t, tx.Write(batch))
	_, err = tx.Get([]byte("y1"), nil)
	wantErr(t, err, ErrNotFound)
	wantErr(t, tx.Write(nil), ErrInvalidArgument)
	must(t, tx.Commit())
	wantGet(t, family, "a", long, nil)
	wantGet(t, family, "c", "1", nil)
	must(t, family.Close())
	tx = begin(t, db, nil)
	wantErr(t, tx.PutIn(family, nil, nil), ErrClosed)
}

func TestIteratorsOfTransactions(t *testing.T) {
	db := openNew(t, small())
	put(t, db, "a", "1", "c", "1", "e", "1")
	tx := begin(t, db, nil)
	must(t, tx.Put([]byte("b"), []byte("2")))
	must(t, tx.Delete([]byte("c")))
	snapshot, err := db.NewSnapshot()
	must(t, err)
	defer closeIt(t, snapshot)
	for _, values := range []Values{ReadValues, KeysOnly, OnDemand} {
		it, err := tx.NewIterator(&IteratorOptions{Values: values, UpperBound: []byte("f"), ReadOptions: ReadOptions{Snapshot: snapshot}})
		must(t, err)
		shown := ""
		for it.First(); it.Valid(); it.Next() {
			shown += string(it.Key()) + string(it.Value())
		}
		must(t, it.Err())
		if want := map[Values]string{ReadValues: "a1b2e1", KeysOnly: "abe", OnDemand: "a1b2e1"}[values]; shown != want {
			t.Fatal(shown)
		}
		must(t, it.Close())
		must(t, it.Close())
	}

	// It turns at a key that the transaction has deleted meanwhile, in both directions.
	it, err := tx.NewIterator(nil)
	must(t, err)
	if !it.Seek([]byte("b")) {
		t.Fatal("no key")
	}
	must(t, tx.Delete([]byte("b")))
	if !it.Prev() || string(it.Key()) != "a" {
		t.Fatalf("%q", it.Key())
	}
	must(t, tx.Delete([]byte("a")))
	if !it.Next() || string(it.Key()) != "e" {
		t.Fatalf("%q", it.Key())
	}
	// The entry after a chunk, for which there was no room, is gone when it is wanted.
	must(t, tx.Put([]byte("f"), nil))
	must(t, tx.Put([]byte("g"), make([]byte, 3000)))
	must(t, tx.SetSavePoint())
	must(t, tx.Put([]byte("h"), make([]byte, 3000)))
	it.Seek([]byte("f"))
	if !it.Next() || !it.isPending {
		t.Fatal("the chunk has room for the next entry")
	}
	must(t, tx.RollbackToSavePoint())
	must(t, tx.Put([]byte("i"), []byte("1")))
	if !it.Next() || string(it.Key()) != "i" || string(it.Value()) != "1" {
		t.Fatalf("%q", it.Key())
	}
	// The end of the transaction is that of the iterator.
	must(t, tx.Commit())
	if it.First() || !errors.Is(it.Err(), ErrClosed) {
		t.Fatal(it.Err())
	}
	must(t, it.Close())
	wantNone(t, db, "a", nil)
}

// Whatever ends the iterators of a transaction, they do not go on within the entries that they have read.
func TestIteratorsDoNotMoveAfterTheTransaction(t *testing.T) {
	ends := map[string]func(t *testing.T, db *DB, tx *Transaction){
		"commit":   func(t *testing.T, _ *DB, tx *Transaction) { must(t, tx.Commit()) },
		"rollback": func(t *testing.T, _ *DB, tx *Transaction) { must(t, tx.Rollback()) },
		"close":    func(t *testing.T, db *DB, _ *Transaction) { must(t, db.Close()) },
		"failed commit": func(t *testing.T, db *DB, tx *Transaction) {
			put(t, db, "a", "others")
			wantErr(t, tx.Commit(), ErrBusy)
		},
	}
	for name, end := range ends {
		for _, direction := range []string{"next", "prev"} {
			t.Run(name+" "+direction, func(t *testing.T) {
				db := openNew(t, small())
				tx := begin(t, db, nil)
				for _, key := range []string{"a", "b", "c", "d"} {
					must(t, tx.Put([]byte(key), nil))
				}
				it, err := tx.NewIterator(nil)
				must(t, err)
				if !it.First() || !it.Next() || it.count != 2 { // it is at b, and the chunk has c too
					t.Fatal(it.count)
				}
				move := it.Next
				if direction == "prev" {
					it.Next()
					move = it.Prev
				}
				end(t, db, tx)
				if move() || it.Valid() || !errors.Is(it.Err(), ErrClosed) {
					t.Fatalf("%q %v", it.Key(), it.Err())
				}
				if it.Last() || !errors.Is(it.Err(), ErrClosed) {
					t.Fatal(it.Err())
				}
				must(t, it.Close())
			})
		}
	}
}

func TestMilliseconds(t *testing.T) {
	for d, want := range map[time.Duration]int64{
		math.MinInt64:        -1,
		-1:                   -1,
		0:                    0,
		1:                    1,
		time.Millisecond:     1,
		time.Millisecond + 1: 2,
		math.MaxInt64:        math.MaxInt64/1_000_000 + 1,
	} {
		if got := int64(milliseconds(d)); got != want {
			t.Errorf("%d: %d, want %d", d, got, want)
		}
	}
}

// The longest time is not that of the database.
func TestLongLockTimeout(t *testing.T) {
	db := openLocking(t, &TransactionDBOptions{LockTimeout: time.Millisecond, WriteLockTimeout: math.MaxInt64})
	first := begin(t, db, nil)
	second := begin(t, db, &TransactionOptions{LockTimeout: math.MaxInt64, Expiration: math.MaxInt64})
	must(t, first.Put([]byte("a"), nil))
	inTime(t, func() {
		done := make(chan error)
		go func() { done <- second.Put([]byte("a"), []byte("2")) }()
		time.Sleep(20 * time.Millisecond)
		must(t, first.Commit())
		must(t, <-done)
	})
	must(t, second.Commit())
	wantGet(t, db, "a", "2", nil)
}

func TestLocks(t *testing.T) {
	db := openLocking(t, &TransactionDBOptions{LockTimeout: time.Minute, WriteLockTimeout: time.Millisecond, LockStripes: 4})
	first := begin(t, db, nil)
	must(t, first.SetName("first"))
	name, err := first.Name()
	must(t, err)
	if name != "first" {
		t.Fatal(name)
	}
	_, err = first.SnapshotSequence()
	wantErr(t, err, ErrNotFound)
	must(t, first.Put([]byte("a"), []byte("1")))
	second := begin(t, db, &TransactionOptions{LockTimeout: time.Millisecond})
	wantErr(t, second.SetName("first"), ErrInvalidArgument)
	err = second.Put([]byte("a"), []byte("2"))
	wantErr(t, err, ErrTimedOut)
	if !IsConflict(err) {
		t.Fatal(err)
	}
	wantErr(t, db.Put([]byte("a"), nil, nil), ErrTimedOut)
	wantErr(t, db.DeleteRange([]byte("a"), []byte("b"), nil), ErrTimedOut)
	must(t, first.Commit())
	must(t, second.Put([]byte("a"), []byte("2")))
	must(t, second.Commit())

	// Shared locks.
	first, second = begin(t, db, nil), begin(t, db, &TransactionOptions{LockTimeout: time.Millisecond})
	for _, tx := range []*Transaction{first, second} {
		_, err := tx.GetForShare([]byte("a"), nil)
		must(t, err)
	}
	_, err = second.GetForUpdate([]byte("a"), nil)
	wantErr(t, err, ErrTimedOut)
	must(t, first.Rollback())
	must(t, second.Rollback())

	// Deadlocks: each of two wants what the other one has.
	detect := &TransactionOptions{DeadlockDetect: true, LockTimeout: -1}
	first, second = begin(t, db, detect), begin(t, db, detect)
	must(t, first.Put([]byte("a"), nil))
	must(t, second.Put([]byte("b"), nil))
	done := make(chan error)
	want := func(tx *Transaction, key string) error {
		err := tx.Put([]byte(key), nil)
		if err != nil {
			err = errors.Join(err, tx.Rollback())
		}
		return err
	}
	inTime(t, func() {
		go func() { done <- want(first, "b") }()
		mine := want(second, "a")
		others := <-done
		if (mine == nil) == (others == nil) {
			t.Error(mine, others)
		}
		wantErr(t, errors.Join(mine, others), ErrBusy)
	})
	must(t, first.Rollback())
	must(t, second.Rollback())

	limited := begin(t, db, &TransactionOptions{MaxBatchBytes: 1000})
	wantErr(t, limited.Put([]byte("large"), make([]byte, 2000)), ErrAborted)
	expired := begin(t, db, &TransactionOptions{Expiration: time.Millisecond})
	time.Sleep(5 * time.Millisecond)
	wantErr(t, expired.Commit(), ErrExpired)
}

// beginNamed begins a transaction that has put its name.
func beginNamed(t *testing.T, db *DB, name string, options *TransactionOptions) *Transaction {
	t.Helper()
	tx, err := db.Begin(options)
	must(t, err)
	must(t, tx.SetName(name))
	must(t, tx.Put([]byte(name), []byte("1")))
	return tx
}

func wantState(t *testing.T, tx *Transaction, want TransactionState) {
	t.Helper()
	info, err := tx.Info()
	must(t, err)
	if info.State != want {
		t.Fatalf("the state is %d", info.State)
	}
}

// prepared returns the prepared transactions, which must have these names.
func prepared(t *testing.T, db *DB, want ...string) []*Transaction {
	t.Helper()
	transactions, err := db.PreparedTransactions()
	must(t, err)
	var names []string
	for _, tx := range transactions {
		name, err := tx.Name()
		must(t, err)
		wantState(t, tx, TransactionPrepared)
		names = append(names, name)
	}
	if !slices.Equal(names, want) {
		t.Fatalf("%q are prepared, want %q", names, want)
	}
	return transactions
}

var noWait = &TransactionDBOptions{LockTimeout: time.Millisecond, WriteLockTimeout: time.Millisecond}

func openLockingAt(t *testing.T, path string) *DB {
	t.Helper()
	db, _, err := OpenTransactionDB(path, small(), noWait)
	must(t, err)
	t.Cleanup(func() { must(t, db.Close()) })
	return db
}

func TestPrepare(t *testing.T) {
	db := openLockingAt(t, newPath(t))
	tx := beginNamed(t, db, "a", &TransactionOptions{WriteOptions: *Sync})
	must(t, tx.Prepare())
	wantState(t, tx, TransactionPrepared)
	wantGet(t, tx, "a", "1", nil)
	wantNone(t, db, "a", nil)
	wantErr(t, tx.Prepare(), ErrInvalidArgument)
	wantErr(t, tx.Put([]byte("b"), nil), ErrInvalidArgument)
	wantErr(t, tx.Delete([]byte("a")), ErrInvalidArgument)
	_, err := tx.GetForUpdate([]byte("b"), nil)
	wantErr(t, err, ErrInvalidArgument)
	wantErr(t, tx.RollbackToSavePoint(), ErrInvalidArgument)
	it, err := tx.NewIterator(nil)
	must(t, err)
	if !it.First() || string(it.Key()) != "a" {
		t.Fatal(it.Err())
	}
	wantErr(t, db.Put([]byte("a"), nil, nil), ErrTimedOut)
	prepared(t, db) // the program has its object
	must(t, tx.Commit())
	if it.First() || !errors.Is(it.Err(), ErrClosed) {
		t.Fatal(it.Err())
	}
	must(t, it.Close())
	wantGet(t, db, "a", "1", nil)
	wantErr(t, tx.Prepare(), ErrClosed)

	tx = beginNamed(t, db, "a", nil)
	must(t, tx.Prepare())
	must(t, tx.Rollback())
	must(t, tx.Rollback())
	put(t, db, "a", "others")
	wantGet(t, db, "a", "others", nil)
}

func TestWhatCannotBePrepared(t *testing.T) {
	db := openLockingAt(t, newPath(t))
	wantErr(t, begin(t, db, nil).Prepare(), ErrInvalidArgument)
	must(t, db.View(func(tx *Transaction) error {
		wantErr(t, tx.Prepare(), ErrNotSupported)
		return nil
	}))
	optimistic := openNew(t, small())
	wantErr(t, begin(t, optimistic, nil).Prepare(), ErrInvalidArgument)
	_, err := optimistic.PreparedTransactions()
	wantErr(t, err, ErrNotSupported)

	tx := beginNamed(t, db, "a", &TransactionOptions{NeedsPrepare: true})
	wantErr(t, tx.Commit(), ErrInvalidArgument)
	must(t, tx.Prepare())
	must(t, tx.Commit())
	wantGet(t, db, "a", "1", nil)
}

// Until they are committed or rolled back, every open finds them.
func TestPreparedTransactionsAfterAnOpen(t *testing.T) {
	path := newPath(t)
	db := openLockingAt(t, path)
	var left []*Transaction
	for _, name := range []string{"c", "a", "b"} {
		tx := beginNamed(t, db, name, nil)
		must(t, tx.Prepare())
		left = append(left, tx)
	}
	must(t, db.Close())
	must(t, left[0].Rollback()) // it has ended with its database, so this does nothing
	db = openLockingAt(t, path)
	prepared(t, db, "a", "b", "c")
	prepared(t, db) // each once
	must(t, db.Close())

	db = openLockingAt(t, path)
	wantErr(t, db.Put([]byte("a"), nil, nil), ErrTimedOut)
	found := prepared(t, db, "a", "b", "c")
	info, err := found[0].Info()
	must(t, err)
	if info.Keys != 1 || info.Puts != 1 {
		t.Fatal(info)
	}
	wantGet(t, found[0], "a", "1", nil)
	wantNone(t, db, "a", nil)
	must(t, found[0].Commit())
	must(t, found[1].Rollback())
	wantGet(t, db, "a", "1", nil)
	put(t, db, "a", "2", "b", "2")
	must(t, db.Close())
	db = openLockingAt(t, path)
	must(t, prepared(t, db, "c")[0].Commit())
	wantGet(t, db, "c", "1", nil)
	must(t, db.Close())
	_, err = db.PreparedTransactions()
	wantErr(t, err, ErrClosed)
}

func TestUpdateRollsAPreparedTransactionBack(t *testing.T) {
	path := newPath(t)
	db := openLockingAt(t, path)
	prepare := func(tx *Transaction) error {
		return errors.Join(tx.SetName("t"), tx.Put([]byte("a"), []byte("1")), tx.Prepare())
	}
	must(t, db.Update(prepare, nil))
	wantGet(t, db, "a", "1", nil)
	mine := errors.New("mine")
	wantErr(t, db.Update(func(tx *Transaction) error {
		must(t, prepare(tx))
		return mine
	}, nil), mine)
	func() {
		defer func() { _ = recover() }()
		_ = db.Update(func(tx *Transaction) error {
			must(t, prepare(tx))
			panic("in the function")
		}, nil)
	}()
	put(t, db, "a", "others")
	must(t, db.Close())
	prepared(t, openLockingAt(t, path))
}

// The other databases may have committed.
func TestPreparedTransactionRemainsAfterAFailedCommit(t *testing.T) {
	path := newPath(t)
	db := openLockingAt(t, path)
	family, err := db.CreateFamily("x", nil)
	must(t, err)
	failed := db.Update(func(tx *Transaction) error {
		must(t, errors.Join(tx.SetName("t"), tx.PutIn(family, []byte("a"), nil), tx.Prepare()))
		return family.Drop()
	}, nil)
	wantErr(t, failed, ErrColumnFamilyDropped)
	must(t, db.Close())
	db = openLockingAt(t, path)
	found := prepared(t, db, "t")[0]
	wantErr(t, found.Commit(), ErrInvalidArgument)
	wantState(t, found, TransactionPrepared)
	must(t, found.Rollback())
	must(t, db.Close())
	prepared(t, openLockingAt(t, path))
}

func TestLockingDatabaseWithFamilies(t *testing.T) {
	path := newPath(t)
	db := openAt(t, path, small())
	family, err := db.CreateFamily("x", nil)
	must(t, err)
	must(t, family.Close())
	must(t, db.Close())
	db, families, err := OpenTransactionDB(path, small(), &TransactionDBOptions{MaxLocks: 1},
		FamilyDescriptor{Name: DefaultFamilyName}, FamilyDescriptor{Name: "x"})
	must(t, err)
	defer closeIt(t, db)
	tx := begin(t, db, nil)
	must(t, tx.PutIn(families[1], []byte("a"), nil))
	wantErr(t, tx.PutIn(families[1], []byte("b"), nil), ErrBusy)
	must(t, tx.Commit())
	wantGet(t, families[1], "a", "", nil)
	_, _, err = OpenTransactionDB(path, small(), nil)
	wantErr(t, err, ErrLocked)
}

// Whatever closes first.
func TestLifetimesOfTransactions(t *testing.T) {
	db := openNew(t, small())
	tx, err := db.Begin(nil)
	must(t, err)
	must(t, tx.Put([]byte("a"), nil))
	it, err := tx.NewIterator(nil)
	must(t, err)
	batch, err := db.NewIndexedBatch(0)
	must(t, err)
	must(t, db.Close())
	wantErr(t, tx.Put([]byte("a"), nil), ErrClosed)
	wantErr(t, tx.Commit(), ErrClosed)
	wantErr(t, tx.SetSavePoint(), ErrClosed)
	must(t, tx.Rollback())
	if it.First() || !errors.Is(it.Err(), ErrClosed) {
		t.Fatal(it.Err())
	}
	must(t, it.Close())
	wantErr(t, batch.Put(nil, nil, nil), ErrClosed)
	must(t, batch.Close())
	_, err = db.Begin(nil)
	wantErr(t, err, ErrClosed)
	wantErr(t, db.Update(addOne, nil), ErrClosed)

	path := newPath(t)
	must(t, openAt(t, path, small()).Close())
	readOnly, err := OpenReadOnly(path, small())
	must(t, err)
	defer closeIt(t, readOnly)
	_, err = readOnly.Begin(nil)
	wantErr(t, err, ErrNotSupported)
}

// A transaction that two goroutines use at once: errors, but never a race.
func TestTransactionOfTwoGoroutines(t *testing.T) {
	db := openNew(t, small())
	tx := begin(t, db, nil)
	it, err := tx.NewIterator(nil)
	must(t, err)
	var group sync.WaitGroup
	try := func(call func() error) {
		group.Add(1)
		go func() {
			defer group.Done()
			for range 200 {
				if err := call(); err != nil && !errors.Is(err, ErrInvalidArgument) && !errors.Is(err, ErrClosed) {
					t.Error(err)
				}
			}
		}()
	}
	try(func() error { return tx.Put([]byte("a"), make([]byte, 1000)) })
	try(func() error { it.First(); return it.Err() })
	try(func() error { return tx.Delete([]byte("b")) })
	group.Wait()
	try(func() error { return tx.Put([]byte("a"), nil) })
	try(func() error { _, err := tx.Info(); return err })
	try(func() error { return db.Close() })
	group.Wait()
	must(t, it.Close())
}

func TestIndexedBatch(t *testing.T) {
	db := openNew(t, small())
	family, err := db.CreateFamily("x", nil)
	must(t, err)
	put(t, db, "a", "old", "b", "old")
	batch, err := db.NewIndexedBatch(0)
	must(t, err)
	defer closeIt(t, batch)
	must(t, batch.Put(nil, []byte("a"), []byte("new")))
	must(t, batch.Put(family, []byte("a"), []byte("in x")))
	must(t, batch.SetSavePoint())
	must(t, batch.Delete(nil, []byte("b")))
	must(t, batch.DeleteRange(family, []byte("a"), []byte("b")))
	get := func(family *ColumnFamily, key, want string) {
		t.Helper()
		value, err := batch.Get(family, []byte(key), nil)
		if want == "" {
			wantErr(t, err, ErrNotFound)
		} else if string(value) != want {
			t.Fatal(string(value), err)
		}
	}
	get(nil, "a", "new")
	get(nil, "b", "")
	get(family, "a", "")
	must(t, batch.RollbackToSavePoint())
	get(nil, "b", "old")
	get(family, "a", "in x")
	_, err = batch.GetFromBatch(nil, []byte("b"))
	wantErr(t, err, ErrNotFound)
	value, err := batch.GetFromBatch(family, []byte("a"))
	must(t, err)
	if string(value) != "in x" || batch.Len() != 2 {
		t.Fatal(string(value), batch.Len())
	}
	wantErr(t, batch.PopSavePoint(), ErrNotFound)
	must(t, db.WriteIndexed(batch, Sync))
	wantGet(t, db, "a", "new", nil)
	wantGet(t, family, "a", "in x", nil)
	must(t, batch.Reset())
	if batch.Len() != 0 {
		t.Fatal(batch.Len())
	}
	other := openNew(t, small())
	wantErr(t, other.WriteIndexed(batch, nil), ErrInvalidArgument)
	wantErr(t, db.WriteIndexed(nil, nil), ErrInvalidArgument)
	wantErr(t, batch.Put(other.DefaultFamily(), nil, nil), ErrInvalidArgument)

	small, err := db.NewIndexedBatch(10)
	must(t, err)
	must(t, small.Put(nil, []byte("a"), make([]byte, 100)))
	wantErr(t, db.WriteIndexed(small, nil), ErrAborted)
	must(t, small.Close())
	wantErr(t, small.Put(nil, nil, nil), ErrClosed)
}
