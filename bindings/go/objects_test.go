package cambium

import (
	"context"
	"io"
	"log"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestStatistics(t *testing.T) {
	statistics := NewStatistics()
	defer closeIt(t, statistics)
	if statistics.Level() != StatisticsExceptDetailedTimers {
		t.Fatalf("the level is %d", statistics.Level())
	}
	must(t, statistics.SetLevel(StatisticsAll))
	if statistics.Level() != StatisticsAll {
		t.Fatalf("the level is %d", statistics.Level())
	}
	db := openNew(t, small().SetStatistics(statistics))
	put(t, db, "a", "1")
	for range 10 {
		wantGet(t, db, "a", "1", nil)
	}
	hits, err := statistics.Ticker("rocksdb.memtable.hit")
	must(t, err)
	if hits != 10 {
		t.Fatalf("%d hits", hits)
	}
	data, err := statistics.Histogram("rocksdb.bytes.per.read")
	must(t, err)
	if data.Count != 10 || data.Sum != 10 || data.Max < 1 || data.Average != 1 {
		t.Fatalf("the histogram is %+v", data)
	}
	if !strings.Contains(statistics.String(), "rocksdb.memtable.hit") {
		t.Fatal(statistics)
	}
	_, err = statistics.Ticker("none")
	wantErr(t, err, ErrNotFound)
	_, err = statistics.Histogram("none")
	wantErr(t, err, ErrNotFound)
	_, err = statistics.Ticker("a\x00")
	wantErr(t, err, ErrInvalidArgument)
	_, err = statistics.Histogram("a\x00")
	wantErr(t, err, ErrInvalidArgument)
	must(t, statistics.Close())
	must(t, statistics.Close())
	_, err = statistics.Ticker("rocksdb.memtable.hit")
	wantErr(t, err, ErrClosed)
	_, err = statistics.Histogram("rocksdb.db.get.micros")
	wantErr(t, err, ErrClosed)
	wantErr(t, statistics.SetLevel(StatisticsAll), ErrClosed)
	if statistics.String() != "" || statistics.Level() != StatisticsDisableAll {
		t.Fatal("closed statistics say something")
	}
	_, err = Open(newPath(t), small().SetStatistics(statistics))
	wantErr(t, err, ErrClosed)
	wantGet(t, db, "a", "1", nil) // the database keeps what it needs
}

func TestRateLimiter(t *testing.T) {
	limiter := NewRateLimiter(1<<30, 0, 0)
	defer closeIt(t, limiter)
	db := openNew(t, small().SetRateLimiter(limiter))
	fill(t, db, 100, 1_000)
	must(t, db.Flush(context.Background(), nil))
	must(t, limiter.SetBytesPerSecond(1<<29))
	if limiter.BytesPerSecond() != 1<<29 {
		t.Fatalf("the rate is %d", limiter.BytesPerSecond())
	}
	wantErr(t, limiter.SetBytesPerSecond(1), ErrInvalidArgument)
	must(t, limiter.Close())
	must(t, limiter.Close())
	wantErr(t, limiter.SetBytesPerSecond(1<<29), ErrClosed)
	if limiter.BytesPerSecond() != 0 {
		t.Fatal("a closed limiter has a rate")
	}
	must(t, db.Flush(context.Background(), nil))
	_, err := Open(newPath(t), small().SetRateLimiter(limiter))
	wantErr(t, err, ErrClosed)
	wrong := NewRateLimiter(1, time.Second, 5)
	defer closeIt(t, wrong)
	_, err = Open(newPath(t), small().SetRateLimiter(wrong))
	wantErr(t, err, ErrInvalidArgument)
}

func TestWriteBufferManager(t *testing.T) {
	manager := NewWriteBufferManager(8<<20, false)
	defer closeIt(t, manager)
	one, two := openNew(t, small().SetWriteBufferManager(manager)), openNew(t, small().SetWriteBufferManager(manager))
	fill(t, one, 100, 100)
	fill(t, two, 100, 100)
	usage, err := manager.Usage()
	must(t, err)
	if usage.Limit != 8<<20 || usage.Total == 0 || usage.Mutable == 0 || usage.Mutable > usage.Total {
		t.Fatalf("the usage is %+v", usage)
	}
	must(t, manager.SetLimit(16<<20))
	must(t, manager.SetAllowStall(true))
	usage, err = manager.Usage()
	must(t, err)
	if usage.Limit != 16<<20 {
		t.Fatalf("the usage is %+v", usage)
	}
	must(t, manager.Close())
	must(t, manager.Close())
	_, err = manager.Usage()
	wantErr(t, err, ErrClosed)
	wantErr(t, manager.SetLimit(1), ErrClosed)
	wantErr(t, manager.SetAllowStall(false), ErrClosed)
	_, err = Open(newPath(t), small().SetWriteBufferManager(manager))
	wantErr(t, err, ErrClosed)
	put(t, one, "a", "1")
}

func TestLogger(t *testing.T) {
	var mu sync.Mutex
	var lines []string
	path := newPath(t)
	db := openAt(t, path, small().SetLogger(LogDebug, func(level LogLevel, line string) {
		mu.Lock()
		defer mu.Unlock()
		if level < LogDebug || level > LogError {
			t.Errorf("the level is %d", level)
		}
		lines = append(lines, line)
	}))
	put(t, db, "a", "1")
	must(t, db.Flush(context.Background(), nil))
	must(t, db.Close())
	mu.Lock()
	defer mu.Unlock()
	if len(lines) == 0 || strings.HasSuffix(lines[0], "\n") {
		t.Fatalf("the lines are %q", lines)
	}
}

func TestPanicInALogger(t *testing.T) {
	var reports atomic.Int64
	db := openNew(t, small().SetLogger(LogDebug, func(LogLevel, string) { panic("logger") }).
		SetPanicHandler(func(err *PanicError) {
			if err.Value == "logger" && err.Unwrap() == nil {
				reports.Add(1)
			}
		}))
	put(t, db, "a", "1")
	must(t, db.Close())
	if reports.Load() == 0 {
		t.Fatal("the panic is not reported")
	}
}

// A panic of the handler does not cross the border either.
func TestPanicInThePanicHandler(t *testing.T) {
	log.SetOutput(io.Discard)
	defer log.SetOutput(os.Stderr)
	filter := FilterFunc(func(int, []byte, []byte) Decision { panic("filter") })
	for _, handler := range []func(*PanicError){nil, func(*PanicError) { panic("handler") }} {
		db := openNew(t, small().SetCompactionFilter(filter).SetPanicHandler(handler))
		put(t, db, "a", "1")
		wantErr(t, db.CompactRange(context.Background(), Range{}, nil), ErrInvalidArgument)
		wantGet(t, db, "a", "1", nil)
	}
}
