package cambium

// #include "shim.h"
import "C"

import "context"

// BackupEngine keeps backups of databases in a directory of its own. Its calls run one at a time; a call waits for the
// one before it until its context ends.
type BackupEngine struct {
	path     string
	options  *Options
	readOnly bool
	turn     chan struct{} // has room while no call runs
	// What follows belongs to the call whose turn it is.
	c        *C.cambium_backup_engine_t // nil: stopped or closed
	isClosed bool
}

// OpenBackupEngine opens a directory of backups, and creates it if it does not exist. Only one engine at a time may have
// it open for writing. From the options only lock_wait_micros is used.
func OpenBackupEngine(path string, options *Options) (*BackupEngine, error) {
	return openBackupEngine(path, options, false)
}

// OpenBackupEngineReadOnly opens a directory of backups for listing, verifying and restoring. It writes nothing there.
func OpenBackupEngineReadOnly(path string, options *Options) (*BackupEngine, error) {
	return openBackupEngine(path, options, true)
}

func openBackupEngine(path string, options *Options, readOnly bool) (*BackupEngine, error) {
	if err := checkABI(); err != nil {
		return nil, err
	}
	e := &BackupEngine{path: path, options: options.Clone(), readOnly: readOnly, turn: make(chan struct{}, 1)}
	if err := e.open(); err != nil {
		return nil, err
	}
	live.add("backup engine")
	return e, nil
}

func (e *BackupEngine) open() error {
	return withPath(e.path, e.options, func(c *C.cambium_options_t, name *C.char) error {
		var errptr *C.char
		if e.readOnly {
			e.c = C.cambium_backup_engine_open_for_read_only(c, name, &errptr)
		} else {
			e.c = C.cambium_backup_engine_open(c, name, &errptr)
		}
		return takeError(errptr)
	})
}

// begin waits for the turn of a call. After an error the call has no turn.
func (e *BackupEngine) begin(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	select {
	case e.turn <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	var err error
	switch {
	case e.isClosed:
		err = ErrClosed
	case e.c == nil: // a backup was stopped, which cannot be undone
		err = e.open()
	}
	if err != nil {
		e.end()
	}
	return err
}

func (e *BackupEngine) end() { <-e.turn }

// Close closes the engine, after the call that is running. A second call does nothing.
func (e *BackupEngine) Close() error {
	e.turn <- struct{}{}
	defer e.end()
	if !e.isClosed {
		C.cambium_backup_engine_close(e.c)
		e.c, e.isClosed = nil, true
		live.remove("backup engine")
	}
	return nil
}

// BackupOptions are the options of a new backup; nil and the zero value are the defaults.
type BackupOptions struct {
	Flush    bool // flush the memtables first; otherwise the log is stored
	NoVerify bool // do not compare the contents of the files with the checksums in them
}

// Create backs up an open database, which stays in use. If the context ends first, the backup is stopped, none is made,
// and Create returns the cause.
func (e *BackupEngine) Create(ctx context.Context, db *DB, options *BackupOptions) error {
	if err := db.enter(); err != nil {
		return err
	}
	defer db.leave()
	return e.create(ctx, options, func(c *C.cambium_backup_engine_t, errptr **C.char) {
		C.cambium_backup_engine_create_new_backup_flush(c, db.c, truth(options != nil && options.Flush), errptr)
	})
}

// CreateOffline backs up the files of a database that no process has open for writing. The option Flush has no effect.
// If the context ends first, the backup is stopped, none is made, and CreateOffline returns the cause.
func (e *BackupEngine) CreateOffline(ctx context.Context, path string, options *BackupOptions) error {
	name, err := cString("the path", path)
	if err != nil {
		return err
	}
	defer freeString(name)
	return e.create(ctx, options, func(c *C.cambium_backup_engine_t, errptr **C.char) {
		C.cambium_backup_engine_create_new_backup_offline(c, name, errptr)
	})
}

func (e *BackupEngine) create(ctx context.Context, options *BackupOptions,
	call func(c *C.cambium_backup_engine_t, errptr **C.char)) error {
	if err := e.begin(ctx); err != nil {
		return err
	}
	defer e.end()
	C.cambium_backup_engine_set_verify_checksums(e.c, truth(options == nil || !options.NoVerify))
	ended, exited := make(chan struct{}), make(chan struct{})
	isStopped := false
	go func() {
		defer close(exited)
		select {
		case <-ctx.Done():
			C.cambium_backup_engine_stop_backup(e.c)
			isStopped = true
		case <-ended:
		}
	}()
	var errptr *C.char
	call(e.c, &errptr)
	close(ended)
	<-exited
	err := takeError(errptr)
	if isStopped {
		C.cambium_backup_engine_close(e.c)
		e.c = nil
		if err != nil {
			return context.Cause(ctx)
		}
	}
	return err
}
