package cambium

// #include "shim.h"
import "C"

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"
)

// Version is the version of the library that the program uses.
func Version() string {
	return fmt.Sprintf("%d.%d.%d", C.cambium_major_version(), C.cambium_minor_version(), C.cambium_patch_version())
}

// checkABI compares the header with which the package was built and the library that the program has loaded.
func checkABI() error {
	if has := C.cambium_abi_version(); has != C.CAMBIUM_ABI_VERSION {
		return newError(fmt.Sprintf("Not implemented: the library has version %d of its interface, but the program was "+
			"built for version %d", has, C.CAMBIUM_ABI_VERSION))
	}
	return nil
}

// Open opens a database for reading and writing. All of its column families must be named, so a database that has others
// than the default one needs OpenFamilies.
func Open(path string, options *Options) (*DB, error) {
	db, _, err := open(path, options, nil, openMode{})
	return db, err
}

// OpenReadOnly opens a database for reading. Any number of processes may do so while none has it open for writing.
// Nothing is written: the log is replayed in memory.
func OpenReadOnly(path string, options *Options) (*DB, error) {
	db, _, err := open(path, options, nil, openMode{readOnly: true})
	return db, err
}

// OpenFamilies opens a database with column families. Every existing family must be named, DefaultFamilyName included.
// The result has the families in the same order.
func OpenFamilies(path string, options *Options, families []FamilyDescriptor) (*DB, []*ColumnFamily, error) {
	return open(path, options, append([]FamilyDescriptor{}, families...), openMode{})
}

// OpenFamiliesReadOnly opens a database for reading, with column families. Families may be left out.
func OpenFamiliesReadOnly(path string, options *Options, families []FamilyDescriptor) (*DB, []*ColumnFamily, error) {
	return open(path, options, append([]FamilyDescriptor{}, families...), openMode{readOnly: true})
}

// How long OpenContext lets the library wait for the lock before it looks at its context.
const lockStep = 20 * time.Millisecond

// OpenContext opens a database like OpenFamilies, or like Open if no families are given. While the database is locked by
// another handle it waits, until the context ends; lock_wait_micros has no effect. Everything else that Open does is not
// interrupted.
func OpenContext(ctx context.Context, path string, options *Options, families ...FamilyDescriptor) (*DB, []*ColumnFamily, error) {
	options = options.Clone().SetLockWait(lockStep)
	for {
		if ctx.Err() != nil {
			return nil, nil, context.Cause(ctx)
		}
		db, handles, err := open(path, options, families, openMode{})
		if err == nil || !errors.Is(err, ErrLocked) {
			return db, handles, err
		}
	}
}

// openMode says how a database is opened.
type openMode struct {
	readOnly     bool
	transactions *TransactionDBOptions // nil: transactions do not lock keys
}

