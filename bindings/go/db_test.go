package cambium

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"
)

func TestVersion(t *testing.T) {
	if parts := strings.Split(Version(), "."); len(parts) != 3 {
		t.Fatalf("the version is %q", Version())
	}
	must(t, checkABI())
}

func TestPutGetDelete(t *testing.T) {
	db := openNew(t, small())
	put(t, db, "a", "1", "b", "2")
	wantGet(t, db, "a", "1", nil)
	wantGet(t, db, "b", "2", &ReadOptions{NoChecksums: true, NoFillCache: true, NoAsyncIO: true})
	wantNone(t, db, "c", nil)
	put(t, db, "a", "3")
	wantGet(t, db, "a", "3", nil)
	must(t, db.Delete([]byte("a"), nil))
	must(t, db.Delete([]byte("never there"), nil))
	wantNone(t, db, "a", nil)
	must(t, db.Put([]byte("d"), []byte("4"), Sync))
	wantGet(t, db, "d", "4", &ReadOptions{DurableOnly: true})
	must(t, db.Put([]byte("e"), []byte("5"), &WriteOptions{NoSlowdown: true}))
	must(t, db.Delete([]byte("e"), Sync))
	wantNone(t, db, "e", nil)
}

func TestDeleteRange(t *testing.T) {
	db := openNew(t, small())
	put(t, db, "a", "1", "b", "2", "c", "3", "d", "4")
	must(t, db.DeleteRange([]byte("b"), []byte("d"), nil))
	wantGet(t, db, "a", "1", nil)
	wantNone(t, db, "b", nil)
	wantNone(t, db, "c", nil)
	wantGet(t, db, "d", "4", nil)
	wantErr(t, db.DeleteRange([]byte("z"), []byte("a"), nil), ErrInvalidArgument)
}

func TestHas(t *testing.T) {
	db := openNew(t, small())
	put(t, db, "empty", "", "one", "1")
	for key, want := range map[string]bool{"empty": true, "one": true, "none": false} {
		has, err := db.Has([]byte(key), nil)
		must(t, err)
		if has != want {
			t.Errorf("Has(%q) is %v", key, has)
		}
	}
}

func TestAppendGet(t *testing.T) {
	db := openNew(t, small())
	long := strings.Repeat("x", 3*scratchBytes)
	put(t, db, "short", "value", "long", long, "empty", "")
	dst := make([]byte, 0, 64)
	dst = append(dst, "start:"...)
	got, err := db.AppendGet(dst, []byte("short"), nil)
	must(t, err)
	if string(got) != "start:value" || &got[0] != &dst[0] {
		t.Fatalf("got %q", got)
	}
	got, err = db.AppendGet(dst, []byte("long"), nil)
	must(t, err)
	if string(got) != "start:"+long {
		t.Fatalf("got %d bytes", len(got))
	}
	got, err = db.AppendGet(nil, []byte("empty"), nil)
	must(t, err)
	if len(got) != 0 {
		t.Fatalf("got %q", got)
	}
	got, err = db.AppendGet(dst, []byte("none"), nil)
	wantErr(t, err, ErrNotFound)
	if string(got) != "start:" {
		t.Fatalf("got %q", got)
	}
	key := []byte("short")
	if n := testing.AllocsPerRun(100, func() { dst, _ = db.AppendGet(dst[:0], key, nil) }); n > 0 {
		t.Errorf("AppendGet allocates %v times", n)
	}
}

// Keys and values that are empty, have zero bytes, or have sizes around the limits of the binding.
func TestSizes(t *testing.T) {
	db := openNew(t, small())
	keys := [][]byte{nil, {0}, {0, 0}, []byte("a\x00b"), bytes.Repeat([]byte{0xff}, 64<<10)}
	for _, size := range []int{0, 1, scratchBytes - 1, scratchBytes, scratchBytes + 1, 100_000} {
		value := make([]byte, size)
		for i := range value {
			value[i] = byte(i * 7)
		}
		for _, key := range keys {
			must(t, db.Put(key, value, nil))
			got, err := db.Get(key, nil)
			must(t, err)
			if !bytes.Equal(got, value) || got == nil {
				t.Fatalf("a value of %d bytes under a key of %d comes back with %d", size, len(key), len(got))
			}
		}
	}
	must(t, db.Delete(nil, nil))
	wantNone(t, db, "", nil)
	wantErr(t, db.Put(make([]byte, 64<<10+1), nil, nil), ErrInvalidArgument)
}

