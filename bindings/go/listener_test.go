package cambium

import (
	"context"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// events collects what a listener receives.
type events struct {
	mu    sync.Mutex
	names map[string]int
	t     *testing.T
}

func (e *events) note(name string, isRight bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.names[name]++
	if !isRight {
		e.t.Errorf("%s has wrong fields", name)
	}
}

func (e *events) listener(path string) *EventListener {
	return &EventListener{
		FlushBegin: func(i FlushInfo) {
			e.note("FlushBegin", i.DBName == path && i.FamilyName == "default" && i.Entries > 0 && i.Reason == FlushManual)
		},
		FlushCompleted: func(i FlushInfo) {
			e.note("FlushCompleted", i.Err == nil && i.JobID > 0 && i.LargestSequence > 0 && len(i.OutputFiles) > 0)
		},
		CompactionBegin: func(i CompactionInfo) {
			e.note("CompactionBegin", i.DBName == path && i.FamilyID == 0 && i.Reason == CompactionManual)
		},
		CompactionCompleted: func(i CompactionInfo) {
			e.note("CompactionCompleted", i.Err == nil && i.OutputLevel > 0 && len(i.InputFiles) > 0)
		},
		LogGCCompleted: func(i LogGCInfo) {
			e.note("LogGCCompleted", i.DBName == path && i.Err == nil && i.Reason == LogGCManual)
		},
		MemtableSealed: func(i MemtableInfo) {
			e.note("MemtableSealed", i.DBName == path && i.Entries > 0 && i.MemoryBytes > 0 && i.FamilyName == "default")
		},
		TableFileStarted: func(i TableFileInfo) {
			e.note("TableFileStarted", i.Size == 0 && i.Err == nil && i.FamilyName == "default")
		},
		TableFileCreated: func(i TableFileInfo) {
			e.note("TableFileCreated", i.Number > 0 && strings.HasPrefix(i.Path, path))
		},
		TableFileDeleted: func(i FileDeletionInfo) { e.note("TableFileDeleted", i.Number > 0 && i.DBName == path) },
		BlobFileStarted:  func(i BlobFileInfo) { e.note("BlobFileStarted", i.Number > 0 && i.DBName == path) },
		BlobFileCreated:  func(i BlobFileInfo) { e.note("BlobFileCreated", i.Err == nil && i.Path != "") },
		BlobFileDeleted:  func(i FileDeletionInfo) { e.note("BlobFileDeleted", i.Number > 0 && i.Path != "") },
	}
}

func TestEventListener(t *testing.T) {
	ctx := context.Background()
	path := newPath(t)
	got := &events{names: map[string]int{}, t: t}
	db := openAt(t, path, small().AddEventListener(got.listener(path)).AddEventListener(&EventListener{}).
		SetIndexType(LSM).SetBlobFileSize(1<<20))
	for range 3 {
		fill(t, db, 1_500, 1_000)
		must(t, db.Flush(ctx, nil))
	}
	cutoff := 1.0
	must(t, db.CompactRange(ctx, Range{}, &CompactOptions{BlobGC: BlobGCForce, BlobGCAgeCutoff: &cutoff}))
	must(t, db.Close())
	got.mu.Lock()
	defer got.mu.Unlock()
	for _, name := range []string{"FlushBegin", "FlushCompleted", "CompactionBegin", "CompactionCompleted",
		"LogGCCompleted", "MemtableSealed", "TableFileStarted", "TableFileCreated", "TableFileDeleted",
		"BlobFileStarted", "BlobFileCreated", "BlobFileDeleted"} {
		if got.names[name] == 0 {
			t.Errorf("%s was not called; called were %v", name, got.names)
		}
	}
}

// A compaction that fails in the background is told.
func TestBackgroundErrors(t *testing.T) {
	failures := make(chan BackgroundErrorInfo, 100)
	path := newPath(t)
	illegal := FilterFunc(func(int, []byte, []byte) Decision { return Undetermined })
	db := openAt(t, path, small().SetIndexType(LSM).SetLevel0FileNumCompactionTrigger(1).SetCompactionFilter(illegal).
		AddEventListener(&EventListener{BackgroundError: func(i BackgroundErrorInfo) {
			select {
			case failures <- i:
			default:
			}
		}}))
	for range 3 {
		fill(t, db, 100, 100)
		must(t, db.Flush(context.Background(), nil))
	}
	inTime(t, func() {
		failure := <-failures
		wantErr(t, failure.Err, ErrInvalidArgument)
		if failure.DBName != path || failure.Reason != BackgroundErrorCompaction {
			t.Errorf("the failure is %+v", failure)
		}
	})
}

// Writers that are faster than flushes wait, which a listener is told.
func TestStallEvents(t *testing.T) {
	var changes atomic.Int64
	db := openNew(t, small().SetWriteBufferSize(64<<10).SetMaxWriteBufferNumber(2).SetEnableBlobFiles(false).
		AddEventListener(&EventListener{StallChanged: func(i StallInfo) {
			if i.Cause < StallMemtableLimit || i.Cause > StallWriteBufferManagerLimit || i.Current == i.Previous ||
				i.Change == 0 {
				t.Errorf("the change is %+v", i)
			}
			changes.Add(1)
		}}))
	for i := 0; changes.Load() == 0; i++ {
		if i == 200_000 {
			t.Skip("no write was held up")
		}
		key, value := numbered(i, 900)
		must(t, db.Put(key, value, nil))
	}
}

// A listener may read its database. A panic in it is reported.
func TestListenerThatReadsAndPanics(t *testing.T) {
	var db *DB
	var reads, reports atomic.Int64
	db = openNew(t, small().AddEventListener(&EventListener{FlushCompleted: func(FlushInfo) {
		if value, err := db.Get([]byte("a"), nil); err == nil && string(value) == "1" {
			reads.Add(1)
		}
		panic(os.ErrInvalid)
	}}).SetPanicHandler(func(*PanicError) { reports.Add(1) }))
	put(t, db, "a", "1")
	must(t, db.Flush(context.Background(), nil))
	if reads.Load() != 1 || reports.Load() != 1 {
		t.Fatalf("%d reads, %d reports", reads.Load(), reports.Load())
	}
}
