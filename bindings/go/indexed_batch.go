package cambium

// #include "shim.h"
import "C"

import (
	"sync"
	"unsafe"
)

// IndexedBatch is a batch that can be read before it is written: alone, or as if it had been written to the database. It
// belongs to one goroutine at a time (a call that meets another one returns an error), is memory of C, and must be
// closed. DB.Close closes it too.
//
// If an operation is not accepted, for example because its key is too long, reads and the write fail with the reason,
// until Reset.
type IndexedBatch struct {
	db *DB
	mu sync.Mutex // held during a call; never waited for
	c  *C.cambium_writebatch_wi_t
}

// NewIndexedBatch makes an empty batch for this database. maxBytes is the most bytes that it may have; 0: no limit.
func (db *DB) NewIndexedBatch(maxBytes int) (*IndexedBatch, error) {
	if err := db.enter(); err != nil {
		return nil, err
	}
	defer db.leave()
	// All operations name their family, so the order of the batch does not matter.
	c := C.cambium_writebatch_wi_create_with_params(nil, 0, 1, C.size_t(max(maxBytes, 0)))
	b := &IndexedBatch{db: db, c: c}
	db.mu.Lock()
	defer db.mu.Unlock()
	db.batches[b] = struct{}{}
	live.add("indexed batch")
	return b, nil
}

func (b *IndexedBatch) enter(family *ColumnFamily) (*ColumnFamily, error) {
	if family == nil {
		family = b.db.def
	}
	if family.db != b.db {
		return nil, invalidArgument("the column family is of another database")
	}
	if !b.mu.TryLock() {
		return nil, invalidArgument("the batch is used by two goroutines at once")
	}
	if err := family.enter(); err != nil {
		b.mu.Unlock()
		return nil, err
	}
	if b.c == nil {
		family.leave()
		b.mu.Unlock()
		return nil, ErrClosed
	}
	return family, nil
}

func (b *IndexedBatch) leave(family *ColumnFamily) {
	family.leave()
	b.mu.Unlock()
}

// call calls `call` with the handle of a family.
func (b *IndexedBatch) call(family *ColumnFamily, call func(handle *C.cambium_column_family_handle_t) *C.char) error {
	family, err := b.enter(family)
	if err != nil {
		return err
	}
	defer b.leave(family)
	return takeError(call(family.c))
}

// Close frees the batch. A second call does nothing.
func (b *IndexedBatch) Close() error {
	family, err := b.enter(nil)
	if err != nil {
		if err == ErrClosed {
			return nil
		}
		return err
	}
	defer b.leave(family)
	b.db.mu.Lock()
	defer b.db.mu.Unlock()
	b.destroy()
	return nil
}

// destroy frees the batch, once. The database's mutex is held.
func (b *IndexedBatch) destroy() {
	if _, found := b.db.batches[b]; !found {
		return
	}
	delete(b.db.batches, b)
	C.cambium_writebatch_wi_destroy(b.c)
	b.c = nil
	live.remove("indexed batch")
}

// Put adds: set the value of a key of a family; nil is the default one.
func (b *IndexedBatch) Put(family *ColumnFamily, key, value []byte) error {
	return b.call(family, func(handle *C.cambium_column_family_handle_t) *C.char {
		C.cambium_writebatch_wi_put_cf(b.c, handle, chars(key), C.size_t(len(key)), chars(value), C.size_t(len(value)))
		return nil
	})
}

// Delete adds: delete a key of a family.
func (b *IndexedBatch) Delete(family *ColumnFamily, key []byte) error {
	return b.call(family, func(handle *C.cambium_column_family_handle_t) *C.char {
		C.cambium_writebatch_wi_delete_cf(b.c, handle, chars(key), C.size_t(len(key)))
		return nil
	})
}

// DeleteRange adds: delete the keys of a family from start on that are before end.
func (b *IndexedBatch) DeleteRange(family *ColumnFamily, start, end []byte) error {
	return b.call(family, func(handle *C.cambium_column_family_handle_t) *C.char {
		C.cambium_writebatch_wi_delete_range_cf(b.c, handle, chars(start), C.size_t(len(start)), chars(end),
			C.size_t(len(end)))
		return nil
	})
}

