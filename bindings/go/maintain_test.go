package cambium

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"
)

func TestFlushAndCompact(t *testing.T) {
	ctx := context.Background()
	db := openNew(t, small())
	fill(t, db, 500, 100)
	must(t, db.Flush(ctx, &FlushOptions{NoWait: true}))
	must(t, db.Flush(ctx, nil))
	must(t, db.SyncWAL(ctx))
	cutoff := 1.0
	for _, options := range []*CompactOptions{nil, {}, {BlobGC: BlobGCForce, BlobGCAgeCutoff: &cutoff},
		{BlobGC: BlobGCDisable}, {ClusterValues: true}} {
		err := db.CompactRange(ctx, Range{}, options)
		if err != nil && !(options != nil && options.ClusterValues && errors.Is(err, ErrIncomplete)) {
			t.Fatal(err)
		}
	}
	for _, keys := range []Range{{Start: []byte("key000100")}, {Limit: []byte("key000100")}, {[]byte{}, []byte{}},
		{[]byte("key000100"), []byte("key000200")}} {
		must(t, db.CompactRange(ctx, keys, nil))
	}
	must(t, db.WaitForCompact(ctx))
	if n := scanAll(t, db); n != 500 {
		t.Fatalf("%d entries", n)
	}
}

// If the context ends, the call returns and its work goes on.
func TestContexts(t *testing.T) {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	release := make(chan struct{})
	started := make(chan struct{}, 100)
	filter := FilterFunc(func(int, []byte, []byte) Decision {
		started <- struct{}{}
		<-release
		return Keep
	})
	db := openNew(t, small().SetCompactionFilter(filter))
	put(t, db, "a", "1")
	for name, err := range map[string]error{
		"Flush":          db.Flush(ended, nil),
		"SyncWAL":        db.SyncWAL(ended),
		"CompactRange":   db.CompactRange(ended, Range{}, nil),
		"WaitForCompact": db.WaitForCompact(ended),
		"Checkpoint":     db.Checkpoint(ended, newPath(t), 0),
	} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
	cause := errors.New("cause")
	ctx, cancelCause := context.WithCancelCause(context.Background())
	go func() {
		<-started
		cancelCause(cause)
	}()
	keys := Range{[]byte("a"), []byte("b")}
	inTime(t, func() { wantErr(t, db.CompactRange(ctx, keys, &CompactOptions{}), cause) })
	copy(keys.Start, "x") // the call that goes on has a copy
	wantGet(t, db, "a", "1", nil)
	closed := make(chan error)
	go func() { closed <- db.Close() }()
	select {
	case <-closed:
		t.Fatal("Close does not wait for the compaction")
	case <-time.After(20 * time.Millisecond):
	}
	_, err := db.Get([]byte("a"), nil)
	wantErr(t, err, ErrClosed)
	close(release)
	inTime(t, func() { must(t, <-closed) })
}

func TestProperties(t *testing.T) {
	db := openNew(t, small())
	fill(t, db, 10, 100)
	family, err := db.CreateFamily("x", nil)
	must(t, err)
	put(t, family, "a", "1")
	count, err := db.IntProperty("rocksdb.num-entries-active-mem-table")
	must(t, err)
	if count != 10 {
		t.Fatalf("%d entries", count)
	}
	count, err = family.IntProperty("cambium.num-entries-active-mem-table")
	must(t, err)
	if count != 1 {
		t.Fatalf("%d entries", count)
	}
	text, err := db.Property("cambium.space")
	must(t, err)
	if !strings.Contains(text, "on_disk") {
		t.Fatalf("the property is %q", text)
	}
	_, err = family.Property("cambium.stats")
	must(t, err)
	_, err = db.Property("cambium.none")
	wantErr(t, err, ErrNotFound)
	_, err = db.IntProperty("cambium.none")
	wantErr(t, err, ErrNotFound)
	_, err = db.IntProperty("cambium.stats")
	wantErr(t, err, ErrNotFound)
	_, err = db.Property("a\x00")
	wantErr(t, err, ErrInvalidArgument)
	_, err = db.IntProperty("a\x00")
	wantErr(t, err, ErrInvalidArgument)
}

func TestApproximateSizes(t *testing.T) {
	db := openNew(t, small())
	fill(t, db, 1_000, 1_000)
	ranges := []Range{{[]byte("key000000"), []byte("key000500")}, {[]byte("key000500"), []byte("key001000")}, {nil, []byte{0}}}
	sizes, err := db.ApproximateSizes(ranges, SizeOfMemtables|SizeOfFiles)
	must(t, err)
	if sizes[0] < 100_000 || sizes[1] < 100_000 {
		t.Fatalf("the sizes are %v", sizes)
	}
	must(t, db.Flush(context.Background(), nil))
	sizes, err = db.ApproximateSizes(ranges, SizeOfFiles)
	must(t, err)
	if sizes[0] < 400_000 || sizes[0] > 600_000 || sizes[1] < 400_000 || sizes[2] > 10_000 {
		t.Fatalf("the sizes are %v", sizes)
	}
	_, err = db.ApproximateSizes(ranges, 0)
	wantErr(t, err, ErrInvalidArgument)
}

func TestTrace(t *testing.T) {
	db := openNew(t, small())
	path := newPath(t)
	wantErr(t, db.EndTrace(), ErrNotFound)
	must(t, db.StartTrace(path, &TraceOptions{MaxFileSize: 1 << 20, SamplingFrequency: 1, Filter: TraceNoSeek | TraceNoMultiGet,
		PreserveWriteOrder: true, IncludeValues: true}))
	wantErr(t, db.StartTrace(newPath(t), nil), ErrBusy)
	put(t, db, "key in the trace", "value in the trace")
	wantGet(t, db, "key in the trace", "value in the trace", nil)
	must(t, db.EndTrace())
	trace, err := os.ReadFile(path)
	must(t, err)
	if !strings.Contains(string(trace), "key in the trace") || !strings.Contains(string(trace), "value in the trace") {
		t.Fatalf("the trace has %d bytes", len(trace))
	}
	if db.StartTrace(path, nil) == nil {
		t.Fatal("a trace over a file")
	}
	wantErr(t, db.StartTrace("a\x00", nil), ErrInvalidArgument)
	wantErr(t, db.StartTrace(newPath(t), &TraceOptions{MaxFileSize: 1}), ErrInvalidArgument)
}
