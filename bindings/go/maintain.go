package cambium

// #include "shim.h"
import "C"

import (
	"bytes"
	"context"
)

// FlushOptions are the options of a flush; nil and the zero value are the defaults.
type FlushOptions struct {
	NoWait bool // freeze the memtable and schedule its flush, but do not wait for it
}

// Flush moves the content of the family's memtables into its index. It is not needed for durability. If the context ends
// first, Flush returns the cause, and the flush goes on in the background.
func (f *ColumnFamily) Flush(ctx context.Context, options *FlushOptions) error {
	noWait := options != nil && options.NoWait
	return f.wait(ctx, func() error {
		c := C.cambium_flushoptions_create()
		defer C.cambium_flushoptions_destroy(c)
		C.cambium_flushoptions_set_wait(c, truth(!noWait))
		var errptr *C.char
		C.cambium_flush_cf(f.db.c, c, f.c, &errptr)
		return takeError(errptr)
	})
}

// Flush moves the content of the default family's memtables into its index; see ColumnFamily.Flush.
func (db *DB) Flush(ctx context.Context, options *FlushOptions) error {
	return db.def.Flush(ctx, options)
}

// wait is the function wait for calls that use the family.
func (f *ColumnFamily) wait(ctx context.Context, call func() error) error {
	return wait(ctx, f.enter, f.leave, call)
}

// SyncWAL makes everything durable that was written so far, in all families.
func (db *DB) SyncWAL(ctx context.Context) error {
	return wait(ctx, db.enter, db.leave, func() error {
		var errptr *C.char
		C.cambium_flush_wal(db.c, 1, &errptr)
		return takeError(errptr)
	})
}

// BlobGCPolicy says what log GC does in CompactRange.
type BlobGCPolicy int

// The policies.
const (
	BlobGCUseDefault BlobGCPolicy = iota // collect what is worth it, if the range is all keys and log GC is enabled
	BlobGCForce                          // collect all segments that are old enough
	BlobGCDisable                        // start no log GC
)

// CompactOptions are the options of CompactRange; nil and the zero value are the defaults.
type CompactOptions struct {
	BlobGC BlobGCPolicy
	// BlobGCAgeCutoff says which segments are old enough, from 0 to 1; nil: the family's option decides.
	BlobGCAgeCutoff *float64
	// ClusterValues rewrites the values of the range in the order of their keys.
	ClusterValues bool
}

func (o *CompactOptions) build() *C.cambium_compactoptions_t {
	c := C.cambium_compactoptions_create()
	if o == nil {
		return c
	}
	policy := C.int(C.cambium_blob_gc_policy_use_default)
	switch o.BlobGC {
	case BlobGCForce:
		policy = C.cambium_blob_gc_policy_force
	case BlobGCDisable:
		policy = C.cambium_blob_gc_policy_disable
	}
	C.cambium_compactoptions_set_blob_garbage_collection_policy(c, policy)
	if o.BlobGCAgeCutoff != nil {
		C.cambium_compactoptions_set_blob_garbage_collection_age_cutoff(c, C.double(*o.BlobGCAgeCutoff))
	}
	C.cambium_compactoptions_set_cluster_values(c, truth(o.ClusterValues))
	return c
}

// Range is the keys from Start on that are before Limit; for CompactRange, Limit is included. nil: no bound.
type Range struct{ Start, Limit []byte }

// CompactRange flushes the family and compacts the keys from Start to Limit, both included. If the context ends first,
// CompactRange returns the cause, and the compaction goes on in the background.
func (f *ColumnFamily) CompactRange(ctx context.Context, keys Range, options *CompactOptions) error {
	start, limit := bytes.Clone(keys.Start), bytes.Clone(keys.Limit)
	var copied *CompactOptions
	if options != nil {
		whole := *options
		copied = &whole
	}
	return f.wait(ctx, func() error {
		c := copied.build()
		defer C.cambium_compactoptions_destroy(c)
		var errptr *C.char
		C.cambium_compact_range_cf_opt(f.db.c, f.c, c, bound(start), C.size_t(len(start)), bound(limit),
			C.size_t(len(limit)), &errptr)
		return takeError(errptr)
	})
}

// CompactRange compacts keys of the default family; see ColumnFamily.CompactRange.
func (db *DB) CompactRange(ctx context.Context, keys Range, options *CompactOptions) error {
	return db.def.CompactRange(ctx, keys, options)
}

// WaitForCompact waits until no background work is left. If the context ends first, it returns the cause.
func (db *DB) WaitForCompact(ctx context.Context) error {
	return wait(ctx, db.enter, db.leave, func() error {
		var errptr *C.char
		C.cambium_wait_for_compact(db.c, &errptr)
		return takeError(errptr)
	})
}
