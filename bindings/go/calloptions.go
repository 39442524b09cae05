package cambium

// #include "shim.h"
import "C"

import "sync"

// ReadOptions are the options of a read; nil and the zero value are the defaults.
type ReadOptions struct {
	Snapshot    *Snapshot // the state to read; nil: the current one
	NoChecksums bool      // do not compare the checksums of values (verify_checksums off)
	NoFillCache bool      // do not keep index pages that have to be read (fill_cache off)
	NoAsyncIO   bool      // do not read several values at once with io_uring (async_io off)
	DurableOnly bool      // read only what is known to survive a power cut; not with a snapshot
}

func (o *ReadOptions) flags() int {
	flags := 0
	if o.NoChecksums {
		flags |= C.cambium_go_no_checksums
	}
	if o.NoFillCache {
		flags |= C.cambium_go_no_fill_cache
	}
	if o.NoAsyncIO {
		flags |= C.cambium_go_no_async_io
	}
	if o.DurableOnly {
		flags |= C.cambium_go_durable_only
	}
	return flags
}

// readTable has options of C for each combination of flags. They are never changed and never freed.
type readTable struct {
	once    [16]sync.Once
	options [16]*C.cambium_readoptions_t
}

func (t *readTable) get(flags int, snapshot *C.cambium_snapshot_t) *C.cambium_readoptions_t {
	t.once[flags].Do(func() { t.options[flags] = C.cambium_go_read_options(C.int(flags), snapshot) })
	return t.options[flags]
}

func (t *readTable) destroy() {
	for _, each := range t.options {
		C.cambium_readoptions_destroy(each)
	}
}

var currentState readTable

// beginRead returns options of C for one read of the database. Call endRead when the read has ended.
func (o *ReadOptions) beginRead(db *DB) (*C.cambium_readoptions_t, error) {
	if o == nil {
		return currentState.get(0, nil), nil
	}
	if o.Snapshot == nil {
		return currentState.get(o.flags(), nil), nil
	}
	if err := o.Snapshot.enter(db); err != nil {
		return nil, err
	}
	return o.Snapshot.options.get(o.flags(), o.Snapshot.c), nil
}

func (o *ReadOptions) endRead() {
	if o != nil && o.Snapshot != nil {
		o.Snapshot.leave()
	}
}

// WriteOptions are the options of a write; nil and the zero value are the defaults.
type WriteOptions struct {
	// Sync makes the write, and everything visible before it, durable before the call returns.
	Sync bool
	// NoSlowdown makes the write fail with ErrIncomplete where it would wait for background work.
	NoSlowdown bool
}

// Sync are the options of a durable write.
var Sync = &WriteOptions{Sync: true}

// The options of C for each WriteOptions: 1 for sync, 2 for no_slowdown. They are never changed and never freed.
var writeTable = sync.OnceValue(func() (table [4]*C.cambium_writeoptions_t) {
	for i := range table {
		table[i] = C.cambium_writeoptions_create()
		C.cambium_writeoptions_set_sync(table[i], truth(i&1 != 0))
		C.cambium_writeoptions_set_no_slowdown(table[i], truth(i&2 != 0))
	}
	return table
})

func (o *WriteOptions) c() *C.cambium_writeoptions_t {
	i := 0
	if o != nil && o.Sync {
		i |= 1
	}
	if o != nil && o.NoSlowdown {
		i |= 2
	}
	return writeTable()[i]
}