func TestValueOf64MiB(t *testing.T) {
	notShort(t)
	db := openNew(t, small())
	value := make([]byte, 64<<20)
	for i := range value {
		value[i] = byte(i >> 12)
	}
	must(t, db.Put([]byte("large"), value, nil))
	got, err := db.Get([]byte("large"), nil)
	must(t, err)
	if !bytes.Equal(got, value) {
		t.Fatal("Get returns another value")
	}
	batch := NewWriteBatch()
	batch.Put([]byte("large2"), value)
	must(t, db.Write(batch, nil))
	it, err := db.NewIterator(nil)
	must(t, err)
	defer closeIt(t, it)
	count := 0
	for _, v := range it.All() {
		if !bytes.Equal(v, value) {
			t.Fatal("the iterator returns another value")
		}
		count++
	}
	must(t, it.Err())
	if count != 2 {
		t.Fatalf("%d entries", count)
	}
	values, err := db.MultiGet([][]byte{[]byte("large"), []byte("large2")}, nil)
	must(t, err)
	if !bytes.Equal(values[0], value) || !bytes.Equal(values[1], value) {
		t.Fatal("MultiGet returns another value")
	}
}

func TestOpenErrors(t *testing.T) {
	path := newPath(t)
	_, err := Open(path, nil)
	wantErr(t, err, ErrInvalidArgument) // it does not exist
	var e *Error
	if !errors.As(err, &e) || e.Code != CodeInvalidArgument || e.Message == "" {
		t.Fatalf("the error is %#v", err)
	}
	db := openAt(t, path, small())
	_, err = Open(path, small())
	wantErr(t, err, ErrLocked)
	wantErr(t, err, ErrIO)
	_, err = OpenReadOnly(path, nil)
	wantErr(t, err, ErrLocked)
	_, err = Open(path, small().SetErrorIfExists(true))
	if err == nil {
		t.Fatal("error_if_exists has no effect")
	}
	_, err = Open("a\x00b", small())
	wantErr(t, err, ErrInvalidArgument)
	if db.Path() != path || db.IsReadOnly() {
		t.Fatal("wrong path or mode")
	}
}

func TestOpenReadOnly(t *testing.T) {
	path := newPath(t)
	db := openAt(t, path, small())
	put(t, db, "a", "1")
	family, err := db.CreateFamily("x", nil)
	must(t, err)
	put(t, family, "b", "2")
	must(t, db.Close())
	// Any number of readers.
	one, err := OpenReadOnly(path, nil)
	must(t, err)
	defer closeIt(t, one)
	two, families, err := OpenFamiliesReadOnly(path, nil,
		[]FamilyDescriptor{{Name: DefaultFamilyName}, {Name: "x"}})
	must(t, err)
	defer closeIt(t, two)
	wantGet(t, one, "a", "1", nil)
	wantGet(t, two, "a", "1", nil)
	wantGet(t, families[1], "b", "2", nil)
	wantErr(t, one.Put([]byte("a"), nil, nil), ErrNotSupported)
	if !one.IsReadOnly() {
		t.Fatal("IsReadOnly is false")
	}
}

func TestOpenContextWaitsForTheLock(t *testing.T) {
	path := newPath(t)
	first := openAt(t, path, small())
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Millisecond)
	defer cancel()
	_, _, err := OpenContext(ctx, path, small())
	wantErr(t, err, context.DeadlineExceeded)
	time.AfterFunc(60*time.Millisecond, func() { first.Close() })
	second, families, err := OpenContext(context.Background(), path, small())
	must(t, err)
	if families != nil {
		t.Fatal("families that were not asked for")
	}
	must(t, second.Close())
	third, families, err := OpenContext(context.Background(), path, small(), FamilyDescriptor{Name: DefaultFamilyName})
	must(t, err)
	if len(families) != 1 || families[0].Name() != DefaultFamilyName {
		t.Fatal("wrong families")
	}
	must(t, third.Close())
	_, _, err = OpenContext(context.Background(), newPath(t), nil)
	wantErr(t, err, ErrInvalidArgument)
}

