package cambium

// #include "shim.h"
// #include <stdlib.h>
import "C"

import (
	"errors"
	"fmt"
	"unsafe"
)

// Errors to compare with, by errors.Is. An *Error of the library matches the one of its code, and in addition the one of
// its subcode and ErrFatal if they apply.
var (
	ErrNotFound            = errors.New("cambium: not found")
	ErrCorruption          = errors.New("cambium: corruption")
	ErrNotSupported        = errors.New("cambium: not supported")
	ErrInvalidArgument     = errors.New("cambium: invalid argument")
	ErrIO                  = errors.New("cambium: input or output error")
	ErrIncomplete          = errors.New("cambium: result incomplete")
	ErrShutdownInProgress  = errors.New("cambium: shutdown in progress")
	ErrTimedOut            = errors.New("cambium: timed out")
	ErrAborted             = errors.New("cambium: aborted")
	ErrBusy                = errors.New("cambium: busy")
	ErrExpired             = errors.New("cambium: expired")   // a transaction's time has passed
	ErrTryAgain            = errors.New("cambium: try again") // a new transaction may succeed
	ErrColumnFamilyDropped = errors.New("cambium: column family dropped")

	// ErrNoSpace: the disk or the quota is full. Such an error also matches ErrIO.
	ErrNoSpace = errors.New("cambium: no space")
	// ErrLocked: another handle has the database open. Such an error also matches ErrIO.
	ErrLocked = errors.New("cambium: locked")
	// ErrPathNotFound: a file or a directory does not exist. Such an error also matches ErrIO.
	ErrPathNotFound = errors.New("cambium: no such file or directory")
	// ErrDenied: the system denied this process access, a file descriptor or memory, which says nothing about the file.
	// Such an error also matches ErrIO.
	ErrDenied = errors.New("cambium: denied")
	// ErrLockTimeout: a transaction has waited too long for the lock of a key. Such an error also matches ErrTimedOut.
	ErrLockTimeout = errors.New("cambium: lock timeout")
	// ErrDeadlock: transactions wait for each other. Such an error also matches ErrBusy.
	ErrDeadlock = errors.New("cambium: deadlock")
	// ErrLockLimit: too many keys are locked. Such an error also matches ErrBusy.
	ErrLockLimit = errors.New("cambium: lock limit")
	// ErrOutOfMemory: the library could not allocate memory in a call. Such an error also matches ErrAborted.
	ErrOutOfMemory = errors.New("cambium: out of memory")
	// ErrFatal: the database takes no writes until it is opened again.
	ErrFatal = errors.New("cambium: fatal until reopened")

	// ErrClosed: the object, or the database to which it belongs, is closed. The library was not called.
	ErrClosed = errors.New("cambium: closed")
)

// Code says what kind of error an *Error is. The numbers are those of the library.
type Code uint8

// The codes of the library.
const (
	CodeNotFound            Code = C.cambium_code_not_found
	CodeCorruption          Code = C.cambium_code_corruption
	CodeNotSupported        Code = C.cambium_code_not_supported
	CodeInvalidArgument     Code = C.cambium_code_invalid_argument
	CodeIO                  Code = C.cambium_code_io_error
	CodeIncomplete          Code = C.cambium_code_incomplete
	CodeShutdownInProgress  Code = C.cambium_code_shutdown_in_progress
	CodeTimedOut            Code = C.cambium_code_timed_out
	CodeAborted             Code = C.cambium_code_aborted
	CodeBusy                Code = C.cambium_code_busy
	CodeExpired             Code = C.cambium_code_expired
	CodeTryAgain            Code = C.cambium_code_try_again
	CodeColumnFamilyDropped Code = C.cambium_code_column_family_dropped
	CodeUnknown             Code = C.cambium_code_unknown
)

// Subcode says more about some errors of one code.
type Subcode uint8

