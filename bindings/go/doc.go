// Package cambium binds Cambium, an embedded key-value store for Linux, through its C interface.
//
//	db, err := cambium.Open("/data/store", cambium.NewOptions().SetCreateIfMissing(true))
//	if err != nil {
//		return err
//	}
//	defer db.Close()
//	err = db.Put([]byte("oak"), []byte("a ring a year"), cambium.Sync)
//	value, err := db.Get([]byte("oak"), nil)
//
// # Threads
//
// Any number of goroutines may use a [DB], its column families, its snapshots, an [AsyncReader], a [BackupEngine], and
// the shared objects [Statistics], [RateLimiter] and [WriteBufferManager] at the same time. An [Iterator] and a
// [WriteBatch] belong to one goroutine at a time.
//
// Callbacks (comparators, compaction filters, event listeners, loggers) are called by threads of the library. They may
// panic, which is reported, but must not call runtime.Goexit, which the Fatal functions of package testing do.
//
// # Lifetimes
//
// [DB.Close] waits for the calls that are running and then releases everything that was made from the database.
// Iterators, snapshots, families and readers that are used after that return [ErrClosed]. Nothing is released by the
// garbage collector: what has a Close method must be closed.
//
// All results are copies in memory of Go, with one exception: the keys and values that callbacks receive (comparators,
// compaction filters) are memory of the library and must not be kept or changed.
//
// # Errors
//
// Errors of the library are of type *[Error]. Test them with errors.Is and the Err variables of this package.
//
// # Forks
//
// A process that forks without exec must not use a database in the child: every call of the library fails there. Programs
// started with os/exec are not affected.
package cambium
