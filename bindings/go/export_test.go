package cambium

import "unsafe"

// Address returns the cambium_t.
func (db *DB) Address() unsafe.Pointer { return unsafe.Pointer(db.c) }