// The subcodes of the library.
const (
	SubcodeNone         Subcode = C.cambium_subcode_none
	SubcodeNoSpace      Subcode = C.cambium_subcode_no_space       // CodeIO
	SubcodeLocked       Subcode = C.cambium_subcode_locked         // CodeIO
	SubcodePathNotFound Subcode = C.cambium_subcode_path_not_found // CodeIO
	SubcodeDenied       Subcode = C.cambium_subcode_denied         // CodeIO
	SubcodeLockTimeout  Subcode = C.cambium_subcode_lock_timeout   // CodeTimedOut
	SubcodeDeadlock     Subcode = C.cambium_subcode_deadlock       // CodeBusy
	SubcodeLockLimit    Subcode = C.cambium_subcode_lock_limit     // CodeBusy
	SubcodeOutOfMemory  Subcode = C.cambium_subcode_out_of_memory  // CodeAborted
)

// The errors to compare with.
var codes = map[Code]error{
	CodeNotFound:            ErrNotFound,
	CodeCorruption:          ErrCorruption,
	CodeNotSupported:        ErrNotSupported,
	CodeInvalidArgument:     ErrInvalidArgument,
	CodeIO:                  ErrIO,
	CodeIncomplete:          ErrIncomplete,
	CodeShutdownInProgress:  ErrShutdownInProgress,
	CodeTimedOut:            ErrTimedOut,
	CodeAborted:             ErrAborted,
	CodeBusy:                ErrBusy,
	CodeExpired:             ErrExpired,
	CodeTryAgain:            ErrTryAgain,
	CodeColumnFamilyDropped: ErrColumnFamilyDropped,
}

var subcodes = map[Subcode]error{
	SubcodeNoSpace:      ErrNoSpace,
	SubcodeLocked:       ErrLocked,
	SubcodePathNotFound: ErrPathNotFound,
	SubcodeDenied:       ErrDenied,
	SubcodeLockTimeout:  ErrLockTimeout,
	SubcodeDeadlock:     ErrDeadlock,
	SubcodeLockLimit:    ErrLockLimit,
	SubcodeOutOfMemory:  ErrOutOfMemory,
}

// Error is an error of the library.
type Error struct {
	Code    Code
	Subcode Subcode
	Fatal   bool   // the database takes no writes until it is opened again
	Message string // what the error is about: a file and an offset, an option and its range
	text    string // all of it, as the library gives it
}

// Error returns the text of the library.
func (e *Error) Error() string { return "cambium: " + e.text }

// Is makes errors.Is compare e with the Err variables of this package.
func (e *Error) Is(target error) bool {
	if target == ErrFatal {
		return e.Fatal
	}
	return target != nil && (target == codes[e.Code] || target == subcodes[e.Subcode])
}

// errorOf asks the library what an error is. It does not free the text.
func errorOf(text *C.char) *Error {
	described := C.cambium_go_describe(text)
	e := &Error{
		Code:    Code(described.code),
		Subcode: Subcode(described.subcode),
		Fatal:   described.severity == C.cambium_severity_fatal,
		text:    C.GoString(text),
	}
	e.Message = e.text[described.message:]
	return e
}

// newError makes an error like those of the library.
func newError(text string) *Error {
	copied := C.CString(text)
	defer C.free(unsafe.Pointer(copied))
	return errorOf(copied)
}

// takeError converts an error of the C interface, and frees it. NULL is nil.
func takeError(text *C.char) error {
	if text == nil {
		return nil
	}
	err := errorOf(text)
	C.cambium_free(unsafe.Pointer(text))
	return err
}

// takeErrorAt does the same with an address that C returned in an integer.
func takeErrorAt(address C.uintptr_t) error {
	return takeError(C.cambium_go_text(address))
}

func outOfMemory() error { return newError("Operation aborted (out of memory)") }

func invalidArgument(format string, arguments ...any) error {
	return newError("Invalid argument: " + fmt.Sprintf(format, arguments...))
}

// KeyError is the error of one key of a call for many keys.
type KeyError struct {
	Index int // of the key in the call
	Err   error
}

func (e *KeyError) Error() string { return fmt.Sprintf("key %d: %v", e.Index, e.Err) }

// Unwrap returns the error of the key.
func (e *KeyError) Unwrap() error { return e.Err }

// PanicError is the panic of a callback. Callbacks are called by the library, so a panic ends there.
type PanicError struct {
	Callback string // what panicked: "comparator x"
	Value    any    // what was given to panic
	Stack    []byte // of the goroutine
}

func (e *PanicError) Error() string {
	return fmt.Sprintf("cambium: panic in %s: %v", e.Callback, e.Value)
}

// Unwrap returns the value of the panic if that is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}
