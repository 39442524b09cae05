package cambium

import (
	"context"
	"errors"
	"testing"
)

// Every call of a closed database, and of objects made from it, returns ErrClosed.
func TestUseAfterClose(t *testing.T) {
	db := openNew(t, small())
	family, err := db.CreateFamily("x", nil)
	must(t, err)
	put(t, db, "a", "1")
	snapshot, err := db.NewSnapshot()
	must(t, err)
	it, err := db.NewIterator(nil)
	must(t, err)
	demand, err := db.NewIterator(&IteratorOptions{Values: OnDemand, ReadOptions: ReadOptions{Snapshot: snapshot}})
	must(t, err)
	it.First()
	demand.First()
	reader, err := db.NewAsyncReader(nil)
	must(t, err)
	engine, err := OpenBackupEngine(newPath(t), nil)
	must(t, err)
	defer closeIt(t, engine)
	must(t, db.Close())
	must(t, db.Close())

	ctx := context.Background()
	key := []byte("a")
	keys := [][]byte{key}
	batch := NewWriteBatch()
	batch.Put(key, key)
	seek := func(move func() bool, it *Iterator) error {
		if move() || it.Valid() {
			return errors.New("the iterator is valid")
		}
		return it.Err()
	}
	second := func(_ any, err error) error { return err }
	for name, err := range map[string]error{
		"Put":                 db.Put(key, nil, nil),
		"Delete":              db.Delete(key, nil),
		"DeleteRange":         db.DeleteRange(key, key, nil),
		"Write":               db.Write(batch, nil),
		"Get":                 second(db.Get(key, nil)),
		"Get at a snapshot":   second(db.Get(key, &ReadOptions{Snapshot: snapshot})),
		"AppendGet":           second(db.AppendGet(nil, key, nil)),
		"Has":                 second(db.Has(key, nil)),
		"MultiGet":            second(db.MultiGet(keys, nil)),
		"MultiGetFamilies":    second(db.MultiGetFamilies([]*ColumnFamily{family}, keys, nil)),
		"NewIterator":         second(db.NewIterator(nil)),
		"NewIterators":        second(db.NewIterators(nil, nil)),
		"NewSnapshot":         second(db.NewSnapshot()),
		"NewAsyncReader":      second(db.NewAsyncReader(nil)),
		"CreateFamily":        second(db.CreateFamily("y", nil)),
		"Flush":               db.Flush(ctx, nil),
		"SyncWAL":             db.SyncWAL(ctx),
		"CompactRange":        db.CompactRange(ctx, Range{}, nil),
		"WaitForCompact":      db.WaitForCompact(ctx),
		"Property":            second(db.Property("rocksdb.stats")),
		"IntProperty":         second(db.IntProperty("rocksdb.stats")),
		"Identity":            second(db.Identity()),
		"LatestSequence":      second(db.LatestSequence()),
		"ApproximateSizes":    second(db.ApproximateSizes(nil, SizeOfFiles)),
		"Options":             second(db.Options()),
		"SetOptions":          db.SetOptions(map[string]string{"sweep_ratio": "5"}),
		"SetDBOptions":        db.SetDBOptions(map[string]string{"page_cache_size": "2M"}),
		"Checkpoint":          db.Checkpoint(ctx, newPath(t), 0),
		"StartTrace":          db.StartTrace(newPath(t), nil),
		"EndTrace":            db.EndTrace(),
		"EncodeBatch":         second(db.EncodeBatch(batch)),
		"DecodeBatch":         second(db.DecodeBatch(nil)),
		"Backup":              engine.Create(ctx, db, nil),
		"family: Get":         second(family.Get(key, nil)),
		"family: Put":         family.Put(key, nil, nil),
		"family: Drop":        family.Drop(),
		"family: ID":          second(family.ID()),
		"family: Flush":       family.Flush(ctx, nil),
		"family: NewIterator": second(family.NewIterator(nil)),
		"iterator: First":     seek(it.First, it),
		"iterator: Last":      seek(it.Last, it),
		"iterator: Seek":      seek(func() bool { return it.Seek(key) }, it),
		"iterator: Prev":      seek(func() bool { return it.SeekForPrev(key) }, it),
		"iterator: value":     second(demand.Value(), demand.Err()),
		"reader: Get":         second(reader.Get(ctx, key, nil)),
	} {
		if !errors.Is(err, ErrClosed) {
			t.Errorf("%s: %v", name, err)
		}
	}
	must(t, it.Close())
	must(t, it.Close())
	must(t, demand.Close())
	must(t, snapshot.Close())
	must(t, family.Close())
	must(t, reader.Close())
	if snapshot.Sequence() == 0 || family.Name() != "x" {
		t.Error("a closed object has lost what needs no database")
	}
}

// An iterator that is in the middle of a chunk when the database is closed shows what it has, and then ends.
func TestIteratorEndsAfterClose(t *testing.T) {
	db := openNew(t, small())
	fill(t, db, 1_000, 100)
	it, err := db.NewIterator(nil)
	must(t, err)
	defer closeIt(t, it)
	it.First()
	for range 10 {
		it.Next()
	}
	must(t, db.Close())
	count := 0
	for it.Valid() {
		if len(it.Key()) == 0 || len(it.Value()) != 100 {
			t.Fatal("wrong entry")
		}
		it.Next()
		count++
	}
	wantErr(t, it.Err(), ErrClosed)
	if count > 20 {
		t.Fatalf("the iterator shows %d entries of a closed database", count)
	}
}

// Objects that are not closed are released with the database, so that the files can be opened again.
func TestCloseReleasesEverything(t *testing.T) {
	path := newPath(t)
	for range 3 {
		db, err := Open(path, small())
		must(t, err)
		put(t, db, "a", "1")
		for range 3 {
			snapshot, err := db.NewSnapshot()
			must(t, err)
			_, err = db.NewIterator(&IteratorOptions{ReadOptions: ReadOptions{Snapshot: snapshot}})
			must(t, err)
			must(t, snapshot.Close()) // the iterator still uses it
			_, err = db.NewSnapshot()
			must(t, err)
			_, err = db.NewAsyncReader(nil)
			must(t, err)
		}
		_, err = db.CreateFamily("x", nil)
		must(t, err)
		must(t, db.Close())
		must(t, DestroyDB(path, nil))
	}
}
