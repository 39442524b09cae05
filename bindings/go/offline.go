package cambium

// #include "shim.h"
import "C"

// DestroyDB removes all files of a database, and its directory if nothing else is in it. It is no error if there is no
// database.
func DestroyDB(path string, options *Options) error {
	return withPath(path, options, func(c *C.cambium_options_t, name *C.char) error {
		var errptr *C.char
		C.cambium_destroy_db(c, name, &errptr)
		return takeError(errptr)
	})
}

// RepairDB replaces a damaged database by what survives of it. The damaged one is renamed to path + ".damaged", which
// must not exist. A healthy database is not changed.
func RepairDB(path string, options *Options) error {
	return withPath(path, options, func(c *C.cambium_options_t, name *C.char) error {
		var errptr *C.char
		C.cambium_repair_db(c, name, &errptr)
		return takeError(errptr)
	})
}

// SalvageReport says what SalvageDB did not write.
type SalvageReport struct {
	Lost     uint64 // things that were lost
	Unproven uint64 // values that may be old or of deleted keys
}

// SalvageDB creates a new database in the directory out from what survives of the database in path, which is not
// changed. Unproven values are written only with includeUnproven. Families that are not given get default options. A
// family with a comparator of the caller's own must be given; if the default family is not, its comparator is that of the
// options.
func SalvageDB(path, out string, options *Options, includeUnproven bool, families ...FamilyDescriptor) (SalvageReport, error) {
	var report SalvageReport
	err := withPath(path, options, func(c *C.cambium_options_t, name *C.char) error {
		outName, err := cString("the path", out)
		if err != nil {
			return err
		}
		defer freeString(outName)
		var lost, unproven C.uint64_t
		var errptr *C.char
		if len(families) == 0 {
			C.cambium_salvage_db(c, name, outName, truth(includeUnproven), &lost, &unproven, &errptr)
		} else {
			var r resources
			defer r.release()
			made, err := buildFamilies(families, &r)
			if err != nil {
				return err
			}
			C.cambium_salvage_db_column_families(c, name, C.int(len(families)), &made.names[0], &made.options[0],
				outName, truth(includeUnproven), &lost, &unproven, &errptr)
		}
		report = SalvageReport{uint64(lost), uint64(unproven)}
		return takeError(errptr)
	})
	return report, err
}

// VerifyDB checks a database that no process has open for writing; with deep, every value too. It returns a line for
// each damage, at most a thousand; after these, one more says how many there would be. An error means that something
// could not be checked, and the list has everything else. A family with a comparator of the caller's own must be given;
// if the default family is not, its comparator is that of the options.
func VerifyDB(path string, options *Options, deep bool, families ...FamilyDescriptor) ([]string, error) {
	var problems []string
	err := withPath(path, options, func(c *C.cambium_options_t, name *C.char) error {
		var list **C.char
		var count C.size_t
		var errptr *C.char
		if len(families) == 0 {
			C.cambium_verify_db(c, name, truth(deep), &list, &count, &errptr)
		} else {
			var r resources
			defer r.release()
			made, err := buildFamilies(families, &r)
			if err != nil {
				return err
			}
			C.cambium_verify_db_column_families(c, name, C.int(len(families)), &made.names[0], &made.options[0],
				truth(deep), &list, &count, &errptr)
		}
		problems = takeStrings(list, count)
		return takeError(errptr)
	})
	return problems, err
}
