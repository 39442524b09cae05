package cambium

// #include "shim.h"
import "C"

import "unsafe"

// Write applies a batch, as a whole. The batch is not changed, and may be written again. A nil batch is an error.
func (db *DB) Write(batch *WriteBatch, options *WriteOptions) error {
	if batch == nil {
		return invalidArgument("the batch is nil")
	}
	if batch.err != nil {
		return batch.err
	}
	if err := db.enter(); err != nil {
		return err
	}
	defer db.leave()
	handles, leave, err := db.enterBatch(batch)
	if err != nil {
		return err
	}
	defer leave()
	return takeError(C.cambium_go_write(db.c, options.c(), chars(batch.ops), C.size_t(len(batch.ops)),
		unsafe.SliceData(handles)))
}

// enterBatch begins a call that uses the families of a batch. Their handles are in the order of their numbers.
func (db *DB) enterBatch(batch *WriteBatch) (handles []C.uintptr_t, leave func(), err error) {
	if len(batch.families) <= 1 {
		return []C.uintptr_t{0}, func() {}, nil
	}
	its, leave, err := db.enterAll(batch.families[1:])
	if err != nil {
		return nil, nil, err
	}
	return append([]C.uintptr_t{0}, its...), leave, nil
}

// EncodeBatch returns the bytes of a batch in the format of the library, in which column families are numbers of this
// database. DecodeBatch reads them.
func (db *DB) EncodeBatch(batch *WriteBatch) ([]byte, error) {
	if batch == nil {
		return nil, invalidArgument("the batch is nil")
	}
	if batch.err != nil {
		return nil, batch.err
	}
	if err := db.enter(); err != nil {
		return nil, err
	}
	defer db.leave()
	handles, leave, err := db.enterBatch(batch)
	if err != nil {
		return nil, err
	}
	defer leave()
	var data *C.char
	var length C.size_t
	C.cambium_go_batch_data(chars(batch.ops), C.size_t(len(batch.ops)), unsafe.SliceData(handles), &data, &length)
	if data == nil {
		return nil, outOfMemory()
	}
	defer C.cambium_free(unsafe.Pointer(data))
	return append([]byte{}, view(data, length)...), nil
}

// DecodeBatch reads the bytes of EncodeBatch. Families with the numbers in the bytes must be open.
func (db *DB) DecodeBatch(data []byte) (*WriteBatch, error) {
	if err := db.enter(); err != nil {
		return nil, err
	}
	defer db.leave()
	var isBatch C.int
	var ops *C.char
	var length C.size_t
	err := takeError(C.cambium_go_batch_ops(chars(data), C.size_t(len(data)), &isBatch, &ops, &length))
	switch {
	case err != nil:
		return nil, err
	case isBatch == 0:
		return nil, newError("Corruption: the bytes are not a batch")
	case ops == nil:
		return nil, outOfMemory()
	}
	defer C.cambium_free(unsafe.Pointer(ops))
	byNumber := db.familiesByNumber()
	batch := NewWriteBatch()
	for rest := view(ops, length); len(rest) > 0; {
		var op encodedOp
		op, rest = decodeOp(rest)
		family, found := byNumber[op.family]
		if !found {
			return nil, invalidArgument("the batch has the column family %d, which is not open", op.family)
		}
		batch.add(op.code, family, op.key, op.value)
	}
	return batch, nil
}

// familiesByNumber returns the open families; the default one as nil. A call of the database is running.
func (db *DB) familiesByNumber() map[uint32]*ColumnFamily {
	db.mu.Lock()
	defer db.mu.Unlock()
	byNumber := map[uint32]*ColumnFamily{0: nil}
	for each := range db.families {
		if number := uint32(C.cambium_column_family_handle_get_id(each.c)); number != 0 && !each.users.isClosed() {
			byNumber[number] = each
		}
	}
	return byNumber
}
