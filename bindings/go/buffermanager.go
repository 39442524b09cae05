package cambium

// #include "shim.h"
import "C"

import "sync"

// WriteBufferManager is one limit for the memory of memtables and filters, for all databases that are opened with it.
type WriteBufferManager struct {
	mu sync.RWMutex
	c  *C.cambium_write_buffer_manager_t
}

// NewWriteBufferManager makes a manager with a limit in bytes; 0: memory is only counted. With allowStall, all writes
// wait while the limit is reached; otherwise only those that need more memory.
func NewWriteBufferManager(bytes uint64, allowStall bool) *WriteBufferManager {
	live.add("write buffer manager")
	return &WriteBufferManager{c: C.cambium_write_buffer_manager_create(C.size_t(bytes), truth(allowStall))}
}

// BufferUsage is the memory that a WriteBufferManager counts, in bytes.
type BufferUsage struct {
	Limit   uint64 // 0: none
	Total   uint64 // memtables and filters
	Mutable uint64 // active memtables
}

// Usage returns the memory at this moment.
func (m *WriteBufferManager) Usage() (BufferUsage, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if m.c == nil {
		return BufferUsage{}, ErrClosed
	}
	return BufferUsage{
		Limit:   uint64(C.cambium_write_buffer_manager_buffer_size(m.c)),
		Total:   uint64(C.cambium_write_buffer_manager_memory_usage(m.c)),
		Mutable: uint64(C.cambium_write_buffer_manager_mutable_memtable_memory_usage(m.c)),
	}, nil
}

// SetLimit changes the limit, in bytes.
func (m *WriteBufferManager) SetLimit(bytes uint64) error {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if m.c == nil {
		return ErrClosed
	}
	C.cambium_write_buffer_manager_set_buffer_size(m.c, C.size_t(bytes))
	return nil
}

// SetAllowStall changes whether all writes wait while the limit is reached.
func (m *WriteBufferManager) SetAllowStall(allowStall bool) error {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if m.c == nil {
		return ErrClosed
	}
	C.cambium_write_buffer_manager_set_allow_stall(m.c, truth(allowStall))
	return nil
}

// Close releases the manager. Databases that use it keep what they need.
func (m *WriteBufferManager) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.c != nil {
		C.cambium_write_buffer_manager_destroy(m.c)
		m.c = nil
		live.remove("write buffer manager")
	}
	return nil
}

func (m *WriteBufferManager) setIn(options *C.cambium_options_t) error {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if m.c == nil {
		return ErrClosed
	}
	C.cambium_options_set_write_buffer_manager(options, m.c)
	return nil
}
