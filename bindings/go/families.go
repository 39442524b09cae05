package cambium

// #include "shim.h"
import "C"

// DefaultFamilyName is the name of the column family that every database has.
const DefaultFamilyName = "default"

// ColumnFamily is a map of its own in a database. Its functions are those of DB.
type ColumnFamily struct {
	db      *DB
	c       *C.cambium_column_family_handle_t
	name    string
	order   *order // nil: one of the library
	isOwned bool   // false: the default family of the database, which lives as long as the database
	users   guard  // of calls that use c, if isOwned
}

// addFamily makes a ColumnFamily of a handle, which it owns.
func (db *DB) addFamily(c *C.cambium_column_family_handle_t, name string, order *order) *ColumnFamily {
	family := &ColumnFamily{db: db, c: c, name: name, order: order, isOwned: true}
	db.mu.Lock()
	defer db.mu.Unlock()
	db.families[family] = struct{}{}
	live.add("column family")
	return family
}

// enter begins a call that uses the family.
func (f *ColumnFamily) enter() error {
	if !f.db.calls.enter() {
		return ErrClosed
	}
	if f.isOwned && !f.users.enter() {
		f.db.leave()
		return ErrClosed
	}
	return nil
}

func (f *ColumnFamily) leave() {
	if f.isOwned && f.users.leave() {
		f.release()
	}
	f.db.leave()
}

// release gives the handle back. A call of the database is running.
func (f *ColumnFamily) release() {
	f.db.mu.Lock()
	defer f.db.mu.Unlock()
	f.destroy()
}

// destroy gives the handle back, once. The database's mutex is held.
func (f *ColumnFamily) destroy() {
	if _, found := f.db.families[f]; !found {
		return
	}
	delete(f.db.families, f)
	C.cambium_column_family_handle_destroy(f.c)
	live.remove("column family")
}

// Close releases the handle; the family itself is not touched. Calls that are running end as usual. Later ones return
// ErrClosed. The default family that DB.DefaultFamily returns is not affected. A second call does nothing.
func (f *ColumnFamily) Close() error {
	if !f.isOwned || f.db.enter() != nil {
		return nil
	}
	defer f.db.leave()
	if first, idle := f.users.close(); first && idle {
		f.release()
	}
	return nil
}

// Name returns the name of the family.
func (f *ColumnFamily) Name() string { return f.name }

// DB returns the database of the family.
func (f *ColumnFamily) DB() *DB { return f.db }

// ID returns the number of the family, which the database never gives to another one.
func (f *ColumnFamily) ID() (uint32, error) {
	if err := f.enter(); err != nil {
		return 0, err
	}
	defer f.leave()
	return uint32(C.cambium_column_family_handle_get_id(f.c)), nil
}

// DefaultFamily returns the default family. It lives as long as the database.
func (db *DB) DefaultFamily() *ColumnFamily { return db.def }

// CreateFamily creates a column family. It is durable when the call returns.
func (db *DB) CreateFamily(name string, options *Options) (*ColumnFamily, error) {
	if err := db.enter(); err != nil {
		return nil, err
	}
	defer db.leave()
	var r resources
	defer r.release()
	made, err := options.build(&r)
	if err != nil {
		return nil, err
	}
	text, err := cString("the name of a column family", name)
	if err != nil {
		return nil, err
	}
	defer freeString(text)
	var errptr *C.char
	c := C.cambium_create_column_family(db.c, made.c, text, &errptr)
	if err := takeError(errptr); err != nil {
		return nil, err
	}
	// The database uses the comparator and the filter until it is closed.
	db.mu.Lock()
	db.resources.releases = append(db.resources.releases, r.releases...)
	r.releases = nil
	db.mu.Unlock()
	return db.addFamily(c, name, made.order), nil
}

// Drop drops the family from the database, durably. Calls for it then return ErrColumnFamilyDropped. Its space is freed
// when its iterators and snapshots are closed and the ColumnFamily is closed too.
func (f *ColumnFamily) Drop() error {
	if err := f.enter(); err != nil {
		return err
	}
	defer f.leave()
	var errptr *C.char
	C.cambium_drop_column_family(f.db.c, f.c, &errptr)
	return takeError(errptr)
}

// Options returns the options in force that have a text, by name: those of the database and of the family.
func (f *ColumnFamily) Options() (map[string]string, error) {
	if err := f.enter(); err != nil {
		return nil, err
	}
	defer f.leave()
	c := C.cambium_get_options_cf(f.db.c, f.c)
	defer C.cambium_options_destroy(c)
	return textsOf(c)
}

// SetOptions changes dynamic options of the family. All changes take effect, or none.
func (f *ColumnFamily) SetOptions(changes map[string]string) error {
	if err := f.enter(); err != nil {
		return err
	}
	defer f.leave()
	return withTexts(changes, func(count C.int, names, texts **C.char) error {
		var errptr *C.char
		C.cambium_set_options_cf(f.db.c, f.c, count, names, texts, &errptr)
		return takeError(errptr)
	})
}