// Len returns the number of operations; 0 after Close.
func (b *IndexedBatch) Len() (count int) {
	_ = b.call(nil, func(*C.cambium_column_family_handle_t) *C.char {
		count = int(C.cambium_writebatch_wi_count(b.c))
		return nil
	})
	return count
}

// Reset removes all operations and save points.
func (b *IndexedBatch) Reset() error {
	return b.call(nil, func(*C.cambium_column_family_handle_t) *C.char {
		C.cambium_writebatch_wi_clear(b.c)
		return nil
	})
}

// SetSavePoint remembers the operations that the batch has now.
func (b *IndexedBatch) SetSavePoint() error {
	return b.call(nil, func(*C.cambium_column_family_handle_t) *C.char {
		C.cambium_writebatch_wi_set_save_point(b.c)
		return nil
	})
}

// RollbackToSavePoint removes the operations since the newest save point, and the save point. ErrNotFound: there is none.
func (b *IndexedBatch) RollbackToSavePoint() error {
	return b.call(nil, func(*C.cambium_column_family_handle_t) *C.char {
		var errptr *C.char
		C.cambium_writebatch_wi_rollback_to_save_point(b.c, &errptr)
		return errptr
	})
}

// PopSavePoint removes the newest save point, and no operation. ErrNotFound: there is none.
func (b *IndexedBatch) PopSavePoint() error {
	return b.call(nil, func(*C.cambium_column_family_handle_t) *C.char {
		var errptr *C.char
		C.cambium_writebatch_wi_pop_save_point(b.c, &errptr)
		return errptr
	})
}

// Get returns the value that a key of a family would have if the batch were written, or ErrNotFound.
func (b *IndexedBatch) Get(family *ColumnFamily, key []byte, options *ReadOptions) ([]byte, error) {
	family, err := b.enter(family)
	if err != nil {
		return nil, err
	}
	defer b.leave(family)
	read, err := options.beginRead(b.db)
	if err != nil {
		return nil, err
	}
	defer options.endRead()
	var length C.size_t
	var errptr *C.char
	value := C.cambium_writebatch_wi_get_from_batch_and_db_cf(b.c, b.db.c, read, family.c, chars(key),
		C.size_t(len(key)), &length, &errptr)
	return takeValue(value, length, errptr)
}

// GetFromBatch returns the value that the batch alone gives a key of a family. ErrNotFound: it says nothing about the
// key, or deletes it.
func (b *IndexedBatch) GetFromBatch(family *ColumnFamily, key []byte) ([]byte, error) {
	family, err := b.enter(family)
	if err != nil {
		return nil, err
	}
	defer b.leave(family)
	var length C.size_t
	var errptr *C.char
	value := C.cambium_writebatch_wi_get_from_batch_cf(b.c, nil, family.c, chars(key), C.size_t(len(key)), &length,
		&errptr)
	return takeValue(value, length, errptr)
}

// takeValue copies a value of C and frees it.
func takeValue(value *C.char, length C.size_t, errptr *C.char) ([]byte, error) {
	if err := takeError(errptr); err != nil {
		return nil, err
	}
	if value == nil {
		return nil, ErrNotFound
	}
	defer C.cambium_free(unsafe.Pointer(value))
	return append([]byte{}, view(value, length)...), nil
}

// WriteIndexed applies a batch, as a whole. The batch is not changed.
func (db *DB) WriteIndexed(batch *IndexedBatch, options *WriteOptions) error {
	if batch == nil {
		return invalidArgument("the batch is nil")
	}
	if batch.db != db {
		return invalidArgument("the batch is of another database")
	}
	return batch.call(nil, func(*C.cambium_column_family_handle_t) *C.char {
		var errptr *C.char
		C.cambium_write_writebatch_wi(db.c, options.c(), batch.c, &errptr)
		return errptr
	})
}
