package cambium

import (
	"slices"
	"testing"
)

func TestFamilies(t *testing.T) {
	path := newPath(t)
	db := openAt(t, path, small())
	x, err := db.CreateFamily("x", NewOptions().SetIndexType(LSM))
	must(t, err)
	y, err := db.CreateFamily("y", nil)
	must(t, err)
	if x.Name() != "x" || x.DB() != db {
		t.Fatal("wrong name or database")
	}
	_, err = db.CreateFamily("x", nil)
	wantErr(t, err, ErrInvalidArgument)
	_, err = db.CreateFamily("a\x00b", nil)
	wantErr(t, err, ErrInvalidArgument)
	idX, err := x.ID()
	must(t, err)
	idY, err := y.ID()
	must(t, err)
	idDefault, err := db.DefaultFamily().ID()
	must(t, err)
	if idX == idY || idX == 0 || idDefault != 0 || db.DefaultFamily().Name() != DefaultFamilyName {
		t.Fatalf("the numbers are %d, %d and %d", idX, idY, idDefault)
	}
	put(t, db, "key", "default")
	put(t, x, "key", "x", "other", "x")
	put(t, y, "key", "y")
	wantGet(t, db, "key", "default", nil)
	wantGet(t, db.DefaultFamily(), "key", "default", nil)
	wantGet(t, x, "key", "x", nil)
	wantGet(t, y, "key", "y", nil)
	must(t, x.Delete([]byte("key"), nil))
	must(t, x.DeleteRange([]byte("a"), []byte("z"), nil))
	wantNone(t, x, "key", nil)
	wantNone(t, x, "other", nil)
	put(t, x, "key", "x")
	values, err := db.MultiGetFamilies([]*ColumnFamily{x, y, db.DefaultFamily(), x},
		[][]byte{[]byte("key"), []byte("key"), []byte("key"), []byte("none")}, nil)
	must(t, err)
	if string(values[0]) != "x" || string(values[1]) != "y" || string(values[2]) != "default" || values[3] != nil {
		t.Fatalf("the values are %q", values)
	}
	_, err = db.MultiGetFamilies([]*ColumnFamily{x}, nil, nil)
	wantErr(t, err, ErrInvalidArgument)
	_, err = db.MultiGetFamilies([]*ColumnFamily{nil}, [][]byte{nil}, nil)
	wantErr(t, err, ErrInvalidArgument)

	names, err := ListFamilies(path, nil)
	must(t, err)
	if !slices.Equal(names, []string{"default", "x", "y"}) {
		t.Fatalf("the families are %q", names)
	}
	must(t, y.Drop())
	wantErr(t, y.Put([]byte("key"), nil, nil), ErrColumnFamilyDropped)
	must(t, y.Close())
	if db.DefaultFamily().Drop() == nil {
		t.Fatal("the default family was dropped")
	}
	must(t, db.Close())

	_, err = Open(path, nil)
	wantErr(t, err, ErrInvalidArgument) // x is not named
	db, families, err := OpenFamilies(path, small(),
		[]FamilyDescriptor{{"x", NewOptions().SetIndexType(LSM)}, {Name: DefaultFamilyName}})
	must(t, err)
	defer closeIt(t, db)
	wantGet(t, families[0], "key", "x", nil)
	wantGet(t, families[1], "key", "default", nil)
	put(t, families[1], "key", "again")
	wantGet(t, db, "key", "again", nil)
}

func TestCreateMissingFamilies(t *testing.T) {
	path := newPath(t)
	descriptors := []FamilyDescriptor{{Name: DefaultFamilyName}, {Name: "new"}}
	_, _, err := OpenFamilies(path, small(), descriptors)
	wantErr(t, err, ErrInvalidArgument)
	db, families, err := OpenFamilies(path, small().SetCreateMissingColumnFamilies(true), descriptors)
	must(t, err)
	defer closeIt(t, db)
	put(t, families[1], "a", "1")
	wantGet(t, families[1], "a", "1", nil)
	_, _, err = OpenFamilies(newPath(t), small(), []FamilyDescriptor{{Name: "a\x00"}})
	wantErr(t, err, ErrInvalidArgument)
	_, _, err = OpenFamilies(newPath(t), small(), []FamilyDescriptor{})
	if err == nil {
		t.Fatal("a database without the default family")
	}
}

func TestClosedFamily(t *testing.T) {
	db := openNew(t, small())
	family, err := db.CreateFamily("x", nil)
	must(t, err)
	put(t, family, "a", "1")
	it, err := family.NewIterator(nil)
	must(t, err)
	must(t, family.Close())
	must(t, family.Close())
	wantErr(t, family.Put(nil, nil, nil), ErrClosed)
	_, err = family.Get(nil, nil)
	wantErr(t, err, ErrClosed)
	_, err = family.ID()
	wantErr(t, err, ErrClosed)
	batch := NewWriteBatch()
	batch.PutIn(family, nil, nil)
	wantErr(t, db.Write(batch, nil), ErrClosed)
	// An iterator needs no handle.
	wantStrings(t, keysOf(t, it, it.First, it.Next), "a=1")
	must(t, it.Close())
	must(t, db.DefaultFamily().Close())
	put(t, db, "a", "1")
	wantGet(t, db, "a", "1", nil)
}
