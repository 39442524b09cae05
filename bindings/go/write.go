package cambium

// #include "shim.h"
import "C"

// Put sets the value of a key.
func (f *ColumnFamily) Put(key, value []byte, options *WriteOptions) error {
	if err := f.enter(); err != nil {
		return err
	}
	defer f.leave()
	return takeError(C.cambium_go_put(f.db.c, options.c(), f.c, chars(key), C.size_t(len(key)), chars(value),
		C.size_t(len(value))))
}

// Delete deletes a key. It is no error if the key does not exist.
func (f *ColumnFamily) Delete(key []byte, options *WriteOptions) error {
	if err := f.enter(); err != nil {
		return err
	}
	defer f.leave()
	return takeError(C.cambium_go_delete(f.db.c, options.c(), f.c, chars(key), C.size_t(len(key))))
}

// DeleteRange deletes the keys from start on that are before end.
func (f *ColumnFamily) DeleteRange(start, end []byte, options *WriteOptions) error {
	if err := f.enter(); err != nil {
		return err
	}
	defer f.leave()
	return takeError(C.cambium_go_delete_range(f.db.c, options.c(), f.c, chars(start), C.size_t(len(start)), chars(end),
		C.size_t(len(end))))
}

// Put sets the value of a key.
func (db *DB) Put(key, value []byte, options *WriteOptions) error {
	return db.def.Put(key, value, options)
}

// Delete deletes a key. It is no error if the key does not exist.
func (db *DB) Delete(key []byte, options *WriteOptions) error { return db.def.Delete(key, options) }

// DeleteRange deletes the keys from start on that are before end.
func (db *DB) DeleteRange(start, end []byte, options *WriteOptions) error {
	return db.def.DeleteRange(start, end, options)
}
