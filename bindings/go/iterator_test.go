package cambium

import (
	"bytes"
	"fmt"
	"math/rand"
	"slices"
	"sort"
	"strings"
	"testing"
)

// keysOf returns the keys and values that a loop sees.
func keysOf(t *testing.T, it *Iterator, begin func() bool, step func() bool) []string {
	t.Helper()
	var seen []string
	for begin(); it.Valid(); step() {
		seen = append(seen, string(it.Key())+"="+string(it.Value()))
	}
	must(t, it.Err())
	return seen
}

func wantStrings(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Fatalf("got %q, want %q", got, want)
	}
}

func newIterator(t *testing.T, db *DB, options *IteratorOptions) *Iterator {
	t.Helper()
	it, err := db.NewIterator(options)
	must(t, err)
	t.Cleanup(func() { must(t, it.Close()) })
	return it
}

func TestIteratorMoves(t *testing.T) {
	db := openNew(t, small())
	put(t, db, "a", "1", "c", "3", "e", "5")
	it := newIterator(t, db, nil)
	if it.Valid() || it.Key() != nil || it.Value() != nil || it.ValueSize() != 0 || it.Next() || it.Prev() {
		t.Fatal("a new iterator is positioned")
	}
	wantStrings(t, keysOf(t, it, it.First, it.Next), "a=1", "c=3", "e=5")
	wantStrings(t, keysOf(t, it, it.Last, it.Prev), "e=5", "c=3", "a=1")
	for _, each := range []struct {
		seek func([]byte) bool
		key  string
		want string
	}{
		{it.Seek, "c", "c"}, {it.Seek, "b", "c"}, {it.Seek, "", "a"}, {it.Seek, "f", ""},
		{it.SeekForPrev, "c", "c"}, {it.SeekForPrev, "d", "c"}, {it.SeekForPrev, "z", "e"}, {it.SeekForPrev, "", ""},
	} {
		if each.seek([]byte(each.key)) != (each.want != "") || string(it.Key()) != each.want {
			t.Errorf("a seek of %q is at %q, want %q", each.key, it.Key(), each.want)
		}
		must(t, it.Err())
	}
	// Every turn.
	it.Seek([]byte("c"))
	if !it.Prev() || string(it.Key()) != "a" || !it.Next() || string(it.Key()) != "c" || !it.Next() ||
		string(it.Key()) != "e" || !it.Prev() || string(it.Key()) != "c" || it.ValueSize() != 1 {
		t.Fatal("wrong after turns")
	}
	if it.Last(); it.Next() || it.Valid() || it.Prev() {
		t.Fatal("the iterator moves from the end")
	}
	must(t, it.Err())
}

func TestIteratorRanges(t *testing.T) {
	db := openNew(t, small())
	put(t, db, "a", "1", "b", "2", "c", "3")
	it := newIterator(t, db, nil)
	join := func(entries func(func(k, v []byte) bool)) (text string) {
		for k, v := range entries {
			text += string(k) + string(v)
		}
		must(t, it.Err())
		return text
	}
	if got := join(it.All()); got != "a1b2c3" {
		t.Error("All:", got)
	}
	if got := join(it.Backward()); got != "c3b2a1" {
		t.Error("Backward:", got)
	}
	if got := join(it.From([]byte("b"))); got != "b2c3" {
		t.Error("From:", got)
	}
	if got := join(it.BackwardFrom([]byte("bb"))); got != "b2a1" {
		t.Error("BackwardFrom:", got)
	}
	for key, value := range it.All() {
		if string(key) != "a" || string(value) != "1" {
			t.Error("break: at", string(key))
		}
		break
	}
	keys := ""
	for key := range it.Keys() {
		if keys += string(key); string(key) == "b" {
			break
		}
	}
	if keys != "ab" {
		t.Error("Keys:", keys)
	}
}

