package cambium

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
)

func TestAsyncReader(t *testing.T) {
	ctx := context.Background()
	path := newPath(t)
	db := openAt(t, path, small())
	fill(t, db, 500, 3_000)
	put(t, db, "empty", "", "", "of no bytes", "long", strings.Repeat("x", 1<<20))
	family, err := db.CreateFamily("x", nil)
	must(t, err)
	put(t, family, "a", "1")
	must(t, db.Flush(ctx, nil))
	snapshot := newSnapshot(t, db)
	must(t, db.Delete([]byte("empty"), nil))
	for _, options := range []*AsyncReaderOptions{nil, {Depth: 2, MaxBytes: 1 << 20, NoIOUring: true}} {
		reader, err := db.NewAsyncReader(options)
		must(t, err)
		var group sync.WaitGroup
		for i := range 500 {
			group.Add(1)
			go func() {
				defer group.Done()
				key, want := numbered(i, 3_000)
				if value, err := reader.Get(ctx, key, nil); err != nil || !bytes.Equal(value, want) {
					t.Errorf("value %d has %d bytes, %v", i, len(value), err)
				}
			}()
		}
		group.Wait()
		_, err = reader.Get(ctx, []byte("empty"), nil)
		wantErr(t, err, ErrNotFound)
		value, err := reader.Get(ctx, []byte("empty"), &ReadOptions{Snapshot: snapshot})
		must(t, err)
		if value == nil || len(value) != 0 {
			t.Fatalf("the empty value is %q", value)
		}
		value, err = reader.Get(ctx, nil, nil)
		must(t, err)
		if string(value) != "of no bytes" {
			t.Fatalf("the value is %q", value)
		}
		value, err = reader.Get(ctx, []byte("long"), nil)
		must(t, err)
		if len(value) != 1<<20 {
			t.Fatalf("the value has %d bytes", len(value))
		}
		value, err = reader.GetIn(ctx, family, []byte("a"), nil)
		must(t, err)
		if string(value) != "1" {
			t.Fatalf("the value is %q", value)
		}
		_, err = reader.GetIn(ctx, nil, nil, nil)
		wantErr(t, err, ErrInvalidArgument)
		_, err = reader.Get(ctx, nil, &ReadOptions{Snapshot: snapshot, DurableOnly: true})
		wantErr(t, err, ErrInvalidArgument)
		ended, cancel := context.WithCancel(ctx)
		cancel()
		_, err = reader.Get(ended, nil, nil)
		wantErr(t, err, context.Canceled)
		must(t, reader.Close())
		must(t, reader.Close())
		_, err = reader.Get(ctx, nil, nil)
		wantErr(t, err, ErrClosed)
	}
	_, err = db.NewAsyncReader(&AsyncReaderOptions{Depth: 5_000})
	wantErr(t, err, ErrInvalidArgument)
	_, err = db.NewAsyncReader(&AsyncReaderOptions{Depth: -1})
	wantErr(t, err, ErrInvalidArgument)
	reader, err := db.NewAsyncReader(nil)
	must(t, err)
	must(t, family.Close())
	_, err = reader.GetIn(ctx, family, nil, nil)
	wantErr(t, err, ErrClosed)
	must(t, snapshot.Close())
	_, err = reader.Get(ctx, nil, &ReadOptions{Snapshot: snapshot})
	wantErr(t, err, ErrClosed)
	must(t, db.Close())
	_, err = reader.Get(ctx, nil, nil)
	wantErr(t, err, ErrClosed)
}

// Close ends the reads in flight: each has its value, or ErrClosed.
func TestAsyncReaderClosedWhileInUse(t *testing.T) {
	db := openNew(t, small())
	fill(t, db, 200, 3_000)
	must(t, db.Flush(context.Background(), nil))
	for range 20 {
		reader, err := db.NewAsyncReader(nil)
		must(t, err)
		var group sync.WaitGroup
		for i := range 200 {
			group.Add(1)
			go func() {
				defer group.Done()
				key, want := numbered(i, 3_000)
				value, err := reader.Get(context.Background(), key, nil)
				if !errors.Is(err, ErrClosed) && (err != nil || !bytes.Equal(value, want)) {
					t.Errorf("value %d has %d bytes, %v", i, len(value), err)
				}
			}()
		}
		must(t, reader.Close())
		inTime(t, group.Wait)
	}
}

// A goroutine whose context ends does not wait for its read.
func TestAsyncReaderContext(t *testing.T) {
	db := openNew(t, small())
	fill(t, db, 100, 3_000)
	reader, err := db.NewAsyncReader(nil)
	must(t, err)
	for i := range 100 {
		ctx, cancel := context.WithCancel(context.Background())
		go cancel()
		key, want := numbered(i, 3_000)
		value, err := reader.Get(ctx, key, nil)
		if !errors.Is(err, context.Canceled) && (err != nil || !bytes.Equal(value, want)) {
			t.Fatalf("value %d has %d bytes, %v", i, len(value), err)
		}
	}
}
