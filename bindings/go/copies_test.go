package cambium

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestCheckpoint(t *testing.T) {
	ctx := context.Background()
	path := newPath(t)
	db := openAt(t, path, small())
	put(t, db, "a", "1")
	one, two := newPath(t), newPath(t)
	must(t, db.Checkpoint(ctx, one, 0))
	put(t, db, "a", "2")
	must(t, db.Checkpoint(ctx, two, 1<<30))
	wantErr(t, db.Checkpoint(ctx, two, 0), ErrInvalidArgument)
	wantErr(t, db.Checkpoint(ctx, "a\x00", 0), ErrInvalidArgument)
	must(t, db.Close())
	three := newPath(t)
	must(t, CheckpointOffline(path, three, nil))
	wantErr(t, CheckpointOffline(path, three, nil), ErrInvalidArgument)
	wantErr(t, CheckpointOffline(path, "a\x00", nil), ErrInvalidArgument)
	for path, value := range map[string]string{one: "1", two: "2", three: "2"} {
		copied := openAt(t, path, small())
		wantGet(t, copied, "a", value, nil)
	}
}

func TestBackups(t *testing.T) {
	ctx := context.Background()
	path, directory := newPath(t), newPath(t)
	db := openAt(t, path, small())
	engine, err := OpenBackupEngine(directory, nil)
	must(t, err)
	defer closeIt(t, engine)
	_, err = OpenBackupEngine(directory, nil)
	wantErr(t, err, ErrLocked)
	put(t, db, "a", "1")
	before := time.Now().Add(-2 * time.Second)
	must(t, engine.Create(ctx, db, nil))
	put(t, db, "a", "2")
	must(t, engine.Create(ctx, db, &BackupOptions{Flush: true, NoVerify: true}))
	put(t, db, "a", "3")
	must(t, db.Close())
	must(t, engine.CreateOffline(ctx, path, nil))
	wantErr(t, engine.CreateOffline(ctx, "a\x00", nil), ErrInvalidArgument)

	infos, err := engine.Backups(ctx)
	must(t, err)
	if len(infos) != 3 || infos[0].ID != 1 || infos[1].ID != 2 || !infos[0].IsChecked || infos[1].IsChecked ||
		infos[0].Time.Before(before) || infos[0].Size == 0 || infos[0].Files == 0 || infos[1].Sequence <= infos[0].Sequence {
		t.Fatalf("the backups are %+v", infos)
	}
	corrupted, err := engine.CorruptedBackups(ctx)
	must(t, err)
	if len(corrupted) != 0 {
		t.Fatalf("corrupted backups: %v", corrupted)
	}
	for _, info := range infos {
		must(t, engine.Verify(ctx, info.ID, false))
		must(t, engine.Verify(ctx, info.ID, true))
	}
	wantErr(t, engine.Verify(ctx, 99, false), ErrNotFound)
	one, latest := newPath(t), newPath(t)
	must(t, engine.Restore(ctx, 1, one))
	must(t, engine.RestoreLatest(ctx, latest))
	wantErr(t, engine.Restore(ctx, 1, one), ErrInvalidArgument)
	wantErr(t, engine.Restore(ctx, 1, "a\x00"), ErrInvalidArgument)
	wantGet(t, openAt(t, one, small()), "a", "1", nil)
	wantGet(t, openAt(t, latest, small()), "a", "3", nil)
	must(t, engine.Delete(ctx, 2))
	wantErr(t, engine.Delete(ctx, 2), ErrNotFound)
	must(t, engine.Purge(ctx, 1))
	must(t, engine.CollectGarbage(ctx))
	infos, err = engine.Backups(ctx)
	must(t, err)
	if len(infos) != 1 || infos[0].ID != 3 {
		t.Fatalf("the backups are %+v", infos)
	}
	must(t, engine.Close())
	must(t, engine.Close())
	wantErr(t, engine.Create(ctx, openNew(t, small()), nil), ErrClosed)
	wantErr(t, engine.Purge(ctx, 1), ErrClosed)
	wantErr(t, engine.Restore(ctx, 1, newPath(t)), ErrClosed)
	_, err = engine.Backups(ctx)
	wantErr(t, err, ErrClosed)
	_, err = engine.CorruptedBackups(ctx)
	wantErr(t, err, ErrClosed)

	// A damaged record of a backup.
	must(t, os.WriteFile(filepath.Join(directory, "000003.backup"), []byte("damaged"), 0o600))
	reading, err := OpenBackupEngineReadOnly(directory, nil)
	must(t, err)
	defer closeIt(t, reading)
	corrupted, err = reading.CorruptedBackups(ctx)
	must(t, err)
	if len(corrupted) != 1 || corrupted[0] != 3 {
		t.Fatalf("the corrupted backups are %v", corrupted)
	}
	wantErr(t, reading.RestoreLatest(ctx, newPath(t)), ErrCorruption)
	_, err = OpenBackupEngineReadOnly(newPath(t), nil)
	wantErr(t, err, ErrIO)
}