func TestIteratorBoundsAndPrefixes(t *testing.T) {
	db := openNew(t, small())
	put(t, db, "", "empty", "a", "1", "a1", "2", "a2", "3", "b", "4", "\xff", "5", "\xff\xff1", "6")
	for _, each := range []struct {
		options IteratorOptions
		want    []string
	}{
		{IteratorOptions{LowerBound: []byte("a1")}, []string{"a1=2", "a2=3", "b=4", "\xff=5", "\xff\xff1=6"}},
		{IteratorOptions{UpperBound: []byte("a2")}, []string{"=empty", "a=1", "a1=2"}},
		{IteratorOptions{LowerBound: []byte("a"), UpperBound: []byte("b")}, []string{"a=1", "a1=2", "a2=3"}},
		{IteratorOptions{UpperBound: []byte{}}, nil},
		{IteratorOptions{LowerBound: []byte{}, UpperBound: []byte{0}}, []string{"=empty"}},
		{IteratorOptions{Prefix: []byte("a")}, []string{"a=1", "a1=2", "a2=3"}},
		{IteratorOptions{Prefix: []byte("a"), LowerBound: []byte("a1")}, []string{"a1=2", "a2=3"}},
		{IteratorOptions{Prefix: []byte("a"), UpperBound: []byte("a2")}, []string{"a=1", "a1=2"}},
		{IteratorOptions{Prefix: []byte("a"), UpperBound: []byte("z")}, []string{"a=1", "a1=2", "a2=3"}},
		{IteratorOptions{Prefix: []byte("\xff")}, []string{"\xff=5", "\xff\xff1=6"}},
		{IteratorOptions{Prefix: []byte("\xff\xff")}, []string{"\xff\xff1=6"}},
		{IteratorOptions{Prefix: []byte("c")}, nil},
	} {
		it := newIterator(t, db, &each.options)
		wantStrings(t, keysOf(t, it, it.First, it.Next), each.want...)
		slices.Reverse(each.want)
		wantStrings(t, keysOf(t, it, it.Last, it.Prev), each.want...)
	}
	reverse, err := db.CreateFamily("reverse", NewOptions().SetComparator(ReverseBytewiseComparator))
	must(t, err)
	_, err = reverse.NewIterator(&IteratorOptions{Prefix: []byte("a")})
	wantErr(t, err, ErrInvalidArgument)
}

func TestIteratorWithoutValues(t *testing.T) {
	db := openNew(t, small())
	fill(t, db, 500, 2_000)
	must(t, db.Put([]byte("key000100x"), bytes.Repeat([]byte("y"), 200_000), nil))
	keys := newIterator(t, db, &IteratorOptions{Values: KeysOnly})
	count := 0
	for keys.First(); keys.Valid(); keys.Next() {
		if keys.Value() != nil {
			t.Fatal("a value with KeysOnly")
		}
		if size := keys.ValueSize(); size < 1_990 || size > 202_000 {
			t.Fatalf("the size of a value is %d", size)
		}
		count++
	}
	must(t, keys.Err())
	if count != 501 {
		t.Fatalf("%d keys", count)
	}
	demand := newIterator(t, db, &IteratorOptions{Values: OnDemand})
	count = 0
	for demand.First(); demand.Valid(); demand.Next() {
		if count++; count%10 == 0 {
			var number int
			_, err := fmt.Sscanf(string(demand.Key()), "key%d", &number)
			must(t, err)
			_, value := numbered(number, 2_000)
			if string(demand.Key()) == "key000100x" {
				value = bytes.Repeat([]byte("y"), 200_000)
			}
			if got := demand.Value(); !bytes.Equal(got, value) || !bytes.Equal(demand.Value(), value) {
				t.Fatalf("the value of %s is wrong", demand.Key())
			}
		}
	}
	must(t, demand.Err())
	if count != 501 {
		t.Fatalf("%d keys", count)
	}
	if !demand.Seek([]byte("key000100x")) || len(demand.Value()) != 200_000 {
		t.Fatal("wrong value after a seek")
	}
	if !demand.Prev() || len(demand.Value()) != 2_000 || string(demand.Key()) != "key000100" {
		t.Fatal("wrong value after a turn")
	}
}

