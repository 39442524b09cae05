package cambium

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
)

func byLength(a, b []byte) int {
	if len(a) != len(b) {
		return len(a) - len(b)
	}
	return bytes.Compare(a, b)
}

func TestComparator(t *testing.T) {
	path := newPath(t)
	order := NewComparator("test.ByLength", byLength)
	if order.Name() != "test.ByLength" {
		t.Fatal("wrong name")
	}
	db := openAt(t, path, small().SetComparator(order))
	put(t, db, "ccc", "1", "bb", "2", "a", "3", "", "4", "dd", "5")
	it := newIterator(t, db, nil)
	wantStrings(t, keysOf(t, it, it.First, it.Next), "=4", "a=3", "bb=2", "dd=5", "ccc=1")
	wantStrings(t, keysOf(t, it, it.Last, it.Prev), "ccc=1", "dd=5", "bb=2", "a=3", "=4")
	must(t, db.Flush(context.Background(), nil))
	must(t, db.CompactRange(context.Background(), Range{}, nil))
	wantGet(t, db, "bb", "2", nil)
	_, err := db.NewIterator(&IteratorOptions{Prefix: []byte("a")})
	wantErr(t, err, ErrInvalidArgument)
	must(t, it.Close())
	must(t, db.Close())
	_, err = Open(path, small())
	wantErr(t, err, ErrInvalidArgument)
	problems, err := VerifyDB(path, small().SetComparator(order), true)
	must(t, err)
	if len(problems) != 0 {
		t.Fatal(problems)
	}
	problems, err = VerifyDB(path, nil, true,
		FamilyDescriptor{DefaultFamilyName, NewOptions().SetComparator(order)})
	must(t, err)
	if len(problems) != 0 {
		t.Fatal(problems)
	}
	out := newPath(t)
	report, err := SalvageDB(path, out, small(), true,
		FamilyDescriptor{DefaultFamilyName, NewOptions().SetComparator(order)})
	must(t, err)
	if report.Lost != 0 || report.Unproven != 0 {
		t.Fatalf("the report is %v", report)
	}
	db = openAt(t, out, small().SetComparator(order))
	wantGet(t, db, "ccc", "1", nil)
}

func TestComparatorsOfTheLibrary(t *testing.T) {
	db := openNew(t, small().SetComparator(ReverseBytewiseComparator))
	put(t, db, "a", "1", "b", "2")
	it := newIterator(t, db, nil)
	wantStrings(t, keysOf(t, it, it.First, it.Next), "b=2", "a=1")
	other := openNew(t, small().Set("comparator", "x").SetComparator(BytewiseComparator))
	put(t, other, "b", "2", "a", "1")
	it = newIterator(t, other, &IteratorOptions{Prefix: []byte("a")})
	wantStrings(t, keysOf(t, it, it.First, it.Next), "a=1")
	_, err := Open(newPath(t), small().SetComparator(NewComparator("x\x00", byLength)))
	wantErr(t, err, ErrInvalidArgument)
	_, err = Open(newPath(t), small().SetComparator(NewComparator("cambium.mine", byLength)))
	wantErr(t, err, ErrInvalidArgument)
}

func TestLooseComparator(t *testing.T) {
	fold := NewLooseComparator("test.Fold", func(a, b []byte) int {
		return strings.Compare(strings.ToLower(string(a)), strings.ToLower(string(b)))
	})
	db := openNew(t, small().SetComparator(fold))
	put(t, db, "Oak", "1")
	must(t, db.Flush(context.Background(), nil))
	wantGet(t, db, "oAK", "1", nil)
}

// After a panic no answer would be right, so the process ends, and says why. The panic is in another process.
func TestPanicInAComparator(t *testing.T) {
	if path := os.Getenv("CAMBIUM_PANIC_PATH"); path != "" {
		panics := false
		order := NewComparator("test.Panics", func(a, b []byte) int {
			if panics {
				panic("the cause")
			}
			return bytes.Compare(b, a)
		})
		db, err := Open(path, NewOptions().SetCreateIfMissing(true).SetComparator(order))
		must(t, err)
		put(t, db, "a", "1", "b", "2")
		panics = true
		_ = db.DeleteRange([]byte("a"), []byte("b"), nil)
		t.Fatal("the process goes on")
	}
	path := newPath(t)
	command := exec.Command(os.Args[0], "-test.run", "^TestPanicInAComparator$")
	command.Env = append(os.Environ(), "CAMBIUM_PANIC_PATH="+path)
	out, err := command.CombinedOutput()
	var ended *exec.ExitError
	if !errors.As(err, &ended) || !bytes.Contains(out, []byte("the cause")) ||
		!bytes.Contains(out, []byte("comparator test.Panics")) || bytes.Contains(out, []byte("goes on")) {
		t.Fatalf("%v\n%s", err, out)
	}
	reverse := NewComparator("test.Panics", func(a, b []byte) int { return bytes.Compare(b, a) })
	db, err := Open(path, NewOptions().SetComparator(reverse))
	must(t, err)
	defer closeIt(t, db)
	wantGet(t, db, "a", "1", nil)
	wantGet(t, db, "b", "2", nil)
}
