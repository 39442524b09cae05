package cambium

// #include "shim.h"
import "C"

import (
	"errors"
	"fmt"
	"strings"
	"unsafe"
)

// Errors to compare with, by errors.Is. An *Error of the library matches the one of its code, and in addition
// ErrNoSpace, ErrLocked, ErrFatal and ErrOutOfMemory if they apply.
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
	// ErrFatal: the database takes no writes until it is opened again.
	ErrFatal = errors.New("cambium: fatal until reopened")
	// ErrOutOfMemory: the library could not allocate memory in a call. Such an error also matches ErrAborted.
	ErrOutOfMemory = errors.New("cambium: out of memory")

	// ErrClosed: the object, or the database to which it belongs, is closed. The library was not called.
	ErrClosed = errors.New("cambium: closed")
)

// Code says what kind of error an *Error is. The numbers are those of the library.
type Code uint8

// The codes of the library.
const (
	CodeUnknown             Code = 0
	CodeNotFound            Code = 1
	CodeCorruption          Code = 2
	CodeNotSupported        Code = 3
	CodeInvalidArgument     Code = 4
	CodeIO                  Code = 5
	CodeIncomplete          Code = 7
	CodeShutdownInProgress  Code = 8
	CodeTimedOut            Code = 9
	CodeAborted             Code = 10
	CodeBusy                Code = 11
	CodeExpired             Code = 12
	CodeTryAgain            Code = 13
	CodeColumnFamilyDropped Code = 15
)

// The code, the text of the library for it, and the error to compare with.
var codes = []struct {
	code     Code
	text     string
	sentinel error
}{
	{CodeNotFound, "NotFound", ErrNotFound},
	{CodeCorruption, "Corruption", ErrCorruption},
	{CodeNotSupported, "Not implemented", ErrNotSupported},
	{CodeInvalidArgument, "Invalid argument", ErrInvalidArgument},
	{CodeIO, "IO error", ErrIO},
	{CodeIncomplete, "Result incomplete", ErrIncomplete},
	{CodeShutdownInProgress, "Shutdown in progress", ErrShutdownInProgress},
	{CodeTimedOut, "Operation timed out", ErrTimedOut},
	{CodeAborted, "Operation aborted", ErrAborted},
	{CodeBusy, "Resource busy", ErrBusy},
	{CodeExpired, "Operation expired", ErrExpired},
	{CodeTryAgain, "Operation failed. Try again.", ErrTryAgain},
	{CodeColumnFamilyDropped, "Column family dropped", ErrColumnFamilyDropped},
}

// Error is an error of the library.
type Error struct {
	Code    Code
	NoSpace bool   // the disk or the quota is full
	Locked  bool   // another handle has the database open
	Fatal   bool   // the database takes no writes until it is opened again
	Message string // what the error is about: a file and an offset, an option and its range
	text    string // all of it, as the library gives it
}

// Error returns the text of the library.
func (e *Error) Error() string { return "cambium: " + e.text }

// Is makes errors.Is compare e with the Err variables of this package.
func (e *Error) Is(target error) bool {
	switch target {
	case ErrNoSpace:
		return e.NoSpace
	case ErrLocked:
		return e.Locked
	case ErrFatal:
		return e.Fatal
	case ErrOutOfMemory:
		return e.Code == CodeAborted && (e.Message == "out of memory" || e.Message == noMemoryForMessage)
	}
	for _, each := range codes {
		if each.code == e.Code {
			return target == each.sentinel
		}
	}
	return false
}

// What the library says if it has no memory to copy the message of an error.
const noMemoryForMessage = "no memory for the error message"

// parseError reads the text of an error of the C interface: a code, marks in parentheses, and a message.
func parseError(text string) *Error {
	e := &Error{text: text}
	rest := text
	for _, each := range codes {
		if after, found := strings.CutPrefix(text, each.text); found {
			e.Code, rest = each.code, after
			break
		}
	}
	for _, mark := range []struct {
		text string
		is   *bool
	}{{" (no space)", &e.NoSpace}, {" (locked)", &e.Locked}, {" (fatal until reopened)", &e.Fatal}} {
		if after, found := strings.CutPrefix(rest, mark.text); found {
			*mark.is, rest = true, after
		}
	}
	e.Message = strings.TrimPrefix(rest, ": ")
	return e
}

// takeError converts an error of the C interface, and frees it. NULL is nil.
func takeError(text *C.char) error {
	if text == nil {
		return nil
	}
	err := parseError(C.GoString(text))
	C.cambium_free(unsafe.Pointer(text))
	return err
}

// takeErrorAt does the same with an address that C returned in an integer.
func takeErrorAt(address C.uintptr_t) error {
	return takeError(C.cambium_go_text(address))
}

func outOfMemory() error { return parseError("Operation aborted: out of memory") }

func invalidArgument(format string, arguments ...any) error {
	return parseError("Invalid argument: " + fmt.Sprintf(format, arguments...))
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
