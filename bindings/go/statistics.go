package cambium

// #include "shim.h"
import "C"

import "sync"

// Statistics counts what the databases do that are opened with it.
type Statistics struct {
	mu sync.RWMutex
	c  *C.cambium_options_t // default options, which own the statistics
}

// StatisticsLevel says what is counted.
type StatisticsLevel int

// The levels.
const (
	StatisticsDisableAll              StatisticsLevel = 0
	StatisticsExceptHistogramOrTimers StatisticsLevel = 1
	StatisticsExceptTimers            StatisticsLevel = 2
	StatisticsExceptDetailedTimers    StatisticsLevel = 3 // the default
	StatisticsAll                     StatisticsLevel = 5
)

// NewStatistics makes statistics that count everything but the times of compression.
func NewStatistics() *Statistics {
	options := C.cambium_options_create()
	C.cambium_options_enable_statistics(options)
	live.add("statistics")
	return &Statistics{c: options}
}

// SetLevel changes what is counted.
func (s *Statistics) SetLevel(level StatisticsLevel) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.c == nil {
		return ErrClosed
	}
	C.cambium_options_set_statistics_level(s.c, C.int(level))
	return nil
}

// Level returns what is counted.
func (s *Statistics) Level() StatisticsLevel {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.c == nil {
		return StatisticsDisableAll
	}
	return StatisticsLevel(C.cambium_options_get_statistics_level(s.c))
}

// String returns all figures, a line for each; nothing after Close.
func (s *Statistics) String() string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.c == nil {
		return ""
	}
	return takeText(C.cambium_options_statistics_get_string(s.c))
}

// Ticker returns the count of a name such as "rocksdb.memtable.hit"; ErrNotFound for an unknown one.
func (s *Statistics) Ticker(name string) (uint64, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.c == nil {
		return 0, ErrClosed
	}
	text, err := cString("the name", name)
	if err != nil {
		return 0, err
	}
	defer freeString(text)
	number := C.cambium_statistics_ticker(text)
	if number == C.UINT32_MAX {
		return 0, ErrNotFound
	}
	return uint64(C.cambium_options_statistics_get_ticker_count(s.c, number)), nil
}

// HistogramData is a distribution of times or sizes.
type HistogramData struct {
	Median, P95, P99, Average, StandardDeviation, Min, Max float64
	Count, Sum                                             uint64
}

// Histogram returns the distribution of a name such as "rocksdb.db.get.micros"; ErrNotFound for an unknown one.
func (s *Statistics) Histogram(name string) (HistogramData, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.c == nil {
		return HistogramData{}, ErrClosed
	}
	text, err := cString("the name", name)
	if err != nil {
		return HistogramData{}, err
	}
	defer freeString(text)
	number := C.cambium_statistics_histogram(text)
	if number == C.UINT32_MAX {
		return HistogramData{}, ErrNotFound
	}
	data := C.cambium_statistics_histogram_data_create()
	defer C.cambium_statistics_histogram_data_destroy(data)
	C.cambium_options_statistics_get_histogram_data(s.c, number, data)
	return HistogramData{
		Median:            float64(C.cambium_statistics_histogram_data_get_median(data)),
		P95:               float64(C.cambium_statistics_histogram_data_get_p95(data)),
		P99:               float64(C.cambium_statistics_histogram_data_get_p99(data)),
		Average:           float64(C.cambium_statistics_histogram_data_get_average(data)),
		StandardDeviation: float64(C.cambium_statistics_histogram_data_get_std_dev(data)),
		Min:               float64(C.cambium_statistics_histogram_data_get_min(data)),
		Max:               float64(C.cambium_statistics_histogram_data_get_max(data)),
		Count:             uint64(C.cambium_statistics_histogram_data_get_count(data)),
		Sum:               uint64(C.cambium_statistics_histogram_data_get_sum(data)),
	}, nil
}

// Close releases the statistics. Databases that use them keep what they need.
func (s *Statistics) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.c != nil {
		C.cambium_options_destroy(s.c)
		s.c = nil
		live.remove("statistics")
	}
	return nil
}

// copyOptions returns default options with these statistics.
func (s *Statistics) copyOptions() (*C.cambium_options_t, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.c == nil {
		return nil, ErrClosed
	}
	return C.cambium_options_create_copy(s.c), nil
}
