package cambium

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"
)

func TestManyGoroutines(t *testing.T) {
	db := openNew(t, small())
	var group sync.WaitGroup
	for g := range 8 {
		group.Add(1)
		go func() {
			defer group.Done()
			for i := range 150 {
				key := fmt.Appendf(nil, "%d-%d", g, i)
				value := bytes.Repeat(key, 50)
				if err := db.Put(key, value, nil); err != nil {
					t.Error(err)
				}
				if got, err := db.Get(key, nil); err != nil || !bytes.Equal(got, value) {
					t.Errorf("got %q, %v", got, err)
				}
				if i%30 == 0 {
					scanAll(t, db)
				}
			}
		}()
	}
	group.Wait()
	if n := scanAll(t, db); n != 8*150 {
		t.Fatalf("%d entries", n)
	}
}

func scanAll(t *testing.T, db *DB) (count int) {
	snapshot, err := db.NewSnapshot()
	if err != nil {
		t.Error(err)
		return 0
	}
	defer snapshot.Close()
	it, err := db.NewIterator(&IteratorOptions{ReadOptions: ReadOptions{Snapshot: snapshot}})
	if err != nil {
		t.Error(err)
		return 0
	}
	defer it.Close()
	for range it.All() {
		count++
	}
	if err := it.Err(); err != nil {
		t.Error(err)
	}
	return count
}

// Close while goroutines use everything: each of them ends with ErrClosed.
func TestCloseWhileInUse(t *testing.T) {
	for range 5 {
		db := openNew(t, small())
		family, err := db.CreateFamily("x", nil)
		must(t, err)
		fill(t, db, 300, 700)
		snapshot, err := db.NewSnapshot()
		must(t, err)
		reader, err := db.NewAsyncReader(nil)
		must(t, err)
		key, _ := numbered(7, 0)
		uses := []func() error{
			func() error { return db.Put([]byte("a"), nil, nil) },
			func() error { return family.Put([]byte("a"), nil, nil) },
			func() error { _, err := db.Get(key, &ReadOptions{Snapshot: snapshot}); return err },
			func() error { _, err := db.MultiGet([][]byte{key}, nil); return err },
			func() error { _, err := reader.Get(context.Background(), key, nil); return err },
			func() error {
				it, err := db.NewIterator(nil)
				if err != nil {
					return err
				}
				defer it.Close()
				for range it.All() {
				}
				return it.Err()
			},
			func() error {
				s, err := db.NewSnapshot()
				if err == nil {
					err = s.Close()
				}
				return err
			},
			func() error {
				batch := NewWriteBatch()
				batch.PutIn(family, []byte("b"), nil)
				return db.Write(batch, nil)
			},
		}
		var group sync.WaitGroup
		for _, use := range uses {
			group.Add(1)
			go func() {
				defer group.Done()
				for {
					if err := use(); err != nil {
						if !errors.Is(err, ErrClosed) {
							t.Error(err)
						}
						return
					}
				}
			}()
		}
		time.Sleep(20 * time.Millisecond)
		inTime(t, func() { must(t, db.Close()) })
		inTime(t, group.Wait)
	}
}

// One iterator used by two goroutines is a mistake. It must not harm the memory of the library.
func TestIteratorClosedByAnotherGoroutine(t *testing.T) {
	db := openNew(t, small())
	fill(t, db, 100, 100)
	for range 50 {
		it, err := db.NewIterator(nil)
		must(t, err)
		it.First()
		done := make(chan struct{})
		go func() {
			defer close(done)
			must(t, it.Close())
		}()
		<-done
		for it.Next() {
		}
		wantErr(t, it.Err(), ErrClosed)
	}
}

func TestFamilyAndSnapshotClosedWhileInUse(t *testing.T) {
	db := openNew(t, small())
	put(t, db, "a", "1")
	for i := range 20 {
		family, err := db.CreateFamily(fmt.Sprint("x", i), nil)
		must(t, err)
		put(t, family, "a", "1")
		snapshot, err := db.NewSnapshot()
		must(t, err)
		var group sync.WaitGroup
		for range 4 {
			group.Add(1)
			go func() {
				defer group.Done()
				for {
					_, err := family.Get([]byte("a"), &ReadOptions{Snapshot: snapshot})
					if errors.Is(err, ErrClosed) {
						return
					}
					if err != nil {
						t.Error(err)
						return
					}
				}
			}()
		}
		time.Sleep(time.Millisecond)
		if i%2 == 0 {
			must(t, family.Close())
			must(t, snapshot.Close())
		} else {
			must(t, snapshot.Close())
			must(t, family.Close())
		}
		inTime(t, group.Wait)
	}
	count, err := db.IntProperty("cambium.num-snapshots")
	must(t, err)
	if count != 0 {
		t.Fatalf("%d snapshots are left", count)
	}
}
