package cambium

// #include "shim.h"
import "C"

import "runtime/cgo"

// LogLevel is the level of a line of the log.
type LogLevel int

// The levels.
const (
	LogDebug LogLevel = 0
	LogInfo  LogLevel = 1
	LogWarn  LogLevel = 2
	LogError LogLevel = 3
)

// Logger receives a line of the log, without a line end. It is called by any thread, several at once, and must not call
// the database.
type Logger func(level LogLevel, line string)

// DiscardLog is a Logger that drops everything.
func DiscardLog(LogLevel, string) {}

type logSink struct {
	log     Logger
	onPanic func(*PanicError)
}

//export cambiumGoLog
func cambiumGoLog(handle C.uintptr_t, level C.int, line *C.char, length C.size_t) {
	sink := cgo.Handle(handle).Value().(*logSink)
	defer reporter{"logger", sink.onPanic}.recovered()
	sink.log(LogLevel(level), string(view(line, length)))
}
