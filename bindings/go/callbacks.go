package cambium

// #include "shim.h"
import "C"

import (
	"log"
	"runtime/cgo"
	"runtime/debug"
)

// reporter reports the panics of a callback.
type reporter struct {
	callback string
	onPanic  func(*PanicError)
}

// panicked is called by the deferred function that has recovered `value`.
func (r reporter) panicked(value any) (err *PanicError) {
	err = &PanicError{Callback: r.callback, Value: value, Stack: debug.Stack()}
	defer func() {
		if again := recover(); again != nil {
			logPanic(&PanicError{Callback: "panic handler", Value: again, Stack: debug.Stack()})
		}
	}()
	r.onPanic(err)
	return err
}

// recovered reports a panic, if there is one. It must be deferred itself.
func (r reporter) recovered() {
	if value := recover(); value != nil {
		r.panicked(value)
	}
}

func logPanic(err *PanicError) { log.Printf("%v\n%s", err, err.Stack) }

//export cambiumGoRelease
func cambiumGoRelease(handle C.uintptr_t) { cgo.Handle(handle).Delete() }
