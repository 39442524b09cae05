package cambium

// #include "shim.h"
import "C"

// TraceFilter says which operations a trace leaves out: the sum of the constants.
type TraceFilter uint64

// What a trace can leave out.
const (
	TraceNoGet         TraceFilter = C.cambium_trace_filter_get
	TraceNoWrite       TraceFilter = C.cambium_trace_filter_write
	TraceNoSeek        TraceFilter = C.cambium_trace_filter_iterator_seek
	TraceNoSeekForPrev TraceFilter = C.cambium_trace_filter_iterator_seek_for_prev
	TraceNoMultiGet    TraceFilter = C.cambium_trace_filter_multiget
)

// TraceOptions are the options of a trace; nil and the zero value are the defaults.
type TraceOptions struct {
	MaxFileSize        uint64 // in bytes; 0: 64 GiB
	SamplingFrequency  uint64 // one in this many operations is recorded; 0 and 1: all
	Filter             TraceFilter
	PreserveWriteOrder bool
	IncludeValues      bool
}

// StartTrace begins to record the operations on the database in a file, which must not exist. An error of the trace
// fails no call: EndTrace returns it.
func (db *DB) StartTrace(path string, options *TraceOptions) error {
	if err := db.enter(); err != nil {
		return err
	}
	defer db.leave()
	name, err := cString("the path", path)
	if err != nil {
		return err
	}
	defer freeString(name)
	c := C.cambium_traceoptions_create()
	defer C.cambium_traceoptions_destroy(c)
	if options != nil {
		if options.MaxFileSize != 0 {
			C.cambium_traceoptions_set_max_trace_file_size(c, C.uint64_t(options.MaxFileSize))
		}
		if options.SamplingFrequency != 0 {
			C.cambium_traceoptions_set_sampling_frequency(c, C.uint64_t(options.SamplingFrequency))
		}
		C.cambium_traceoptions_set_filter(c, C.uint64_t(options.Filter))
		C.cambium_traceoptions_set_preserve_write_order(c, truth(options.PreserveWriteOrder))
		C.cambium_traceoptions_set_include_values(c, truth(options.IncludeValues))
	}
	var errptr *C.char
	C.cambium_start_trace(db.c, c, name, &errptr)
	return takeError(errptr)
}

// EndTrace ends the trace, and returns its first error. ErrNotFound: there is no trace.
func (db *DB) EndTrace() error {
	if err := db.enter(); err != nil {
		return err
	}
	defer db.leave()
	var errptr *C.char
	C.cambium_end_trace(db.c, &errptr)
	return takeError(errptr)
}
