package cambium

import (
	"bytes"
	"errors"
	"fmt"
	"testing"
)

func TestBatch(t *testing.T) {
	db := openNew(t, small())
	family, err := db.CreateFamily("x", nil)
	must(t, err)
	put(t, db, "old", "1", "r1", "1", "r2", "1", "r3", "1")
	put(t, family, "old", "1", "r1", "1", "r2", "1")
	batch := NewWriteBatch()
	batch.Put([]byte("a"), []byte("1"))
	batch.Put(nil, []byte{0, 0})
	batch.Put([]byte("empty"), nil)
	batch.Delete([]byte("old"))
	batch.DeleteRange([]byte("r1"), []byte("r3"))
	batch.PutIn(family, []byte("b"), []byte("2"))
	batch.DeleteIn(family, []byte("old"))
	batch.DeleteRangeIn(family, []byte("r1"), []byte("r2"))
	if batch.Len() != 8 || batch.Size() == 0 {
		t.Fatalf("the batch has %d operations of %d bytes", batch.Len(), batch.Size())
	}
	for _, options := range []*WriteOptions{nil, Sync} {
		must(t, db.Write(batch, options))
		wantGet(t, db, "a", "1", nil)
		wantGet(t, db, "", "\x00\x00", nil)
		wantGet(t, db, "empty", "", nil)
		wantNone(t, db, "old", nil)
		wantNone(t, db, "r1", nil)
		wantNone(t, db, "r2", nil)
		wantGet(t, db, "r3", "1", nil)
		wantGet(t, family, "b", "2", nil)
		wantNone(t, family, "old", nil)
		wantNone(t, family, "r1", nil)
		wantGet(t, family, "r2", "1", nil)
	}
	wantStrings(t, opsOf(batch), "1 a 1", "1  \x00\x00", "1 empty ", "2 old ", "3 r1 r3", "x 1 b 2", "x 2 old ",
		"x 3 r1 r2")
	for op := range batch.Ops() {
		if op.Kind != OpPut || op.Family != nil {
			t.Fatal("wrong first operation")
		}
		break
	}
	batch.Reset()
	if batch.Len() != 0 || batch.Size() != 0 || len(opsOf(batch)) != 0 {
		t.Fatal("Reset leaves operations")
	}
	must(t, db.Write(batch, nil))
	must(t, db.Write(&WriteBatch{}, nil))
	wantErr(t, db.Write(nil, nil), ErrInvalidArgument)
}

func opsOf(batch *WriteBatch) []string {
	var texts []string
	for op := range batch.Ops() {
		text := fmt.Sprintf("%d %s %s", op.Kind, op.Key, op.Value)
		if op.Family != nil {
			text = op.Family.Name() + " " + text
		}
		texts = append(texts, text)
	}
	return texts
}

func TestBatchSavePoints(t *testing.T) {
	batch := NewWriteBatch()
	wantErr(t, batch.RollbackToSavePoint(), ErrNotFound)
	wantErr(t, batch.PopSavePoint(), ErrNotFound)
	batch.Put([]byte("a"), nil)
	batch.SetSavePoint()
	batch.Put([]byte("b"), nil)
	batch.SetSavePoint()
	batch.PutIn(nil, []byte("c"), nil)
	db := openNew(t, small())
	wantErr(t, db.Write(batch, nil), ErrInvalidArgument)
	must(t, batch.RollbackToSavePoint())
	must(t, db.Write(batch, nil))
	wantStrings(t, opsOf(batch), "1 a ", "1 b ")
	must(t, batch.RollbackToSavePoint())
	wantStrings(t, opsOf(batch), "1 a ")
	batch.SetSavePoint()
	must(t, batch.PopSavePoint())
	wantErr(t, batch.RollbackToSavePoint(), ErrNotFound)

	other := NewWriteBatch()
	other.Delete([]byte("d"))
	batch.Append(other)
	batch.Append(batch)
	wantStrings(t, opsOf(batch), "1 a ", "2 d ", "1 a ", "2 d ")
	other.DeleteIn(nil, nil)
	batch.Append(other)
	wantErr(t, db.Write(batch, nil), ErrInvalidArgument)
}

// A batch with an operation that the library does not accept changes nothing.
func TestBatchThatIsRefused(t *testing.T) {
	db, other := openNew(t, small()), openNew(t, small())
	batch := NewWriteBatch()
	batch.Put([]byte("a"), []byte("1"))
	batch.Put(make([]byte, 64<<10+1), nil)
	wantErr(t, db.Write(batch, nil), ErrInvalidArgument)
	wantNone(t, db, "a", nil)
	batch.Reset()
	batch.PutIn(other.DefaultFamily(), []byte("a"), nil)
	wantErr(t, db.Write(batch, nil), ErrInvalidArgument)
	must(t, other.Write(batch, nil))
	_, err := db.EncodeBatch(batch)
	wantErr(t, err, ErrInvalidArgument)
}

func TestBatchOfManyOperations(t *testing.T) {
	db := openNew(t, small())
	batch := NewWriteBatch()
	for i := range 20_000 {
		batch.Put(numbered(i, i%300))
	}
	must(t, db.Write(batch, nil))
	for i := 0; i < 20_000; i += 97 {
		key, value := numbered(i, i%300)
		got, err := db.Get(key, nil)
		must(t, err)
		if !bytes.Equal(got, value) {
			t.Fatalf("the value of %s is %q", key, got)
		}
	}
}

func TestEncodeBatch(t *testing.T) {
	db := openNew(t, small())
	family, err := db.CreateFamily("x", nil)
	must(t, err)
	batch := NewWriteBatch()
	batch.Put([]byte("a"), bytes.Repeat([]byte("v"), 5_000))
	batch.Delete(nil)
	batch.DeleteRange([]byte("c"), []byte("d"))
	batch.PutIn(family, []byte("e"), []byte("f"))
	batch.DeleteIn(family, []byte("g"))
	batch.DeleteRangeIn(family, []byte("h"), []byte("i"))
	data, err := db.EncodeBatch(batch)
	must(t, err)
	decoded, err := db.DecodeBatch(data)
	must(t, err)
	wantStrings(t, opsOf(decoded), opsOf(batch)...)
	must(t, db.Write(decoded, nil))
	wantGet(t, family, "e", "f", nil)

	empty, err := db.EncodeBatch(NewWriteBatch())
	must(t, err)
	decoded, err = db.DecodeBatch(empty)
	must(t, err)
	if decoded.Len() != 0 {
		t.Fatal("an empty batch is not empty")
	}
	_, err = db.DecodeBatch([]byte("no batch"))
	wantErr(t, err, ErrCorruption)
	_, err = db.EncodeBatch(nil)
	wantErr(t, err, ErrInvalidArgument)
	refused := NewWriteBatch()
	refused.PutIn(nil, nil, nil)
	_, err = db.EncodeBatch(refused)
	wantErr(t, err, ErrInvalidArgument)
	must(t, family.Close())
	_, err = db.DecodeBatch(data)
	wantErr(t, err, ErrInvalidArgument) // the family is not open
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("%v is no *Error", err)
	}
}
