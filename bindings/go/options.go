package cambium

import (
	"maps"
	"slices"
	"strings"
	"time"
)

// Options are the options of a database and of a column family. A function that takes them copies them, so they may be
// changed and used again; nil, and an empty Options, mean the defaults. docs/OPTIONS.md describes every option. The
// library checks the values when it uses them.
//
// An Options must not be changed by one goroutine while another one uses it.
type Options struct {
	texts map[string]string // by name of option

	compatible    bool
	comparator    *Comparator
	filter        CompactionFilter
	filterFactory CompactionFilterFactory
	listeners     []*EventListener
	logger        Logger
	logLevel      LogLevel
	rateLimiter   *RateLimiter
	bufferManager *WriteBufferManager
	statistics    *Statistics
	onPanic       func(*PanicError)
}

// NewOptions returns the default options.
func NewOptions() *Options { return &Options{} }

// Clone returns a copy.
func (o *Options) Clone() *Options {
	if o == nil {
		return NewOptions()
	}
	clone := *o
	clone.texts = maps.Clone(o.texts)
	clone.listeners = slices.Clone(o.listeners)
	return &clone
}

// Set sets an option by its name in docs/OPTIONS.md and its text: Set("write_buffer_size", "16M"). Every option that
// has a text can be set.
func (o *Options) Set(name, text string) *Options {
	if o.texts == nil {
		o.texts = make(map[string]string)
	}
	o.texts[name] = text
	return o
}

// Text returns the text of an option that was set by Set or by a function of its own.
func (o *Options) Text(name string) (text string, isSet bool) {
	text, isSet = o.texts[name]
	return text, isSet
}

// String returns the options that were set, as "name=value;name=value".
func (o *Options) String() string {
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(o.texts)) {
		if text.Len() > 0 {
			text.WriteByte(';')
		}
		text.WriteString(name)
		text.WriteByte('=')
		text.WriteString(braced(o.texts[name]))
	}
	return text.String()
}

// braced protects a text that has characters of the syntax.
func braced(text string) string {
	if strings.ContainsAny(text, ";={}") {
		return "{" + text + "}"
	}
	return text
}

// OptimizeForRocksDBCompatibility makes RocksDB's defaults the base of the options that RocksDB has too. Options that
// are set, before or after, keep their value.
func (o *Options) OptimizeForRocksDBCompatibility() *Options {
	o.compatible = true
	return o
}

// SetComparator sets the order of keys. A database stores its name, and must always be opened with it.
func (o *Options) SetComparator(comparator *Comparator) *Options {
	o.comparator = comparator
	delete(o.texts, "comparator")
	return o
}

// SetCompactionFilter sets a filter that several threads call at once.
func (o *Options) SetCompactionFilter(filter CompactionFilter) *Options {
	o.filter = filter
	return o
}

// SetCompactionFilterFactory sets what makes a filter for each job. It has no effect if there is a compaction filter.
func (o *Options) SetCompactionFilterFactory(factory CompactionFilterFactory) *Options {
	o.filterFactory = factory
	return o
}

// AddEventListener adds a listener. The listeners are called in the order in which they were added.
func (o *Options) AddEventListener(listener *EventListener) *Options {
	o.listeners = append(o.listeners, listener)
	return o
}

// SetLogger sets what receives the lines of the log, from a level on. By default they go to a file LOG.
func (o *Options) SetLogger(level LogLevel, logger Logger) *Options {
	o.logLevel, o.logger = level, logger
	return o
}

// SetRateLimiter sets what limits the writes of background work. Databases may share it.
func (o *Options) SetRateLimiter(limiter *RateLimiter) *Options {
	o.rateLimiter = limiter
	return o
}

// SetWriteBufferManager sets what limits the memory of memtables and filters. Databases may share it.
func (o *Options) SetWriteBufferManager(manager *WriteBufferManager) *Options {
	o.bufferManager = manager
	return o
}

// SetStatistics sets what counts the work of the database. Databases may share it.
func (o *Options) SetStatistics(statistics *Statistics) *Options {
	o.statistics = statistics
	return o
}

// SetPanicHandler sets what is called with each panic of a comparator, filter, listener or logger. By default the panic
// is written by the package log, as is a panic of the handler. The handler is called by the thread of the callback.
func (o *Options) SetPanicHandler(handler func(*PanicError)) *Options {
	o.onPanic = handler
	return o
}

// SetLockWait sets how long Open waits for the lock of the database. See also OpenContext.
func (o *Options) SetLockWait(wait time.Duration) *Options {
	return o.setInt("lock_wait_micros", max(wait.Microseconds(), 0))
}
