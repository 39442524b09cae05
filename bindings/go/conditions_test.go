package cambium

import (
	"errors"
	"strconv"
	"sync"
	"testing"
	"time"
)

// onBoth runs a test on a plain database and on one that locks keys.
func onBoth(t *testing.T, test func(t *testing.T, db *DB)) {
	t.Run("plain", func(t *testing.T) { test(t, openNew(t, small())) })
	t.Run("locking", func(t *testing.T) { test(t, openLocking(t, nil)) })
}

func wantWritten(t *testing.T, want bool) func(written bool, err error) {
	t.Helper()
	return func(written bool, err error) {
		t.Helper()
		must(t, err)
		if written != want {
			t.Fatalf("written is %v, want %v", written, want)
		}
	}
}

func TestPutIfAbsent(t *testing.T) {
	onBoth(t, func(t *testing.T, db *DB) {
		wantWritten(t, true)(db.PutIfAbsent([]byte("k"), []byte("v"), nil))
		wantWritten(t, false)(db.PutIfAbsent([]byte("k"), []byte("w"), nil))
		wantGet(t, db, "k", "v", nil)
		must(t, db.Delete([]byte("k"), nil))
		wantWritten(t, true)(db.PutIfAbsent([]byte("k"), nil, Sync))
		wantWritten(t, false)(db.PutIfAbsent([]byte("k"), []byte("w"), nil)) // an empty value is a value
		wantGet(t, db, "k", "", nil)
		wantWritten(t, true)(db.PutIfAbsent(nil, []byte("of the empty key"), nil))
	})
}

func TestCompareAndSet(t *testing.T) {
	onBoth(t, func(t *testing.T, db *DB) {
		wantWritten(t, false)(db.CompareAndSet([]byte("k"), nil, []byte("v"), nil))
		put(t, db, "k", "v")
		wantWritten(t, false)(db.CompareAndSet([]byte("k"), nil, []byte("w"), nil))
		wantWritten(t, false)(db.CompareAndSet([]byte("k"), []byte("v2"), []byte("w"), nil))
		wantGet(t, db, "k", "v", nil)
		wantWritten(t, true)(db.CompareAndSet([]byte("k"), []byte("v"), nil, &WriteOptions{Sync: true, NoSlowdown: true}))
		wantGet(t, db, "k", "", nil)
		wantWritten(t, true)(db.CompareAndSet([]byte("k"), []byte{}, []byte("w"), nil))
		wantGet(t, db, "k", "w", nil)
	})
}

func TestCompareAndDelete(t *testing.T) {
	onBoth(t, func(t *testing.T, db *DB) {
		wantWritten(t, false)(db.CompareAndDelete([]byte("k"), nil, nil))
		put(t, db, "k", "v")
		wantWritten(t, false)(db.CompareAndDelete([]byte("k"), nil, nil))
		wantGet(t, db, "k", "v", nil)
		wantWritten(t, true)(db.CompareAndDelete([]byte("k"), []byte("v"), Sync))
		wantNone(t, db, "k", nil)
		put(t, db, "k", "")
		wantWritten(t, true)(db.CompareAndDelete([]byte("k"), nil, nil))
	})
}

func TestConditionalWritesOfFamilies(t *testing.T) {
	onBoth(t, func(t *testing.T, db *DB) {
		family, err := db.CreateFamily("x", nil)
		must(t, err)
		wantWritten(t, true)(db.PutIfAbsent([]byte("k"), []byte("1"), nil))
		wantWritten(t, true)(family.PutIfAbsent([]byte("k"), []byte("2"), nil))
		wantWritten(t, false)(family.CompareAndSet([]byte("k"), []byte("1"), []byte("3"), nil))
		wantWritten(t, true)(family.CompareAndSet([]byte("k"), []byte("2"), []byte("3"), nil))
		wantGet(t, db, "k", "1", nil)
		wantGet(t, family, "k", "3", nil)
		wantWritten(t, false)(family.CompareAndDelete([]byte("k"), []byte("1"), nil))
		wantWritten(t, true)(family.CompareAndDelete([]byte("k"), []byte("3"), nil))
		wantNone(t, family, "k", nil)
		must(t, family.Drop())
		_, err = family.PutIfAbsent([]byte("k"), nil, nil)
		wantErr(t, err, ErrColumnFamilyDropped)
	})
}

func TestWriteIf(t *testing.T) {
	onBoth(t, func(t *testing.T, db *DB) {
		family, err := db.CreateFamily("x", nil)
		must(t, err)
		put(t, db, "stock", "3")
		put(t, family, "empty", "")
		batch := NewWriteBatch()
		batch.Put([]byte("stock"), []byte("2"))
		batch.PutIn(family, []byte("order"), []byte("1"))
		conditions := NewWriteConditions()
		conditions.HasValue([]byte("stock"), []byte("3"))
		conditions.IsAbsentIn(family, []byte("order"))
		conditions.HasValueIn(family, []byte("empty"), nil)
		conditions.IsAbsent([]byte("order"))
		if conditions.Len() != 4 {
			t.Fatalf("there are %d conditions", conditions.Len())
		}
		wantWritten(t, true)(db.WriteIf(batch, conditions, Sync))
		wantGet(t, db, "stock", "2", nil)
		wantGet(t, family, "order", "1", nil)
		// Now two of them do not hold; then one.
		batch.Reset()
		batch.Put([]byte("stock"), []byte("1"))
		wantWritten(t, false)(db.WriteIf(batch, conditions, nil))
		must(t, family.Delete([]byte("order"), nil))
		wantWritten(t, false)(db.WriteIf(batch, conditions, nil))
		wantGet(t, db, "stock", "2", nil)
		conditions.Reset()
		wantWritten(t, true)(db.WriteIf(batch, conditions, nil)) // nothing is asked
		wantGet(t, db, "stock", "1", nil)
		// Without operations it is a question.
		conditions.HasValueIn(family, []byte("empty"), []byte{})
		wantWritten(t, true)(db.WriteIf(&WriteBatch{}, conditions, nil))
		conditions.IsAbsentIn(family, []byte("empty"))
		wantWritten(t, false)(db.WriteIf(&WriteBatch{}, conditions, nil))
	})
}

