package cambium

// #include "shim.h"
import "C"

import (
	"slices"
	"sync"
	"unsafe"
)

// A value of at most this many bytes is read in one call of C; a longer one takes a second call.
const scratchBytes = 4096

// scratch is memory that a read needs only while it runs.
type scratch struct {
	value C.cambium_go_value_t
	bytes [scratchBytes]byte
}

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// Get returns the value of a key, or ErrNotFound. The value is the caller's; an empty one is not nil.
func (f *ColumnFamily) Get(key []byte, options *ReadOptions) ([]byte, error) {
	if err := f.enter(); err != nil {
		return nil, err
	}
	defer f.leave()
	read, err := options.beginRead(f.db)
	if err != nil {
		return nil, err
	}
	defer options.endRead()
	s := scratches.Get().(*scratch)
	defer scratches.Put(s)
	found := C.cambium_go_get(f.db.c, read, f.c, chars(key), C.size_t(len(key)),
		(*C.char)(unsafe.Pointer(&s.bytes[0])), scratchBytes, &s.value)
	if found == C.cambium_go_found {
		return append([]byte{}, s.bytes[:s.value.length]...), nil
	}
	var value []byte
	for found == C.cambium_go_long { // again only if another goroutine has written a longer value meanwhile
		value = make([]byte, s.value.length)
		found = C.cambium_go_get(f.db.c, read, f.c, chars(key), C.size_t(len(key)), chars(value),
			C.size_t(len(value)), &s.value)
	}
	if found == C.cambium_go_found {
		return value[:s.value.length], nil
	}
	return nil, f.readError(found, s)
}

// AppendGet appends the value of a key to dst and returns the result, without an allocation if dst has room. Without the
// key, or after an error, it returns dst unchanged, and ErrNotFound or the error.
func (f *ColumnFamily) AppendGet(dst, key []byte, options *ReadOptions) ([]byte, error) {
	if err := f.enter(); err != nil {
		return dst, err
	}
	defer f.leave()
	read, err := options.beginRead(f.db)
	if err != nil {
		return dst, err
	}
	defer options.endRead()
	s := scratches.Get().(*scratch)
	defer scratches.Put(s)
	grown := dst
	for {
		room := grown[len(grown):cap(grown)]
		found := C.cambium_go_get(f.db.c, read, f.c, chars(key), C.size_t(len(key)), chars(room), C.size_t(len(room)),
			&s.value)
		switch found {
		case C.cambium_go_found:
			return grown[:len(grown)+int(s.value.length)], nil
		case C.cambium_go_long:
			grown = slices.Grow(grown, int(s.value.length))
		default:
			return dst, f.readError(found, s)
		}
	}
}

// Has reports whether a key exists. It does not copy the value; of a long one it reads only the header, unless it is
// compressed.
func (f *ColumnFamily) Has(key []byte, options *ReadOptions) (bool, error) {
	if err := f.enter(); err != nil {
		return false, err
	}
	defer f.leave()
	read, err := options.beginRead(f.db)
	if err != nil {
		return false, err
	}
	defer options.endRead()
	s := scratches.Get().(*scratch)
	defer scratches.Put(s)
	found := C.cambium_go_get(f.db.c, read, f.c, chars(key), C.size_t(len(key)), nil, 0, &s.value)
	switch found {
	case C.cambium_go_found, C.cambium_go_long:
		return true, nil
	case C.cambium_go_absent:
		return false, nil
	}
	return false, f.readError(found, s)
}

// readError returns why a read has no value.
func (f *ColumnFamily) readError(found C.int, s *scratch) error {
	if found == C.cambium_go_failed {
		return takeErrorAt(s.value.error)
	}
	return ErrNotFound
}

// Get returns the value of a key, or ErrNotFound. The value is the caller's; an empty one is not nil.
func (db *DB) Get(key []byte, options *ReadOptions) ([]byte, error) { return db.def.Get(key, options) }

// AppendGet appends the value of a key to dst and returns the result, without an allocation if dst has room. Without the
// key, or after an error, it returns dst unchanged, and ErrNotFound or the error.
func (db *DB) AppendGet(dst, key []byte, options *ReadOptions) ([]byte, error) {
	return db.def.AppendGet(dst, key, options)
}

// Has reports whether a key exists. It does not copy the value; of a long one it reads only the header, unless it is
// compressed.
func (db *DB) Has(key []byte, options *ReadOptions) (bool, error) { return db.def.Has(key, options) }
