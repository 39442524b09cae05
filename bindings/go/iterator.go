package cambium

// #include "shim.h"
import "C"

import (
	"sync"
	"sync/atomic"
)

// Values says how an iterator reads values.
type Values int

const (
	// ReadValues: values are read together with their keys.
	ReadValues Values = iota
	// KeysOnly: no value is read. Iterator.Value returns nil, and ValueSize what the index knows.
	KeysOnly
	// OnDemand: a value is read when Iterator.Value is called. For scans that need few of the values; each step costs a
	// call of C.
	OnDemand
)

// IteratorOptions are the options of an iterator; nil and the zero value are the defaults.
type IteratorOptions struct {
	ReadOptions
	LowerBound []byte // no key before it; nil: none
	UpperBound []byte // only keys before it; nil: none
	// Prefix: only keys that begin with it. It narrows the bounds, and needs an order by bytes (BytewiseComparator).
	Prefix []byte
	Values Values
}

// Iterator walks the keys of a column family in order. It shows the state at its creation, or that of a snapshot. A new
// iterator is not positioned. It belongs to one goroutine at a time, and must be closed.
//
//	for it.First(); it.Valid(); it.Next() {
//		use(it.Key(), it.Value())
//	}
//	if err := it.Err(); err != nil { ... }
//
// Entries are copied from the library in chunks, which grow while the iterator goes on in one direction.
type Iterator struct {
	db       *DB
	tx       *Transaction // whose writes it shows; nil: none
	snapshot *Snapshot    // used until destroy
	mode     C.int
	values   Values

	mu     sync.Mutex // of calls of C
	c      C.uintptr_t
	isGone atomic.Bool // c is destroyed

	err       error
	isAt      bool  // at entries[at]
	direction int   // of the chunk: 1 or -1
	at        int   // in entries
	count     int   // of entries in the chunk
	used      int   // bytes of them
	isPending bool  // the iterator of C is at the entry after the chunk, not at its last one
	hasEnded  bool  // there is no entry after the chunk
	endErr    error // why
	chunk     *C.cambium_go_chunk_t
	entries   []C.cambium_go_entry_t
	bytes     []byte
	demanded  []byte // the value that OnDemand has read; nil: none
	target    []byte // a copy of a key for C, which must not lie in memory that C changes
}

const (
	firstChunkBytes = 4 << 10
	lastChunkBytes  = 64 << 10
	lastChunkCount  = 1024
)

// NewIterator makes an iterator over the family.
func (f *ColumnFamily) NewIterator(options *IteratorOptions) (*Iterator, error) {
	iterators, err := f.db.NewIterators([]*ColumnFamily{f}, options)
	if err != nil {
		return nil, err
	}
	return iterators[0], nil
}

// NewIterator makes an iterator over the default family.
func (db *DB) NewIterator(options *IteratorOptions) (*Iterator, error) {
	return db.def.NewIterator(options)
}

// NewIterators makes an iterator over each of the families, all of one state.
func (db *DB) NewIterators(families []*ColumnFamily, options *IteratorOptions) ([]*Iterator, error) {
	if options == nil {
		options = &IteratorOptions{}
	}
	if err := db.enter(); err != nil {
		return nil, err
	}
	defer db.leave()
	handles, leave, err := db.enterAll(families)
	if err != nil {
		return nil, err
	}
	defer leave()
	if len(families) == 0 {
		return nil, nil
	}
	return db.newIteratorsBy(families, options, nil,
		func(flags C.int, snapshot *C.cambium_snapshot_t, lower, upper []byte, made *C.uintptr_t) *C.char {
			return C.cambium_go_iterators(db.c, flags, snapshot, bound(lower), C.size_t(len(lower)), bound(upper),
				C.size_t(len(upper)), &handles[0], C.size_t(len(handles)), made)
		})
}

// makeIterators makes iterators of C with bounds; it sets the first of them at `made`.
type makeIterators func(flags C.int, snapshot *C.cambium_snapshot_t, lower, upper []byte, made *C.uintptr_t) *C.char

