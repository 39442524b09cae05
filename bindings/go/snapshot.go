package cambium

// #include "shim.h"
import "C"

// Snapshot is a state of all column families of a database, for ReadOptions.
type Snapshot struct {
	db       *DB
	c        *C.cambium_snapshot_t
	sequence uint64
	options  readTable
	users    guard // of reads and iterators
}

// NewSnapshot makes a snapshot of the current state. Close it when it is no longer needed: a snapshot keeps what it sees
// on disk.
func (db *DB) NewSnapshot() (*Snapshot, error) {
	if err := db.enter(); err != nil {
		return nil, err
	}
	defer db.leave()
	c := C.cambium_create_snapshot(db.c)
	if c == nil {
		return nil, ErrClosed
	}
	s := &Snapshot{db: db, c: c, sequence: uint64(C.cambium_snapshot_get_sequence_number(c))}
	db.mu.Lock()
	defer db.mu.Unlock()
	db.snapshots[s] = struct{}{}
	live.add("snapshot")
	return s, nil
}

// Sequence returns the sequence number of the newest write that the snapshot sees.
func (s *Snapshot) Sequence() uint64 { return s.sequence }

// Close releases the snapshot, as soon as no read and no iterator uses it any more. Later reads with it return
// ErrClosed. A second call does nothing.
func (s *Snapshot) Close() error {
	if s.db.enter() != nil {
		return nil // closed with the database
	}
	defer s.db.leave()
	if first, idle := s.users.close(); first && idle {
		s.release()
	}
	return nil
}

// enter begins a read of the database with the snapshot. A call of the database is running.
func (s *Snapshot) enter(db *DB) error {
	if s.db != db {
		return invalidArgument("the snapshot is of another database")
	}
	if !s.users.enter() {
		return ErrClosed
	}
	return nil
}

// leave ends what enter has begun. A call of the database is running.
func (s *Snapshot) leave() {
	if s.users.leave() {
		s.release()
	}
}

func (s *Snapshot) release() {
	s.db.mu.Lock()
	defer s.db.mu.Unlock()
	s.destroy()
}

// destroy releases the snapshot, once. The database's mutex is held.
func (s *Snapshot) destroy() {
	if _, found := s.db.snapshots[s]; !found {
		return
	}
	delete(s.db.snapshots, s)
	s.options.destroy()
	C.cambium_release_snapshot(s.db.c, s.c)
	live.remove("snapshot")
}
