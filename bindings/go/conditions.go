package cambium

// #include "shim.h"
import "C"

import "unsafe"

// PutIfAbsent sets the value of a key that does not exist. It reports whether it has written.
func (f *ColumnFamily) PutIfAbsent(key, value []byte, options *WriteOptions) (written bool, err error) {
	return f.writeIf(func(did *C.uchar) *C.char {
		return C.cambium_go_put_if_absent(f.db.c, options.c(), f.c, chars(key), C.size_t(len(key)), chars(value),
			C.size_t(len(value)), did)
	})
}

// CompareAndSet sets the value of a key that has the value `expected`. It reports whether it has written. A key that
// does not exist has no value: nil and an empty slice are the empty value.
func (f *ColumnFamily) CompareAndSet(key, expected, value []byte, options *WriteOptions) (written bool, err error) {
	return f.writeIf(func(did *C.uchar) *C.char {
		return C.cambium_go_compare_and_set(f.db.c, options.c(), f.c, chars(key), C.size_t(len(key)), chars(expected),
			C.size_t(len(expected)), chars(value), C.size_t(len(value)), did)
	})
}

// CompareAndDelete deletes a key that has the value `expected`. It reports whether it has deleted it.
func (f *ColumnFamily) CompareAndDelete(key, expected []byte, options *WriteOptions) (deleted bool, err error) {
	return f.writeIf(func(did *C.uchar) *C.char {
		return C.cambium_go_compare_and_delete(f.db.c, options.c(), f.c, chars(key), C.size_t(len(key)),
			chars(expected), C.size_t(len(expected)), did)
	})
}

func (f *ColumnFamily) writeIf(call func(did *C.uchar) *C.char) (bool, error) {
	if err := f.enter(); err != nil {
		return false, err
	}
	defer f.leave()
	var did C.uchar
	err := takeError(call(&did))
	return did != 0, err
}

// PutIfAbsent sets the value of a key that does not exist. It reports whether it has written.
func (db *DB) PutIfAbsent(key, value []byte, options *WriteOptions) (written bool, err error) {
	return db.def.PutIfAbsent(key, value, options)
}

// CompareAndSet sets the value of a key that has the value `expected`. It reports whether it has written. A key that
// does not exist has no value: nil and an empty slice are the empty value.
func (db *DB) CompareAndSet(key, expected, value []byte, options *WriteOptions) (written bool, err error) {
	return db.def.CompareAndSet(key, expected, value, options)
}

// CompareAndDelete deletes a key that has the value `expected`. It reports whether it has deleted it.
func (db *DB) CompareAndDelete(key, expected []byte, options *WriteOptions) (deleted bool, err error) {
	return db.def.CompareAndDelete(key, expected, options)
}

// The codes of conditions, as shim.h has them.
const (
	isAbsent = 1
	hasValue = 2
)

// WriteConditions say what keys must be when DB.WriteIf writes a batch. The zero value has no conditions. It is memory
// of Go, as a WriteBatch is. Keys and values are copied.
type WriteConditions struct {
	all WriteBatch // with the codes above
}

// NewWriteConditions returns WriteConditions without conditions.
func NewWriteConditions() *WriteConditions { return &WriteConditions{} }

// IsAbsent adds: the key does not exist in the default family.
func (c *WriteConditions) IsAbsent(key []byte) { c.all.add(isAbsent, nil, key, nil) }

// HasValue adds: the key exists in the default family, with this value.
func (c *WriteConditions) HasValue(key, value []byte) { c.all.add(hasValue, nil, key, value) }

// IsAbsentIn adds: the key does not exist in a family.
func (c *WriteConditions) IsAbsentIn(family *ColumnFamily, key []byte) {
	c.all.addIn(isAbsent, family, key, nil)
}

// HasValueIn adds: the key exists in a family, with this value.
func (c *WriteConditions) HasValueIn(family *ColumnFamily, key, value []byte) {
	c.all.addIn(hasValue, family, key, value)
}

// Len returns the number of conditions.
func (c *WriteConditions) Len() int { return c.all.Len() }

// Reset removes all conditions, and keeps the memory.
func (c *WriteConditions) Reset() { c.all.Reset() }

// WriteIf applies a batch, as a whole, if all conditions hold at that moment: no other write comes in between. It
// reports whether it has written. Neither is changed. A nil batch is an error, and so are nil conditions.
func (db *DB) WriteIf(batch *WriteBatch, conditions *WriteConditions, options *WriteOptions) (written bool, err error) {
	if batch == nil || conditions == nil {
		return false, invalidArgument("the batch or the conditions are nil")
	}
	if batch.err != nil {
		return false, batch.err
	}
	if conditions.all.err != nil {
		return false, conditions.all.err
	}
	if err := db.enter(); err != nil {
		return false, err
	}
	defer db.leave()
	handles, leave, err := db.enterBatch(batch)
	if err != nil {
		return false, err
	}
	defer leave()
	asked, leaveAsked, err := db.enterBatch(&conditions.all)
	if err != nil {
		return false, err
	}
	defer leaveAsked()
	var did C.uchar
	err = takeError(C.cambium_go_write_if(db.c, options.c(), chars(batch.ops), C.size_t(len(batch.ops)),
		unsafe.SliceData(handles), chars(conditions.all.ops), C.size_t(len(conditions.all.ops)),
		unsafe.SliceData(asked), &did))
	return did != 0, err
}