// newIteratorOver makes one iterator over the family, in a transaction. A call that uses both is running.
func (f *ColumnFamily) newIteratorOver(options *IteratorOptions, tx *Transaction, create makeIterators) (*Iterator, error) {
	iterators, err := f.db.newIteratorsBy([]*ColumnFamily{f}, options, tx, create)
	if err != nil {
		return nil, err
	}
	return iterators[0], nil
}

// newIteratorsBy makes iterators over the families. A call that uses them is running.
func (db *DB) newIteratorsBy(families []*ColumnFamily, options *IteratorOptions, tx *Transaction, create makeIterators) ([]*Iterator, error) {
	lower, upper, err := options.bounds(families)
	if err != nil {
		return nil, err
	}
	flags := options.flags()
	if options.Values != ReadValues {
		flags |= C.cambium_go_unprepared
	}
	var snapshot *C.cambium_snapshot_t
	if options.Snapshot != nil {
		if err := options.Snapshot.enter(db); err != nil {
			return nil, err
		}
		defer options.Snapshot.leave()
		snapshot = options.Snapshot.c
	}
	made := make([]C.uintptr_t, len(families))
	if err := takeError(create(C.int(flags), snapshot, lower, upper, &made[0])); err != nil {
		return nil, err
	}
	iterators := make([]*Iterator, len(families))
	db.mu.Lock()
	defer db.mu.Unlock()
	for i, c := range made {
		it := &Iterator{db: db, tx: tx, c: c, values: options.Values,
			chunk: new(C.cambium_go_chunk_t)}
		if options.Values != ReadValues {
			it.mode = C.cambium_go_keys
		}
		if options.Snapshot != nil {
			options.Snapshot.users.state.Add(1) // cannot be closed: this call uses it
			it.snapshot = options.Snapshot
		}
		db.iterators[it] = struct{}{}
		live.add("iterator")
		iterators[i] = it
	}
	return iterators, nil
}

// bounds returns the bounds with those of the prefix. A call of the database is running.
func (o *IteratorOptions) bounds(families []*ColumnFamily) (lower, upper []byte, err error) {
	lower, upper = o.LowerBound, o.UpperBound
	if len(o.Prefix) == 0 {
		return lower, upper, nil
	}
	for _, each := range families {
		if is, err := each.isBytewise(); err != nil {
			return nil, nil, err
		} else if !is {
			return nil, nil, invalidArgument("a prefix needs an order by bytes; give bounds instead")
		}
	}
	if lower == nil || string(lower) < string(o.Prefix) {
		lower = o.Prefix
	}
	if end := prefixEnd(o.Prefix); end != nil && (upper == nil || string(end) < string(upper)) {
		upper = end
	}
	return lower, upper, nil
}

// prefixEnd returns the first byte string after all those that begin with the prefix; nil: there is none.
func prefixEnd(prefix []byte) []byte {
	for i := len(prefix) - 1; i >= 0; i-- {
		if prefix[i] != 0xff {
			end := append([]byte(nil), prefix[:i+1]...)
			end[i]++
			return end
		}
	}
	return nil
}

// isBytewise reports whether the order of the family is BytewiseComparator.
func (f *ColumnFamily) isBytewise() (bool, error) {
	if f.order != nil {
		return false, nil
	}
	options, err := f.Options()
	return options["comparator"] == BytewiseComparator.name, err
}

// Close releases the iterator. A second call does nothing.
func (it *Iterator) Close() error {
	it.mu.Lock()
	defer it.mu.Unlock()
	it.lose(ErrClosed)
	if it.db.enter() != nil {
		return nil // closed with the database
	}
	defer it.db.leave()
	if it.tx != nil {
		it.tx.mu.Lock()
		defer it.tx.mu.Unlock()
	}
	it.db.mu.Lock()
	snapshot := it.destroyButSnapshot()
	it.db.mu.Unlock()
	if snapshot != nil {
		snapshot.leave()
	}
	return nil
}

// destroy releases the iterator, once. The database's mutex is held, and all snapshots are destroyed next.
func (it *Iterator) destroy() { it.destroyButSnapshot() }

