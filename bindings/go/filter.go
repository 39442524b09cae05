package cambium

// #include "shim.h"
import "C"

import (
	"runtime/cgo"
	"unsafe"
)

// CompactionFilter decides in compactions which values are kept, removed or changed. docs/OPTIONS.md says when it is
// asked. Background threads call it; one that is set with SetCompactionFilter, several at once. It must not call its
// database.
//
// If it panics, the compaction ends with an error and changes nothing; the panic is reported as Options.SetPanicHandler
// says. The compaction is tried again; if it fails ten times in a row, writes to the family fail too.
type CompactionFilter interface {
	// Filter decides about an entry. Key and value are memory of the library: valid during the call, and not to be
	// changed. level is the level of an LSM that the keys are written to, and 1 in a tree.
	Filter(level int, key, value []byte) Decision
}

// KeyFilter may be implemented by a CompactionFilter, to decide by the key before a value in the log is read.
type KeyFilter interface {
	// FilterKey returns Undetermined if the value is needed. It is not asked about values in the index.
	FilterKey(level int, key []byte) Decision
}

// FilterFunc is a function as a CompactionFilter.
type FilterFunc func(level int, key, value []byte) Decision

// Filter calls the function.
func (f FilterFunc) Filter(level int, key, value []byte) Decision { return f(level, key, value) }

// Decision is what a filter has decided.
type Decision struct {
	code  C.int
	bytes []byte
}

// The decisions without a value.
var (
	Keep         = Decision{code: C.cambium_filter_keep}
	Remove       = Decision{code: C.cambium_filter_remove}
	Undetermined = Decision{code: C.cambium_filter_undetermined} // of FilterKey only
)

// ChangeValue replaces the value.
func ChangeValue(value []byte) Decision { return Decision{C.cambium_filter_change_value, value} }

// RemoveAndSkipUntil removes the key and all keys before the given one, about which the filter is not asked.
func RemoveAndSkipUntil(key []byte) Decision {
	return Decision{C.cambium_filter_remove_and_skip_until, key}
}

// FilterContext describes a compaction to a factory.
type FilterContext struct {
	IsFullCompaction   bool // it compacts everything in the family
	IsManualCompaction bool // by CompactRange
	FamilyID           uint32
}

// CompactionFilterFactory makes a filter for each compaction, which one thread calls.
type CompactionFilterFactory interface {
	// NewFilter may return nil: then the compaction keeps everything.
	NewFilter(context FilterContext) CompactionFilter
}

// FilterFactoryFunc is a function as a CompactionFilterFactory.
type FilterFactoryFunc func(context FilterContext) CompactionFilter

// NewFilter calls the function.
func (f FilterFactoryFunc) NewFilter(context FilterContext) CompactionFilter { return f(context) }

// A decision that the library rejects, so that the compaction ends with an error.
const illegalDecision = 255

// filterState is what a callback needs.
type filterState struct {
	filter CompactionFilter
	report reporter
}

const filterName = "cambium-go filter"

// newFilter makes a filter of C; nil: out of memory.
func newFilter(filter CompactionFilter, onPanic func(*PanicError)) *C.cambium_compactionfilter_t {
	_, asksByKey := filter.(KeyFilter)
	handle := cgo.NewHandle(&filterState{filter, reporter{"compaction filter", onPanic}})
	c := C.cambium_go_filter(C.uintptr_t(handle), charsOf(filterName), C.size_t(len(filterName)),
		C.int(truth(asksByKey)))
	if c == nil {
		handle.Delete()
	}
	return c
}

type factoryState struct {
	factory CompactionFilterFactory
	report  reporter
}

// newFilterFactory makes a factory of C; nil: out of memory.
func newFilterFactory(factory CompactionFilterFactory, onPanic func(*PanicError)) *C.cambium_compactionfilterfactory_t {
	handle := cgo.NewHandle(&factoryState{factory, reporter{"compaction filter factory", onPanic}})
	c := C.cambium_go_filter_factory(C.uintptr_t(handle), charsOf(filterName), C.size_t(len(filterName)))
	if c == nil {
		handle.Delete()
	}
	return c
}

// give hands a decision to the library.
func (d Decision) give(answer *C.cambium_compactionfilteranswer_t) C.int {
	switch d.code {
	case C.cambium_filter_change_value:
		C.cambium_compactionfilteranswer_set_value(answer, chars(d.bytes), C.size_t(len(d.bytes)))
	case C.cambium_filter_remove_and_skip_until:
		C.cambium_compactionfilteranswer_skip_until(answer, chars(d.bytes), C.size_t(len(d.bytes)))
	}
	return d.code
}

//export cambiumGoFilter
func cambiumGoFilter(handle C.uintptr_t, level C.int, key *C.char, keyLength C.size_t, value *C.char,
	valueLength C.size_t, answer *C.cambium_compactionfilteranswer_t) (code C.int) {
	state := cgo.Handle(handle).Value().(*filterState)
	code = illegalDecision // what remains after a panic
	defer state.report.recovered()
	return state.filter.Filter(int(level), view(key, keyLength), view(value, valueLength)).give(answer)
}

//export cambiumGoFilterKey
func cambiumGoFilterKey(handle C.uintptr_t, level C.int, key *C.char, keyLength C.size_t,
	answer *C.cambium_compactionfilteranswer_t) (code C.int) {
	state := cgo.Handle(handle).Value().(*filterState)
	code = illegalDecision
	defer state.report.recovered()
	return state.filter.(KeyFilter).FilterKey(int(level), view(key, keyLength)).give(answer)
}

// refuseAll is the filter of a compaction whose filter could not be made: the compaction ends with an error.
type refuseAll struct{}

func (refuseAll) Filter(int, []byte, []byte) Decision { return Decision{code: illegalDecision} }
func (refuseAll) FilterKey(int, []byte) Decision      { return Decision{code: illegalDecision} }

//export cambiumGoCreateFilter
func cambiumGoCreateFilter(handle C.uintptr_t, isFull, isManual C.uchar, family C.uint32_t) C.uintptr_t {
	state := cgo.Handle(handle).Value().(*factoryState)
	made := state.make(FilterContext{isFull != 0, isManual != 0, uint32(family)})
	if made == nil {
		return 0
	}
	return C.cambium_go_address(unsafe.Pointer(newFilter(made, state.report.onPanic)))
}

func (s *factoryState) make(context FilterContext) (made CompactionFilter) {
	made = refuseAll{} // what remains after a panic
	defer s.report.recovered()
	return s.factory.NewFilter(context)
}
