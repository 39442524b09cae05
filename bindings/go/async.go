package cambium

// #include "shim.h"
import "C"

import (
	"context"
	"errors"
	"sync"
	"unsafe"
)

// AsyncReader reads keys for many goroutines with one thread of the system: a goroutine that waits for its value holds
// no thread, and the reads that wait are given to the device together. It is for many concurrent reads of values that
// are not in memory. For values in memory, DB.Get is faster.
type AsyncReader struct {
	db       *DB
	c        *C.cambium_go_reader_t // of the loop
	depth    int
	requests chan *asyncRead
	stop     chan struct{} // closed by Close
	stopping sync.Once
	done     chan struct{} // closed when the loop has ended
}

// AsyncReaderOptions are the options of an AsyncReader; nil and the zero value are the defaults.
type AsyncReaderOptions struct {
	Depth     int    // keys in flight at most, 1 to 4096; 0: 64
	MaxBytes  uint64 // of values that are read together; 0: 64 MiB
	NoIOUring bool   // threads of the library read
}

type asyncRead struct {
	family  *ColumnFamily
	key     []byte
	options *ReadOptions
	answer  chan asyncAnswer // has room for the answer
}

type asyncAnswer struct {
	value []byte
	err   error
}

// How long a poll may wait for the device before the loop looks for new requests.
const asyncPollMicros = 200

// NewAsyncReader makes a reader. Close it when it is no longer needed.
func (db *DB) NewAsyncReader(options *AsyncReaderOptions) (*AsyncReader, error) {
	if err := db.enter(); err != nil {
		return nil, err
	}
	defer db.leave()
	if options == nil {
		options = &AsyncReaderOptions{}
	}
	depth, maxBytes := options.Depth, options.MaxBytes
	if depth == 0 {
		depth = 64
	}
	if maxBytes == 0 {
		maxBytes = 64 << 20
	}
	if depth < 0 {
		return nil, invalidArgument("the depth is %d", depth)
	}
	var c *C.cambium_go_reader_t
	err := takeError(C.cambium_go_reader_create(db.c, C.size_t(depth), C.uint64_t(maxBytes), truth(!options.NoIOUring),
		&c))
	if err != nil {
		return nil, err
	}
	if c == nil {
		return nil, outOfMemory()
	}
	r := &AsyncReader{db: db, c: c, depth: depth, requests: make(chan *asyncRead), stop: make(chan struct{}),
		done: make(chan struct{})}
	db.mu.Lock()
	db.readers[r] = struct{}{}
	db.mu.Unlock()
	live.add("asynchronous reader")
	go r.loop()
	return r, nil
}

// Get returns the value of a key of the default family, or ErrNotFound. If the context ends first, Get returns the
// cause.
func (r *AsyncReader) Get(ctx context.Context, key []byte, options *ReadOptions) ([]byte, error) {
	return r.GetIn(ctx, r.db.def, key, options)
}

// GetIn returns the value of a key of a family, or ErrNotFound. If the context ends first, GetIn returns the cause.
func (r *AsyncReader) GetIn(ctx context.Context, family *ColumnFamily, key []byte, options *ReadOptions) ([]byte, error) {
	if family == nil || family.db != r.db {
		return nil, invalidArgument("the column family is nil or of another database")
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	read := &asyncRead{family, append([]byte(nil), key...), options, make(chan asyncAnswer, 1)}
	select {
	case r.requests <- read:
	case <-r.done:
		return nil, ErrClosed
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	select {
	case answer := <-read.answer:
		return answer.value, answer.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Close ends the reads in flight with ErrClosed, unless they have ended already, and releases the reader. A second call
// does nothing.
func (r *AsyncReader) Close() error {
	r.stopping.Do(func() { close(r.stop) })
	<-r.done
	return nil
}

// asyncLoop is the state of the loop, which alone uses the reader of C.
type asyncLoop struct {
	*AsyncReader
	inFlight   map[uint64]*asyncRead
	next       uint64
	answers    []C.cambium_go_answer_t
	hasStopped bool
}

func (r *AsyncReader) loop() {
	l := &asyncLoop{AsyncReader: r, inFlight: make(map[uint64]*asyncRead),
		answers: make([]C.cambium_go_answer_t, 64)}
	for l.accept() {
		l.poll()
	}
	l.finish()
	close(r.done)
}

// accept begins the reads that are requested: it waits for one if none is in flight. It returns false at the end.
func (l *asyncLoop) accept() bool {
	if len(l.inFlight) == 0 {
		select {
		case read := <-l.requests:
			l.begin(read)
		case <-l.stop:
			return false
		}
	}
	for len(l.inFlight) < l.depth {
		select {
		case read := <-l.requests:
			l.begin(read)
		case <-l.stop:
			return false
		default:
			return true
		}
	}
	return true
}

// begin begins a read. The family and the snapshot are used until it ends.
func (l *asyncLoop) begin(read *asyncRead) {
	if err := read.family.enter(); err != nil {
		read.answer <- asyncAnswer{nil, err}
		return
	}
	options, err := read.options.beginRead(l.db)
	if err != nil {
		read.family.leave()
		read.answer <- asyncAnswer{nil, err}
		return
	}
	l.next++
	var errptr *C.char
	begun := C.cambium_go_reader_get(l.c, options, read.family.c, chars(read.key), C.size_t(len(read.key)),
		C.uint64_t(l.next), &errptr)
	if begun == C.cambium_go_read_begun {
		l.inFlight[l.next] = read
		return
	}
	err = takeError(errptr)
	if err == nil {
		err = outOfMemory() // there is room: the loop counts what is in flight
	}
	read.options.endRead()
	read.family.leave()
	read.answer <- asyncAnswer{nil, err}
}

// poll answers reads that have ended, and waits for one for a moment if there is none.
func (l *asyncLoop) poll() {
	if len(l.inFlight) > 0 {
		l.give(C.cambium_go_reader_poll(l.c, 1, asyncPollMicros, &l.answers[0], C.size_t(len(l.answers))))
	}
}

func (l *asyncLoop) give(count C.size_t) {
	for _, each := range l.answers[:count] {
		read := l.inFlight[uint64(each.id)]
		delete(l.inFlight, uint64(each.id))
		var answer asyncAnswer
		switch {
		case each.failed != 0:
			if answer.err = takeErrorAt(each.error); answer.err == nil {
				answer.err = outOfMemory()
			}
			if l.hasStopped && errors.Is(answer.err, ErrAborted) {
				answer.err = ErrClosed
			}
		case each.value == 0:
			answer.err = ErrNotFound
		default:
			text := C.cambium_go_text(each.value)
			answer.value = append([]byte{}, view(text, C.size_t(each.length))...)
			C.cambium_free(unsafe.Pointer(text))
		}
		read.answer <- answer
		read.options.endRead()
		read.family.leave()
	}
}

// finish ends all reads and releases the reader. Until it has, the database is not closed.
func (l *asyncLoop) finish() {
	C.cambium_go_reader_stop(l.c)
	l.hasStopped = true
	for len(l.inFlight) > 0 {
		l.give(C.cambium_go_reader_poll(l.c, 0, 0, &l.answers[0], C.size_t(len(l.answers))))
	}
	C.cambium_go_reader_free(l.c)
	l.db.mu.Lock()
	delete(l.db.readers, l.AsyncReader)
	l.db.mu.Unlock()
	live.remove("asynchronous reader")
}