// destroyButSnapshot returns the snapshot that the iterator has used.
func (it *Iterator) destroyButSnapshot() *Snapshot {
	if _, found := it.db.iterators[it]; !found {
		return nil
	}
	delete(it.db.iterators, it)
	C.cambium_go_iter_destroy(it.c)
	it.c = 0
	it.isGone.Store(true)
	live.remove("iterator")
	return it.snapshot
}

// lose makes the iterator invalid.
func (it *Iterator) lose(err error) {
	it.isAt = false
	it.err = err
}

// First moves to the first key, and reports whether there is one.
func (it *Iterator) First() bool { return it.seek(C.cambium_go_seek_first, 1, nil) }

// Last moves to the last key, and reports whether there is one.
func (it *Iterator) Last() bool { return it.seek(C.cambium_go_seek_last, -1, nil) }

// Seek moves to the first key that is not before the given one, and reports whether there is one.
func (it *Iterator) Seek(key []byte) bool { return it.seek(C.cambium_go_seek_key, 1, key) }

// SeekForPrev moves to the last key that is not after the given one, and reports whether there is one.
func (it *Iterator) SeekForPrev(key []byte) bool { return it.seek(C.cambium_go_seek_for_prev, -1, key) }

// Next moves to the next key, and reports whether there is one. It does nothing if the iterator is not valid.
func (it *Iterator) Next() bool { return it.move(1) }

// Prev moves to the previous key, and reports whether there is one. It does nothing if the iterator is not valid.
func (it *Iterator) Prev() bool { return it.move(-1) }

// Valid reports whether the iterator is at a key. If it is not, Err says whether that is an error.
func (it *Iterator) Valid() bool { return it.isAt }

// Err returns why the iterator is not valid; nil at the end of the keys, before the first seek, and if it is valid. After
// an error the iterator may seek again, unless it is ErrClosed.
func (it *Iterator) Err() error { return it.err }

// Key returns the key; nil if the iterator is not valid. The bytes are valid until the iterator moves.
func (it *Iterator) Key() []byte {
	if !it.isAt {
		return nil
	}
	entry := &it.entries[it.at]
	end := entry.offset + entry.key_length
	return it.bytes[entry.offset:end:end]
}

// Value returns the value; nil if the iterator is not valid, and with KeysOnly. The bytes are valid until the iterator
// moves. With OnDemand it reads the value; if that fails, the result is nil, the iterator is not valid, and Err says why.
func (it *Iterator) Value() []byte {
	switch {
	case !it.isAt || it.values == KeysOnly:
		return nil
	case it.values == OnDemand:
		return it.demand()
	}
	entry := &it.entries[it.at]
	start := uint64(entry.offset) + uint64(entry.key_length)
	end := start + uint64(entry.value_length)
	return it.bytes[start:end:end]
}

// ValueSize returns the bytes of the value: exactly with ReadValues; otherwise as the index knows them, which is within
// 0.8 % for uncompressed values and the compressed size for compressed ones.
func (it *Iterator) ValueSize() uint64 {
	if !it.isAt {
		return 0
	}
	return uint64(it.entries[it.at].value_length)
}

func (it *Iterator) seek(op C.int, direction int, key []byte) bool {
	it.entries = it.entries[:0]
	it.isAt = false
	it.err = nil
	return it.fill(op, direction, key)
}

// move goes one entry on, within the chunk if that is possible.
func (it *Iterator) move(direction int) bool {
	if !it.isAt {
		return false
	}
	if it.tx != nil && it.isGone.Load() { // the entries of the chunk end with the transaction too
		it.lose(ErrClosed)
		return false
	}
	it.demanded = nil
	if direction != it.direction {
		if it.at > 0 {
			it.at--
			return true
		}
		if it.count == 1 && !it.isPending && !it.hasEnded {
			return it.fill(C.cambium_go_step, direction, nil)
		}
		it.target = append(it.target[:0], it.Key()...)
		return it.fill(C.cambium_go_turn, direction, it.target)
	}
	if it.at+1 < it.count {
		it.at++
		return true
	}
	if it.hasEnded {
		it.lose(it.endErr)
		return false
	}
	if it.isPending && it.tx != nil { // the transaction may have changed the entry at which the iterator is
		it.target = append(it.target[:0], it.Key()...)
		return it.fill(C.cambium_go_turn, direction, it.target)
	}
	if it.isPending {
		return it.fill(C.cambium_go_stay, direction, nil)
	}
	return it.fill(C.cambium_go_step, direction, nil)
}

