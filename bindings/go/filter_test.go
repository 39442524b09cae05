package cambium

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
)

// byPrefix decides by the first letters of the key.
type byPrefix struct{ keys, values atomic.Int64 }

func (f *byPrefix) Filter(level int, key, value []byte) Decision {
	f.values.Add(1)
	if level < 0 {
		panic("level")
	}
	switch {
	case bytes.HasPrefix(key, []byte("remove")):
		return Remove
	case bytes.HasPrefix(key, []byte("change")):
		return ChangeValue(append([]byte("new "), value...))
	case bytes.HasPrefix(key, []byte("empty")):
		return ChangeValue(nil)
	case bytes.HasPrefix(key, []byte("skip")):
		return RemoveAndSkipUntil([]byte("skip2"))
	}
	return Keep
}

type byPrefixAndKey struct{ byPrefix }

func (f *byPrefixAndKey) FilterKey(_ int, key []byte) Decision {
	f.keys.Add(1)
	if bytes.HasPrefix(key, []byte("keyonly")) {
		return Remove
	}
	return Undetermined
}

func putForFilters(t *testing.T, db *DB) {
	t.Helper()
	long := strings.Repeat("x", 2_000)
	put(t, db, "change", "old", "empty", "old", "keep", "old", "keyonly", long, "keep long", long, "remove", "old",
		"skip1", "old", "skip1b", "old", "skip2", "old", "change long", long)
	must(t, db.CompactRange(context.Background(), Range{}, nil))
	wantGet(t, db, "change", "new old", nil)
	wantGet(t, db, "change long", "new "+long, nil)
	wantGet(t, db, "empty", "", nil)
	wantGet(t, db, "keep", "old", nil)
	wantGet(t, db, "keep long", long, nil)
	wantNone(t, db, "remove", nil)
	wantNone(t, db, "skip1", nil)
	wantNone(t, db, "skip1b", nil)
}

func TestCompactionFilter(t *testing.T) {
	filter := &byPrefix{}
	db := openNew(t, small().SetCompactionFilter(filter))
	putForFilters(t, db)
	if filter.values.Load() == 0 {
		t.Fatal("the filter was not asked")
	}
	if _, err := db.Get([]byte("keyonly"), nil); err != nil {
		t.Fatal(err)
	}
}

func TestCompactionFilterByKey(t *testing.T) {
	filter := &byPrefixAndKey{}
	db := openNew(t, small().SetCompactionFilter(filter))
	putForFilters(t, db)
	wantNone(t, db, "keyonly", nil)
	if filter.keys.Load() == 0 {
		t.Fatal("the filter was not asked about keys")
	}
}

func TestCompactionFilterFactory(t *testing.T) {
	var full, manual, nothing atomic.Int64
	var isOff atomic.Bool
	factory := FilterFactoryFunc(func(context FilterContext) CompactionFilter {
		if context.FamilyID != 0 {
			panic("family")
		}
		if isOff.Load() {
			nothing.Add(1)
			return nil
		}
		if context.IsFullCompaction {
			full.Add(1)
		}
		if context.IsManualCompaction {
			manual.Add(1)
		}
		return &byPrefix{}
	})
	db := openNew(t, small().SetCompactionFilterFactory(factory))
	putForFilters(t, db)
	must(t, db.CompactRange(context.Background(), Range{}, nil))
	if full.Load() == 0 || manual.Load() == 0 {
		t.Fatalf("%d filters of full, %d of manual compactions", full.Load(), manual.Load())
	}
	isOff.Store(true)
	put(t, db, "remove", "again")
	must(t, db.CompactRange(context.Background(), Range{[]byte("a"), []byte("s")}, nil))
	wantGet(t, db, "remove", "again", nil)
	if nothing.Load() == 0 {
		t.Fatal("the factory was not asked")
	}
}

// A panic ends the compaction with an error, changes nothing, and is reported.
func TestPanicInACompactionFilter(t *testing.T) {
	panicking := FilterFunc(func(int, []byte, []byte) Decision { panic("filter") })
	panicsByKey := &panicsAtKeys{}
	for name, options := range map[string]*Options{
		"filter":  small().SetCompactionFilter(panicking),
		"by key":  small().SetCompactionFilter(panicsByKey),
		"of jobs": small().SetCompactionFilterFactory(FilterFactoryFunc(func(FilterContext) CompactionFilter { return panicking })),
		"factory": small().SetCompactionFilterFactory(FilterFactoryFunc(func(FilterContext) CompactionFilter { panic("factory") })),
	} {
		t.Run(name, func(t *testing.T) {
			var report atomic.Pointer[PanicError]
			db := openNew(t, options.SetPanicHandler(func(err *PanicError) { report.Store(err) }))
			put(t, db, "a", "1", "b", strings.Repeat("x", 2_000))
			wantErr(t, db.CompactRange(context.Background(), Range{}, nil), ErrInvalidArgument)
			if report.Load() == nil || !strings.Contains(report.Load().Callback, "compaction filter") {
				t.Fatalf("the report is %v", report.Load())
			}
			wantGet(t, db, "a", "1", nil)
			wantGet(t, db, "b", strings.Repeat("x", 2_000), nil)
		})
	}
}

type panicsAtKeys struct{}

func (panicsAtKeys) Filter(int, []byte, []byte) Decision { return Keep }
func (panicsAtKeys) FilterKey(int, []byte) Decision      { panic(errors.New("by key")) }