// A backup whose context ends is not made, and the engine makes the next one.
func TestBackupThatIsStopped(t *testing.T) {
	db := openNew(t, small().SetEnableBlobGC(false))
	for i := range 40 {
		key, value := numbered(i, 1<<20)
		must(t, db.Put(key, value, nil))
	}
	engine, err := OpenBackupEngine(newPath(t), nil)
	must(t, err)
	defer closeIt(t, engine)
	cause := errors.New("cause")
	stopped := false
	for range 5 {
		ctx, cancel := context.WithCancelCause(context.Background())
		time.AfterFunc(5*time.Millisecond, func() { cancel(cause) })
		if err := engine.Create(ctx, db, nil); err != nil {
			wantErr(t, err, cause)
			stopped = true
			break
		}
	}
	if !stopped {
		t.Skip("backups are made faster than they can be stopped")
	}
	before, err := engine.Backups(context.Background())
	must(t, err)
	must(t, engine.Create(context.Background(), db, nil))
	after, err := engine.Backups(context.Background())
	must(t, err)
	if len(after) != len(before)+1 {
		t.Fatalf("%d backups, then %d", len(before), len(after))
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	wantErr(t, engine.Create(ended, db, nil), context.Canceled)
}

func TestDestroyDB(t *testing.T) {
	path := newPath(t)
	db := openAt(t, path, small())
	wantErr(t, DestroyDB(path, nil), ErrLocked)
	must(t, db.Close())
	must(t, DestroyDB(path, nil))
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Fatalf("the directory: %v", err)
	}
	must(t, DestroyDB(path, nil))
	wantErr(t, DestroyDB("a\x00", nil), ErrInvalidArgument)
	wantErr(t, DestroyDB(path, NewOptions().Set("no", "1")), ErrInvalidArgument)
}

func TestSalvageOfAHealthyDatabase(t *testing.T) {
	path, out := newPath(t), newPath(t)
	db := openAt(t, path, small())
	put(t, db, "a", "1")
	must(t, db.Close())
	must(t, RepairDB(path, nil))
	report, err := SalvageDB(path, out, small(), false)
	must(t, err)
	if report != (SalvageReport{}) {
		t.Fatalf("the report is %+v", report)
	}
	wantGet(t, openAt(t, out, small()), "a", "1", nil)
	_, err = SalvageDB(path, "a\x00", nil, false)
	wantErr(t, err, ErrInvalidArgument)
	_, err = SalvageDB(newPath(t), newPath(t), nil, false)
	wantErr(t, err, ErrIO)
	problems, err := VerifyDB(path, nil, false)
	must(t, err)
	if len(problems) != 0 {
		t.Fatal(problems)
	}
	_, err = VerifyDB(newPath(t), nil, false)
	if err == nil {
		t.Fatal("VerifyDB of nothing")
	}
	if _, err = ListFamilies(newPath(t), nil); err == nil {
		t.Fatal("ListFamilies of nothing")
	}
}
