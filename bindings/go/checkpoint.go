package cambium

// #include "shim.h"
import "C"

import "context"

// Checkpoint makes a copy of the open database in a new directory, mostly of hard links. The copy has everything that
// was written before the call. Memtables are flushed first if the log that recovery would replay has at least
// logSizeForFlush bytes; 0: always. If the context ends first, Checkpoint returns the cause, and the copy is made in the
// background.
func (db *DB) Checkpoint(ctx context.Context, directory string, logSizeForFlush uint64) error {
	return wait(ctx, db.enter, db.leave, func() error {
		name, err := cString("the path", directory)
		if err != nil {
			return err
		}
		defer freeString(name)
		var errptr *C.char
		checkpoint := C.cambium_checkpoint_object_create(db.c, &errptr)
		if err := takeError(errptr); err != nil {
			return err
		}
		defer C.cambium_checkpoint_object_destroy(checkpoint)
		C.cambium_checkpoint_create(checkpoint, name, C.uint64_t(logSizeForFlush), &errptr)
		return takeError(errptr)
	})
}

// CheckpointOffline makes a copy, mostly of hard links, in a new directory, of a database that no process has open for
// writing.
func CheckpointOffline(path, directory string, options *Options) error {
	return withPath(path, options, func(c *C.cambium_options_t, name *C.char) error {
		out, err := cString("the path", directory)
		if err != nil {
			return err
		}
		defer freeString(out)
		var errptr *C.char
		C.cambium_checkpoint_offline(c, name, out, &errptr)
		return takeError(errptr)
	})
}