// raise raises a counter in a family, or in the default one and this one at once, until that was written.
func raise(db *DB, family *ColumnFamily, both bool) error {
	key := []byte("counter")
	for {
		old, err := family.Get(key, nil)
		isAbsent := errors.Is(err, ErrNotFound)
		if err != nil && !isAbsent {
			return err
		}
		number, _ := strconv.Atoi(string(old))
		next := strconv.AppendInt(nil, int64(number)+1, 10)
		var written bool
		switch {
		case both:
			conditions, batch := &WriteConditions{}, &WriteBatch{}
			for _, each := range []*ColumnFamily{db.DefaultFamily(), family} {
				if isAbsent {
					conditions.IsAbsentIn(each, key)
				} else {
					conditions.HasValueIn(each, key, old)
				}
				batch.PutIn(each, key, next)
			}
			written, err = db.WriteIf(batch, conditions, nil)
		case isAbsent:
			written, err = family.PutIfAbsent(key, next, nil)
		default:
			written, err = family.CompareAndSet(key, old, next, nil)
		}
		if err != nil || written {
			return err
		}
	}
}

func TestNoIncrementIsLost(t *testing.T) {
	const goroutines, times = 8, 50
	for _, both := range []bool{false, true} {
		onBoth(t, func(t *testing.T, db *DB) {
			family, err := db.CreateFamily("x", nil)
			must(t, err)
			var all sync.WaitGroup
			failures := make(chan error, goroutines)
			for range goroutines {
				all.Add(1)
				go func() {
					defer all.Done()
					for range times {
						if err := raise(db, family, both); err != nil {
							failures <- err
							return
						}
					}
				}()
			}
			all.Wait()
			close(failures)
			must(t, <-failures)
			want := strconv.Itoa(goroutines * times)
			wantGet(t, family, "counter", want, nil)
			if both {
				wantGet(t, db, "counter", want, nil)
			}
		})
	}
}

// In a database that locks keys, a conditional write waits for the locks of transactions.
func TestConditionalWriteWaitsForLocks(t *testing.T) {
	db := openLocking(t, &TransactionDBOptions{WriteLockTimeout: time.Millisecond})
	put(t, db, "k", "v")
	tx := begin(t, db, nil)
	must(t, tx.Put([]byte("k"), []byte("w")))
	_, err := db.CompareAndSet([]byte("k"), []byte("v"), []byte("x"), nil)
	wantErr(t, err, ErrTimedOut)
	must(t, tx.Commit())
	wantWritten(t, false)(db.CompareAndSet([]byte("k"), []byte("v"), []byte("x"), nil))
	wantWritten(t, true)(db.CompareAndSet([]byte("k"), []byte("w"), []byte("x"), nil))
}

func TestConditionalWritesRefuse(t *testing.T) {
	db := openNew(t, small())
	other := openNew(t, small())
	family, err := db.CreateFamily("x", nil)
	must(t, err)
	refused := func(written bool, err error, target error) {
		t.Helper()
		wantErr(t, err, target)
		if written {
			t.Fatal("it was written")
		}
	}
	written, err := db.PutIfAbsent(make([]byte, 70_000), nil, nil)
	refused(written, err, ErrInvalidArgument)
	batch := NewWriteBatch()
	batch.Put([]byte("k"), nil)
	written, err = db.WriteIf(nil, &WriteConditions{}, nil)
	refused(written, err, ErrInvalidArgument)
	written, err = db.WriteIf(batch, nil, nil)
	refused(written, err, ErrInvalidArgument)
	for _, foreign := range []*ColumnFamily{nil, other.DefaultFamily()} {
		conditions := &WriteConditions{}
		conditions.IsAbsentIn(foreign, []byte("k"))
		written, err = db.WriteIf(batch, conditions, nil)
		refused(written, err, ErrInvalidArgument)
		to := NewWriteBatch()
		to.PutIn(foreign, []byte("k"), nil)
		written, err = db.WriteIf(to, &WriteConditions{}, nil)
		refused(written, err, ErrInvalidArgument)
	}
	conditions := &WriteConditions{}
	conditions.HasValueIn(family, []byte("k"), nil)
	must(t, family.Close())
	written, err = db.WriteIf(batch, conditions, nil)
	refused(written, err, ErrClosed)
	written, err = family.CompareAndSet(nil, nil, nil, nil)
	refused(written, err, ErrClosed)
	wantNone(t, db, "k", nil)

	path := db.Path()
	must(t, db.Close())
	written, err = db.WriteIf(batch, &WriteConditions{}, nil)
	refused(written, err, ErrClosed)
	written, err = db.PutIfAbsent(nil, nil, nil)
	refused(written, err, ErrClosed)
	written, err = db.CompareAndSet(nil, nil, nil, nil)
	refused(written, err, ErrClosed)
	written, err = db.CompareAndDelete(nil, nil, nil)
	refused(written, err, ErrClosed)
	reader, _, err := OpenFamiliesReadOnly(path, nil, []FamilyDescriptor{{Name: DefaultFamilyName}})
	must(t, err)
	defer closeIt(t, reader)
	written, err = reader.PutIfAbsent([]byte("k"), nil, nil)
	refused(written, err, ErrNotSupported)
}
