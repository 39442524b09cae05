package cambium

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestMain fails if a test has left an object open.
func TestMain(m *testing.M) {
	live.isOn.Store(true)
	code := m.Run()
	if left := live.list(); len(left) > 0 && code == 0 {
		fmt.Fprintln(os.Stderr, "FAIL: objects were not closed:", left)
		code = 1
	}
	os.Exit(code)
}

// small returns options of a database that takes little memory and creates itself.
func small() *Options {
	return NewOptions().SetCreateIfMissing(true).SetWriteBufferSize(1<<20).SetPageCacheSize(1<<20).
		SetLogger(LogError, DiscardLog)
}

func newPath(t *testing.T) string {
	t.Helper()
	return filepath.Join(t.TempDir(), "db")
}

// openNew opens a new database, which the test's end closes.
func openNew(t *testing.T, options *Options) *DB {
	t.Helper()
	return openAt(t, newPath(t), options)
}

func openAt(t *testing.T, path string, options *Options) *DB {
	t.Helper()
	db, err := Open(path, options)
	must(t, err)
	t.Cleanup(func() { must(t, db.Close()) })
	return db
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantErr(t *testing.T, err, target error) {
	t.Helper()
	if !errors.Is(err, target) {
		t.Fatalf("got the error %v, want %v", err, target)
	}
}

// A reader is a DB or a ColumnFamily.
type reader interface {
	Get(key []byte, options *ReadOptions) ([]byte, error)
}

func wantGet(t *testing.T, r reader, key, value string, options *ReadOptions) {
	t.Helper()
	got, err := r.Get([]byte(key), options)
	must(t, err)
	if string(got) != value || got == nil {
		t.Fatalf("the value of %q is %q, want %q", key, got, value)
	}
}

func wantNone(t *testing.T, r reader, key string, options *ReadOptions) {
	t.Helper()
	got, err := r.Get([]byte(key), options)
	wantErr(t, err, ErrNotFound)
	if got != nil {
		t.Fatalf("the value of %q is %q, want none", key, got)
	}
}

type writer interface {
	Put(key, value []byte, options *WriteOptions) error
}

// put writes keys and values in turn.
func put(t *testing.T, w writer, pairs ...string) {
	t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		must(t, w.Put([]byte(pairs[i]), []byte(pairs[i+1]), nil))
	}
}

// numbered returns the key of a number, and its value of some bytes.
func numbered(i, valueBytes int) (key, value []byte) {
	key = fmt.Appendf(nil, "key%06d", i)
	return key, bytes.Repeat([]byte{byte('a' + i%26)}, valueBytes)
}

func fill(t *testing.T, w writer, count, valueBytes int) {
	t.Helper()
	for i := range count {
		key, value := numbered(i, valueBytes)
		must(t, w.Put(key, value, nil))
	}
}

// inTime fails if f does not return soon.
func inTime(t *testing.T, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	select {
	case <-done:
	case <-time.After(30 * time.Second):
		t.Fatal("the call does not return")
	}
}

func closeIt(t *testing.T, c interface{ Close() error }) {
	t.Helper()
	must(t, c.Close())
}

// notShort skips a long test if short tests are wanted.
func notShort(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("long")
	}
}
