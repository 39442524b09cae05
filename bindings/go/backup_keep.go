package cambium

// #include "shim.h"
import "C"

import (
	"context"
	"time"
	"unsafe"
)

// call runs a call of the engine when it is its turn. If the context ends while it runs, the call goes on in the
// background.
func (e *BackupEngine) call(ctx context.Context, call func(c *C.cambium_backup_engine_t, errptr **C.char)) error {
	return wait(ctx, func() error { return e.begin(ctx) }, e.end, func() error {
		var errptr *C.char
		call(e.c, &errptr)
		return takeError(errptr)
	})
}

// Purge deletes all but the newest `keep` of the backups that can be read.
func (e *BackupEngine) Purge(ctx context.Context, keep uint32) error {
	return e.call(ctx, func(c *C.cambium_backup_engine_t, errptr **C.char) {
		C.cambium_backup_engine_purge_old_backups(c, C.uint32_t(keep), errptr)
	})
}

// Delete deletes a backup. ErrNotFound: there is none of this number.
func (e *BackupEngine) Delete(ctx context.Context, id uint32) error {
	return e.call(ctx, func(c *C.cambium_backup_engine_t, errptr **C.char) {
		C.cambium_backup_engine_delete_backup(c, C.uint32_t(id), errptr)
	})
}

// CollectGarbage removes files that no backup has. Deleting a backup does this too.
func (e *BackupEngine) CollectGarbage(ctx context.Context) error {
	return e.call(ctx, func(c *C.cambium_backup_engine_t, errptr **C.char) {
		C.cambium_backup_engine_garbage_collect(c, errptr)
	})
}

// Verify checks that all files of a backup exist and have their size; with deep, every byte too.
func (e *BackupEngine) Verify(ctx context.Context, id uint32, deep bool) error {
	return e.call(ctx, func(c *C.cambium_backup_engine_t, errptr **C.char) {
		C.cambium_backup_engine_verify_backup(c, C.uint32_t(id), truth(deep), errptr)
	})
}

// Restore makes a database in a new directory from a backup.
func (e *BackupEngine) Restore(ctx context.Context, id uint32, directory string) error {
	return e.restore(ctx, directory, func(c *C.cambium_backup_engine_t, name *C.char, errptr **C.char) {
		C.cambium_backup_engine_restore_db_from_backup(c, name, C.uint32_t(id), errptr)
	})
}

// RestoreLatest makes a database in a new directory from the newest backup. ErrCorruption: that one cannot be read.
func (e *BackupEngine) RestoreLatest(ctx context.Context, directory string) error {
	return e.restore(ctx, directory, func(c *C.cambium_backup_engine_t, name *C.char, errptr **C.char) {
		C.cambium_backup_engine_restore_db_from_latest_backup(c, name, errptr)
	})
}

func (e *BackupEngine) restore(ctx context.Context, directory string,
	call func(c *C.cambium_backup_engine_t, name *C.char, errptr **C.char)) error {
	return wait(ctx, func() error { return e.begin(ctx) }, e.end, func() error {
		name, err := cString("the path", directory)
		if err != nil {
			return err
		}
		defer freeString(name)
		var errptr *C.char
		call(e.c, name, &errptr)
		return takeError(errptr)
	})
}

// BackupInfo describes a backup.
type BackupInfo struct {
	ID        uint32
	Time      time.Time // when the backup began
	Size      uint64    // bytes of its files, those shared with other backups included
	Files     uint32
	Sequence  uint64 // of the newest write in it
	IsChecked bool   // made without NoVerify
}

// Backups describes the backups that can be read, in the order of their numbers.
func (e *BackupEngine) Backups(ctx context.Context) ([]BackupInfo, error) {
	if err := e.begin(ctx); err != nil {
		return nil, err
	}
	defer e.end()
	c := C.cambium_backup_engine_get_backup_info(e.c)
	defer C.cambium_backup_engine_info_destroy(c)
	infos := make([]BackupInfo, C.cambium_backup_engine_info_count(c))
	for i := range infos {
		at := C.int(i)
		infos[i] = BackupInfo{
			ID:        uint32(C.cambium_backup_engine_info_backup_id(c, at)),
			Time:      time.Unix(int64(C.cambium_backup_engine_info_timestamp(c, at)), 0),
			Size:      uint64(C.cambium_backup_engine_info_size(c, at)),
			Files:     uint32(C.cambium_backup_engine_info_number_files(c, at)),
			Sequence:  uint64(C.cambium_backup_engine_info_sequence_number(c, at)),
			IsChecked: C.cambium_backup_engine_info_is_checked(c, at) != 0,
		}
	}
	return infos, nil
}

// CorruptedBackups returns the numbers of the backups that cannot be read.
func (e *BackupEngine) CorruptedBackups(ctx context.Context) ([]uint32, error) {
	if err := e.begin(ctx); err != nil {
		return nil, err
	}
	defer e.end()
	var count C.size_t
	list := C.cambium_backup_engine_get_corrupted_backups(e.c, &count)
	defer C.cambium_free(unsafe.Pointer(list))
	ids := make([]uint32, count)
	for i, id := range unsafe.Slice(list, int(count)) {
		ids[i] = uint32(id)
	}
	return ids, nil
}
