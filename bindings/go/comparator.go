package cambium

// #include <stdlib.h>
// #include "shim.h"
import "C"

import (
	"fmt"
	"runtime/cgo"
	"strings"
)

// Comparator is an order of keys.
type Comparator struct {
	name    string
	compare func(a, b []byte) int // nil: the library's own of this name
	loose   bool
}

// The orders of the library: by unsigned bytes, which is the default, and its reverse.
var (
	BytewiseComparator        = &Comparator{name: "cambium.BytewiseComparator"}
	ReverseBytewiseComparator = &Comparator{name: "cambium.ReverseBytewiseComparator"}
)

// NewComparator makes an order of the caller's own. compare returns a number below, equal to or above 0 if a is before,
// equal to or after b. It is called by any thread, several at once, very often: a family with such an order is much
// slower than one with an order of the library. The slices are valid during the call and must not be changed. The name
// has 1 to 255 bytes and does not begin with "cambium."; under one name the order must never change.
//
// compare must not panic, and its answers must be consistent: the library sorts by them, and with contradictory answers
// it would leave the bounds of its memory. If compare panics, the panic is reported as Options.SetPanicHandler says, and
// the process ends, because no other answer is right.
func NewComparator(name string, compare func(a, b []byte) int) *Comparator {
	return &Comparator{name: name, compare: compare}
}

// NewLooseComparator makes an order in which keys with different bytes may be equal. There are no filters then.
func NewLooseComparator(name string, compare func(a, b []byte) int) *Comparator {
	return &Comparator{name: name, compare: compare, loose: true}
}

// Name returns the name.
func (c *Comparator) Name() string { return c.name }

// escapedName is the name as options have it in their text.
func (c *Comparator) escapedName() string {
	var escaped strings.Builder
	for i := range len(c.name) {
		if b := c.name[i]; b < ' ' || b > '~' || strings.IndexByte(`"#;=[]{}\`, b) >= 0 {
			fmt.Fprintf(&escaped, `\x%02x`, b)
		} else {
			escaped.WriteByte(b)
		}
	}
	return escaped.String()
}

// order is a comparator that a database uses.
type order struct {
	compare func(a, b []byte) int
	report  reporter
}

func (c *Comparator) build(onPanic func(*PanicError)) (*C.cambium_comparator_t, *order, error) {
	switch {
	case c == BytewiseComparator:
		return C.cambium_comparator_create_bytewise(), nil, nil
	case c == ReverseBytewiseComparator:
		return C.cambium_comparator_create_reverse_bytewise(), nil, nil
	case c.compare == nil:
		return nil, nil, invalidArgument("the comparator %q has no function", c.name)
	case strings.HasPrefix(c.name, "cambium."):
		return nil, nil, invalidArgument("the name of the comparator %q is reserved", c.name)
	case strings.IndexByte(c.name, 0) >= 0:
		return nil, nil, invalidArgument("the name of a comparator has a zero byte: %q", c.name)
	}
	o := &order{compare: c.compare, report: reporter{"comparator " + c.name, onPanic}}
	handle := cgo.NewHandle(o)
	made := C.cambium_go_comparator(C.uintptr_t(handle), charsOf(c.name), C.size_t(len(c.name)))
	if made == nil {
		handle.Delete()
		return nil, nil, outOfMemory()
	}
	C.cambium_comparator_set_equal_means_same_bytes(made, truth(!c.loose))
	return made, o, nil
}

//export cambiumGoCompare
func cambiumGoCompare(handle C.uintptr_t, a *C.char, aLength C.size_t, b *C.char, bLength C.size_t) (result C.int) {
	o := cgo.Handle(handle).Value().(*order)
	x, y := view(a, aLength), view(b, bLength)
	defer func() {
		if value := recover(); value != nil {
			o.report.panicked(value)
			C.abort()
		}
	}()
	switch n := o.compare(x, y); {
	case n < 0:
		return -1
	case n > 0:
		return 1
	}
	return 0
}