// room makes memory for the next chunk. Chunks begin small, because many scans are short, and grow while the iterator
// goes on in one direction.
func (it *Iterator) room(isContinued bool) {
	count := 1
	if isContinued {
		count = min(2*it.count, lastChunkCount)
	}
	if it.values == OnDemand {
		count = 1
	}
	if count > cap(it.entries) {
		it.entries = make([]C.cambium_go_entry_t, 0, max(count, 4))
	}
	it.entries = it.entries[:count]
	switch {
	case it.bytes == nil:
		it.bytes = make([]byte, firstChunkBytes)
	case isContinued && it.isPending && len(it.bytes) < lastChunkBytes:
		it.bytes = make([]byte, min(4*len(it.bytes), lastChunkBytes))
	case len(it.bytes) > lastChunkBytes && it.used <= lastChunkBytes: // it was for a long value
		it.bytes = make([]byte, lastChunkBytes)
	}
}

// fill gets the next chunk, and moves to its first entry.
func (it *Iterator) fill(op C.int, direction int, key []byte) bool {
	it.mu.Lock()
	defer it.mu.Unlock()
	if it.err == ErrClosed {
		return false
	}
	if err := it.db.enter(); err != nil {
		it.lose(err)
		return false
	}
	defer it.db.leave()
	if it.tx != nil { // its batch must not change meanwhile
		if err := it.tx.lock(); err != nil {
			it.lose(err)
			return false
		}
		defer it.tx.mu.Unlock()
	}
	if it.c == 0 {
		it.lose(ErrClosed)
		return false
	}
	isContinued := op >= C.cambium_go_step && direction == it.direction // not a seek
	it.room(isContinued)
	it.direction = direction
	it.isAt = false
	it.demanded = nil
	for {
		C.cambium_go_iter_fill(it.c, op, C.int(direction), it.mode, chars(key), C.size_t(len(key)), chars(it.bytes),
			C.size_t(len(it.bytes)), &it.entries[0], C.uint32_t(len(it.entries)), it.chunk)
		if it.chunk.count > 0 || it.chunk.pending == 0 {
			break
		}
		it.bytes = make([]byte, it.chunk.pending-1) // no room for the first entry
		op = C.cambium_go_stay
	}
	it.at = 0
	it.count = int(it.chunk.count)
	it.isPending = it.chunk.pending != 0
	it.hasEnded = it.chunk.ended != 0
	it.endErr = takeErrorAt(it.chunk.error)
	if it.count == 0 {
		it.lose(it.endErr)
		return false
	}
	last := &it.entries[it.count-1]
	it.used = int(last.offset) + int(last.key_length)
	if it.values == ReadValues {
		it.used += int(last.value_length)
	}
	it.isAt = true
	return true
}

// demand reads the value of the entry at which the iterator is.
func (it *Iterator) demand() []byte {
	if it.demanded != nil {
		return it.demanded
	}
	it.mu.Lock()
	defer it.mu.Unlock()
	if err := it.db.enter(); err != nil {
		it.lose(err)
		return nil
	}
	defer it.db.leave()
	if it.tx != nil {
		if err := it.tx.lock(); err != nil {
			it.lose(err)
			return nil
		}
		defer it.tx.mu.Unlock()
	}
	if it.c == 0 {
		it.lose(ErrClosed)
		return nil
	}
	value := make([]byte, it.ValueSize())
	length := new(C.uint64_t)
	for {
		C.cambium_go_iter_value(it.c, chars(value), C.size_t(len(value)), it.chunk, length)
		if it.chunk.pending == 0 {
			break
		}
		value = make([]byte, it.chunk.pending-1)
	}
	if it.chunk.count == 0 {
		it.lose(takeErrorAt(it.chunk.error))
		return nil
	}
	it.demanded = value[:*length]
	return it.demanded
}