// open opens a database. If families is nil, it opens the default one alone, with its options in `options`.
func open(path string, options *Options, families []FamilyDescriptor, mode openMode) (*DB, []*ColumnFamily, error) {
	if err := checkABI(); err != nil {
		return nil, nil, err
	}
	var r resources
	defer r.release() // what newDB has not taken over
	name, err := cString("the path", path)
	if err != nil {
		return nil, nil, err
	}
	defer freeString(name)
	whole, err := options.build(&r)
	if err != nil {
		return nil, nil, err
	}
	var transactions *C.cambium_transactiondb_options_t
	if mode.transactions != nil {
		transactions = mode.transactions.c()
		defer C.cambium_transactiondb_options_destroy(transactions)
	}
	var errptr *C.char
	var c *C.cambium_t
	var txnDB *C.cambium_transactiondb_t
	if families == nil {
		switch {
		case mode.readOnly:
			c = C.cambium_open_for_read_only(whole.c, name, &errptr)
		case transactions != nil:
			txnDB = C.cambium_transactiondb_open(whole.c, transactions, name, &errptr)
			c = C.cambium_transactiondb_as_db(txnDB)
		default:
			c = C.cambium_open(whole.c, name, &errptr)
		}
		if err := takeError(errptr); err != nil {
			return nil, nil, err
		}
		db := newDB(c, path, mode.readOnly, &r, whole.order)
		db.txnDB = txnDB
		return db, nil, nil
	}
	made, err := buildFamilies(families, &r)
	if err != nil {
		return nil, nil, err
	}
	handles := make([]*C.cambium_column_family_handle_t, len(families)+1)
	switch {
	case mode.readOnly:
		c = C.cambium_open_for_read_only_column_families(whole.c, name, C.int(len(families)), &made.names[0],
			&made.options[0], &handles[0], &errptr)
	case transactions != nil:
		txnDB = C.cambium_transactiondb_open_column_families(whole.c, transactions, name, C.int(len(families)),
			&made.names[0], &made.options[0], &handles[0], &errptr)
		c = C.cambium_transactiondb_as_db(txnDB)
	default:
		c = C.cambium_open_column_families(whole.c, name, C.int(len(families)), &made.names[0], &made.options[0],
			&handles[0], &errptr)
	}
	if err := takeError(errptr); err != nil {
		return nil, nil, err
	}
	db := newDB(c, path, mode.readOnly, &r, nil)
	db.txnDB = txnDB
	opened := make([]*ColumnFamily, len(families))
	for i, each := range families {
		opened[i] = db.addFamily(handles[i], each.Name, made.orders[i])
		if each.Name == DefaultFamilyName {
			db.def.order = made.orders[i]
		}
	}
	return db, opened, nil
}

// ListFamilies returns the names of the column families of a database, open or not, in the order of their creation.
func ListFamilies(path string, options *Options) ([]string, error) {
	var names []string
	err := withPath(path, options, func(c *C.cambium_options_t, name *C.char) error {
		var errptr *C.char
		var count C.size_t
		list := C.cambium_list_column_families(c, name, &count, &errptr)
		if err := takeError(errptr); err != nil {
			return err
		}
		names = takeStrings(list, count)
		return nil
	})
	return names, err
}

// withPath calls `call` with options and a path of C.
func withPath(path string, options *Options, call func(c *C.cambium_options_t, name *C.char) error) error {
	if err := checkABI(); err != nil {
		return err
	}
	var r resources
	defer r.release()
	made, err := options.build(&r)
	if err != nil {
		return err
	}
	name, err := cString("the path", path)
	if err != nil {
		return err
	}
	defer freeString(name)
	return call(made.c, name)
}

// Options returns the options in force that have a text, by name: those of the database, and of the default family.
func (db *DB) Options() (map[string]string, error) { return db.def.Options() }

// SetOptions changes dynamic options of the default family. All changes take effect, or none.
func (db *DB) SetOptions(changes map[string]string) error { return db.def.SetOptions(changes) }

// SetDBOptions changes dynamic options of the database. All changes take effect, or none.
func (db *DB) SetDBOptions(changes map[string]string) error {
	if err := db.enter(); err != nil {
		return err
	}
	defer db.leave()
	return withTexts(changes, func(count C.int, names, texts **C.char) error {
		var errptr *C.char
		C.cambium_set_db_options(db.c, count, names, texts, &errptr)
		return takeError(errptr)
	})
}

// withTexts calls `call` with the names and texts of options in C.
func withTexts(changes map[string]string, call func(count C.int, names, texts **C.char) error) error {
	names := make([]string, 0, len(changes))
	texts := make([]string, 0, len(changes))
	for name, text := range maps.All(changes) {
		names, texts = append(names, name), append(texts, text)
	}
	cNames, err := cStrings("the name of an option", names)
	if err != nil {
		return err
	}
	defer freeStrings(cNames)
	cTexts, err := cStrings("the text of an option", texts)
	if err != nil {
		return err
	}
	defer freeStrings(cTexts)
	return call(C.int(len(changes)), &append(cNames, nil)[0], &append(cTexts, nil)[0])
}
