package cambium

import "testing"

func newSnapshot(t *testing.T, db *DB) *Snapshot {
	t.Helper()
	snapshot, err := db.NewSnapshot()
	must(t, err)
	t.Cleanup(func() { must(t, snapshot.Close()) })
	return snapshot
}

func TestSnapshot(t *testing.T) {
	db := openNew(t, small())
	put(t, db, "a", "old")
	snapshot := newSnapshot(t, db)
	latest, err := db.LatestSequence()
	must(t, err)
	if snapshot.Sequence() != latest || latest == 0 {
		t.Fatalf("the snapshot has number %d, the newest write %d", snapshot.Sequence(), latest)
	}
	put(t, db, "a", "new", "b", "new")
	old := &ReadOptions{Snapshot: snapshot}
	wantGet(t, db, "a", "old", old)
	wantGet(t, db, "a", "old", &ReadOptions{Snapshot: snapshot, NoFillCache: true})
	wantNone(t, db, "b", old)
	wantGet(t, db, "a", "new", nil)
	values, err := db.MultiGet([][]byte{[]byte("a"), []byte("b")}, old)
	must(t, err)
	if string(values[0]) != "old" || values[1] != nil {
		t.Fatalf("MultiGet returns %q", values)
	}
	has, err := db.Has([]byte("b"), old)
	must(t, err)
	if has {
		t.Fatal("Has sees a later write")
	}
	it := newIterator(t, db, &IteratorOptions{ReadOptions: *old})
	// The iterator keeps the snapshot in use.
	must(t, snapshot.Close())
	must(t, snapshot.Close())
	wantStrings(t, keysOf(t, it, it.First, it.Next), "a=old")
	count, err := db.IntProperty("cambium.num-snapshots")
	must(t, err)
	if count != 1 {
		t.Fatalf("%d snapshots while an iterator uses one", count)
	}
	must(t, it.Close())
	count, err = db.IntProperty("cambium.num-snapshots")
	must(t, err)
	if count != 0 {
		t.Fatalf("%d snapshots after Close", count)
	}
	_, err = db.Get([]byte("a"), old)
	wantErr(t, err, ErrClosed)
	_, err = db.NewIterator(&IteratorOptions{ReadOptions: *old})
	wantErr(t, err, ErrClosed)
}

func TestSnapshotOfAnotherDatabase(t *testing.T) {
	one, two := openNew(t, small()), openNew(t, small())
	options := &ReadOptions{Snapshot: newSnapshot(t, one)}
	_, err := two.Get([]byte("a"), options)
	wantErr(t, err, ErrInvalidArgument)
	_, err = two.MultiGet([][]byte{[]byte("a")}, options)
	wantErr(t, err, ErrInvalidArgument)
	_, err = two.NewIterator(&IteratorOptions{ReadOptions: *options})
	wantErr(t, err, ErrInvalidArgument)
}