// A random walk must see what a sorted list has. Values have many sizes, so chunks end at all kinds of places.
func TestIteratorAgreesWithASortedList(t *testing.T) {
	notShort(t)
	db := openNew(t, small())
	random := rand.New(rand.NewSource(1))
	model := map[string]string{}
	for range 600 {
		key := fmt.Sprintf("k%04d", random.Intn(2000))
		size := []int{0, 1, 50, 900, 1_100, 5_000, 70_000}[min(random.Intn(60), 6)]
		if random.Intn(20) == 0 {
			size = 5_000
		}
		model[key] = strings.Repeat(string(rune('a'+random.Intn(26))), size)
		put(t, db, key, model[key])
	}
	var sorted []string
	for key := range model {
		sorted = append(sorted, key)
	}
	sort.Strings(sorted)
	for _, how := range []Values{ReadValues, KeysOnly, OnDemand} {
		it := newIterator(t, db, &IteratorOptions{Values: how})
		at := -1 // in sorted; -1: not valid
		run := 0
		forward := true
		for step := range 6_000 {
			if at < 0 || random.Intn(200) == 0 {
				target := fmt.Sprintf("k%04d", random.Intn(2000))
				switch random.Intn(4) {
				case 0:
					it.First()
					at = 0
				case 1:
					it.Last()
					at = len(sorted) - 1
				case 2:
					it.Seek([]byte(target))
					if at = sort.SearchStrings(sorted, target); at == len(sorted) {
						at = -1
					}
				default:
					it.SeekForPrev([]byte(target))
					at = sort.Search(len(sorted), func(i int) bool { return sorted[i] > target }) - 1
				}
			} else {
				if run--; run <= 0 {
					run, forward = random.Intn(40), !forward
				}
				if forward {
					it.Next()
					if at++; at == len(sorted) {
						at = -1
					}
				} else {
					it.Prev()
					at--
				}
			}
			if it.Valid() != (at >= 0) {
				t.Fatalf("%d, step %d: valid is %v, want %d", how, step, it.Valid(), at)
			}
			if at < 0 {
				must(t, it.Err())
				continue
			}
			if string(it.Key()) != sorted[at] {
				t.Fatalf("%d, step %d: at %s, want %s", how, step, it.Key(), sorted[at])
			}
			if how != KeysOnly && (how == ReadValues || random.Intn(5) == 0) && string(it.Value()) != model[sorted[at]] {
				t.Fatalf("%d, step %d: wrong value of %s", how, step, it.Key())
			}
		}
	}
}

func TestIteratorsShowOneState(t *testing.T) {
	db := openNew(t, small())
	family, err := db.CreateFamily("x", nil)
	must(t, err)
	put(t, db, "a", "1")
	put(t, family, "b", "2")
	its, err := db.NewIterators([]*ColumnFamily{db.DefaultFamily(), family}, nil)
	must(t, err)
	put(t, db, "later", "3")
	put(t, family, "later", "3")
	wantStrings(t, keysOf(t, its[0], its[0].First, its[0].Next), "a=1")
	wantStrings(t, keysOf(t, its[1], its[1].First, its[1].Next), "b=2")
	must(t, its[0].Close())
	must(t, its[0].Close())
	must(t, its[1].Close())
	wantErr(t, func() error { its[0].First(); return its[0].Err() }(), ErrClosed)
	if its[0].Valid() || its[0].Key() != nil {
		t.Fatal("a closed iterator is valid")
	}
	none, err := db.NewIterators(nil, nil)
	must(t, err)
	if none != nil {
		t.Fatal("iterators over no families")
	}
	_, err = db.NewIterators([]*ColumnFamily{nil}, nil)
	wantErr(t, err, ErrInvalidArgument)
	_, err = db.NewIterator(&IteratorOptions{ReadOptions: ReadOptions{DurableOnly: true, Snapshot: newSnapshot(t, db)}})
	wantErr(t, err, ErrInvalidArgument)
}

func TestPrefixEnd(t *testing.T) {
	for prefix, want := range map[string]string{"a": "b", "a\xff": "b", "\xff": "", "a\xff\xff": "b", "ab": "ac"} {
		if got := prefixEnd([]byte(prefix)); string(got) != want || (want == "") != (got == nil) {
			t.Errorf("the end of %q is %q", prefix, got)
		}
	}
}
