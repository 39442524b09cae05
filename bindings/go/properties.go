package cambium

// #include "shim.h"
import "C"

// Property returns a property of the family as text. docs/OPTIONS.md lists the names. ErrNotFound: there is none of this
// name, or not now.
func (f *ColumnFamily) Property(name string) (string, error) {
	if err := f.enter(); err != nil {
		return "", err
	}
	defer f.leave()
	c, err := cString("the name of a property", name)
	if err != nil {
		return "", err
	}
	defer freeString(c)
	text := C.cambium_property_value_cf(f.db.c, f.c, c)
	if text == nil {
		return "", ErrNotFound
	}
	return takeText(text), nil
}

// IntProperty returns a property of the family that is a number. ErrNotFound: there is none of this name, or not now, or
// it is no number.
func (f *ColumnFamily) IntProperty(name string) (uint64, error) {
	if err := f.enter(); err != nil {
		return 0, err
	}
	defer f.leave()
	c, err := cString("the name of a property", name)
	if err != nil {
		return 0, err
	}
	defer freeString(c)
	var value C.uint64_t
	if C.cambium_property_int_cf(f.db.c, f.c, c, &value) != 0 {
		return 0, ErrNotFound
	}
	return uint64(value), nil
}

// Property returns a property of the database or of the default family as text; see ColumnFamily.Property.
func (db *DB) Property(name string) (string, error) { return db.def.Property(name) }

// IntProperty returns a property of the database or of the default family that is a number; see
// ColumnFamily.IntProperty.
func (db *DB) IntProperty(name string) (uint64, error) { return db.def.IntProperty(name) }

// Identity returns the 32 digits that the database got when it was created. Its checkpoints and restored backups have
// the same ones.
func (db *DB) Identity() (string, error) {
	if err := db.enter(); err != nil {
		return "", err
	}
	defer db.leave()
	if C.cambium_go_has_identity() == 0 {
		return "", newError("Not implemented: the library is older than the function cambium_get_db_identity")
	}
	var length C.size_t
	text := C.cambium_get_db_identity(db.c, &length)
	if text == nil {
		return "", ErrFatal
	}
	return takeText(text), nil
}

// LatestSequence returns the sequence number of the newest write.
func (db *DB) LatestSequence() (uint64, error) {
	if err := db.enter(); err != nil {
		return 0, err
	}
	defer db.leave()
	return uint64(C.cambium_get_latest_sequence_number(db.c)), nil
}

// Sizes says what ApproximateSizes counts: the sum of the constants.
type Sizes uint8

// What ApproximateSizes can count.
const (
	SizeOfMemtables Sizes = C.cambium_size_approximation_include_memtables
	SizeOfFiles     Sizes = C.cambium_size_approximation_include_files
)

// ApproximateSizes returns about how many bytes the keys of each range take. A range needs both bounds.
func (f *ColumnFamily) ApproximateSizes(ranges []Range, include Sizes) ([]uint64, error) {
	if err := f.enter(); err != nil {
		return nil, err
	}
	defer f.leave()
	sizes := make([]uint64, len(ranges))
	for i, each := range ranges {
		// One call for each range: an array of pointers to memory of Go is not allowed in C.
		start, limit := C.CBytes(each.Start), C.CBytes(each.Limit)
		startLength, limitLength := C.size_t(len(each.Start)), C.size_t(len(each.Limit))
		starts, limits := (*C.char)(start), (*C.char)(limit)
		var size C.uint64_t
		var errptr *C.char
		C.cambium_approximate_sizes_cf_with_flags(f.db.c, f.c, 1, &starts, &startLength, &limits, &limitLength,
			C.uchar(include), &size, &errptr)
		C.cambium_free(start)
		C.cambium_free(limit)
		if err := takeError(errptr); err != nil {
			return nil, err
		}
		sizes[i] = uint64(size)
	}
	return sizes, nil
}

// ApproximateSizes returns about how many bytes ranges of the default family take; see ColumnFamily.ApproximateSizes.
func (db *DB) ApproximateSizes(ranges []Range, include Sizes) ([]uint64, error) {
	return db.def.ApproximateSizes(ranges, include)
}
