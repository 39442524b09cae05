package cambium

// #include "shim.h"
import "C"

import (
	"errors"
	"sync"
	"unsafe"
)

// The values of a call for many keys are read in one call of C if they have at most this many bytes together; otherwise
// it takes a second call.
const multiScratchBytes = 64 << 10

var multiScratches = sync.Pool{New: func() any { return new([multiScratchBytes]byte) }}

// MultiGet reads many keys at one state, several values at once if they are not in memory. The result has a value for
// each key: nil if the key does not exist; an empty value is not nil. If keys cannot be read, the error has a *KeyError
// for each of them, and the other values are there. The values share one allocation.
func (f *ColumnFamily) MultiGet(keys [][]byte, options *ReadOptions) ([][]byte, error) {
	if err := f.enter(); err != nil {
		return nil, err
	}
	defer f.leave()
	return f.db.multiGet(f.c, nil, keys, options)
}

// MultiGet reads many keys of the default family at one state; see ColumnFamily.MultiGet.
func (db *DB) MultiGet(keys [][]byte, options *ReadOptions) ([][]byte, error) {
	return db.def.MultiGet(keys, options)
}

// MultiGetFamilies reads many keys at one state, the i-th in the i-th family; see ColumnFamily.MultiGet.
func (db *DB) MultiGetFamilies(families []*ColumnFamily, keys [][]byte, options *ReadOptions) ([][]byte, error) {
	if len(families) != len(keys) {
		return nil, invalidArgument("%d families for %d keys", len(families), len(keys))
	}
	if err := db.enter(); err != nil {
		return nil, err
	}
	defer db.leave()
	handles, leave, err := db.enterAll(families)
	if err != nil {
		return nil, err
	}
	defer leave()
	return db.multiGet(nil, handles, keys, options)
}

// enterAll begins a call that uses families of the database, and returns their handles.
func (db *DB) enterAll(families []*ColumnFamily) (handles []C.uintptr_t, leave func(), err error) {
	entered := 0
	leave = func() {
		for _, each := range families[:entered] {
			each.leave()
		}
	}
	handles = make([]C.uintptr_t, 0, len(families)+1)
	for _, each := range families {
		if each == nil || each.db != db {
			leave()
			return nil, nil, invalidArgument("the column family is nil or of another database")
		}
		if err := each.enter(); err != nil {
			leave()
			return nil, nil, err
		}
		entered++
		handles = append(handles, C.uintptr_t(uintptr(unsafe.Pointer(each.c))))
	}
	return handles, leave, nil
}

func (db *DB) multiGet(family *C.cambium_column_family_handle_t, families []C.uintptr_t, keys [][]byte,
	options *ReadOptions) ([][]byte, error) {
	read, err := options.beginRead(db)
	if err != nil {
		return nil, err
	}
	defer options.endRead()
	if len(keys) == 0 {
		return [][]byte{}, nil
	}
	size := 0
	for _, key := range keys {
		size += len(key)
	}
	joined := make([]byte, 0, size)
	keyLengths := make([]C.uint64_t, len(keys))
	lengths := make([]C.int64_t, len(keys))
	for i, key := range keys {
		joined = append(joined, key...)
		keyLengths[i] = C.uint64_t(len(key))
	}
	result := new(C.cambium_go_multi_t)
	scratch := multiScratches.Get().(*[multiScratchBytes]byte)
	defer multiScratches.Put(scratch)
	C.cambium_go_multi_get(db.c, read, family, unsafe.SliceData(families), C.size_t(len(keys)), chars(joined),
		&keyLengths[0], &lengths[0], chars(scratch[:]), multiScratchBytes, result)
	if result.no_memory != 0 {
		return nil, outOfMemory()
	}
	errorsOfC := make([]C.uintptr_t, len(keys))
	bytes := make([]byte, result.total)
	if result.held != 0 {
		C.cambium_go_multi_take(result.held, chars(bytes), &errorsOfC[0])
	} else {
		copy(bytes, scratch[:])
	}
	values := make([][]byte, len(keys))
	var failed []error
	for i, length := range lengths {
		switch {
		case length >= 0:
			values[i] = bytes[:length:length]
			bytes = bytes[length:]
		case errorsOfC[i] != 0:
			failed = append(failed, &KeyError{i, takeErrorAt(errorsOfC[i])})
		}
	}
	return values, errors.Join(failed...)
}