func TestReopenKeepsData(t *testing.T) {
	path := newPath(t)
	db := openAt(t, path, small())
	put(t, db, "a", "1")
	must(t, db.Close())
	db = openAt(t, path, small())
	wantGet(t, db, "a", "1", nil)
}

func TestIdentity(t *testing.T) {
	path := newPath(t)
	db := openAt(t, path, small())
	identity, err := db.Identity()
	if errors.Is(err, ErrNotSupported) {
		t.Skip(err)
	}
	must(t, err)
	must(t, db.Close())
	db = openAt(t, path, small())
	again, err := db.Identity()
	must(t, err)
	if again != identity || len(identity) != 32 {
		t.Fatalf("the identity is %q, then %q", identity, again)
	}
}

// Damage in a file is an error of its code, with the file in its message.
func TestCorruptionIsReported(t *testing.T) {
	path := newPath(t)
	db := openAt(t, path, small())
	put(t, db, "damaged", strings.Repeat("value to damage ", 100), "whole", "value")
	must(t, db.Flush(context.Background(), nil))
	must(t, db.Close())
	damageValue(t, path, "value to damage value")
	db = openAt(t, path, small())
	wantGet(t, db, "whole", "value", nil)
	_, err := db.Get([]byte("damaged"), nil)
	wantErr(t, err, ErrCorruption)
	_, err = db.AppendGet(nil, []byte("damaged"), nil)
	wantErr(t, err, ErrCorruption)
	_, err = db.Has([]byte("damaged"), nil)
	wantErr(t, err, ErrCorruption)

	values, err := db.MultiGet([][]byte{[]byte("whole"), []byte("damaged"), []byte("none")}, nil)
	wantErr(t, err, ErrCorruption)
	var key *KeyError
	if !errors.As(err, &key) || key.Index != 1 || !strings.Contains(key.Error(), "key 1") {
		t.Fatalf("the error is %v", err)
	}
	if string(values[0]) != "value" || values[1] != nil || values[2] != nil {
		t.Fatalf("the values are %q", values)
	}

	for _, how := range []Values{ReadValues, OnDemand} {
		it, err := db.NewIterator(&IteratorOptions{Values: how})
		must(t, err)
		for range it.All() {
			t.Fatal("the scan passes the damage")
		}
		wantErr(t, it.Err(), ErrCorruption)
		if !it.Seek([]byte("e")) || string(it.Key()) != "whole" || string(it.Value()) != "value" || it.Err() != nil {
			t.Fatal("the iterator does not go on after the damage")
		}
		if it.Prev() && it.Value() != nil {
			t.Fatal("the iterator returns a damaged value")
		}
		wantErr(t, it.Err(), ErrCorruption)
		must(t, it.Close())
	}
	must(t, db.Close())
	problems, err := VerifyDB(path, nil, true)
	must(t, err)
	if len(problems) == 0 {
		t.Fatal("VerifyDB finds nothing")
	}
	must(t, RepairDB(path, small()))
	db = openAt(t, path, small())
	wantGet(t, db, "whole", "value", nil)
	wantNone(t, db, "damaged", nil)
}

// damageValue changes a byte of a value in a log file.
func damageValue(t *testing.T, path, value string) {
	t.Helper()
	files, err := os.ReadDir(path)
	must(t, err)
	for _, each := range files {
		name := path + "/" + each.Name()
		if !strings.HasSuffix(name, ".log") {
			continue
		}
		content, err := os.ReadFile(name)
		must(t, err)
		if at := bytes.Index(content, []byte(value)); at >= 0 {
			content[at+10] ^= 1
			must(t, os.WriteFile(name, content, 0o600))
			return
		}
	}
	t.Fatal("the value is in no log file")
}
