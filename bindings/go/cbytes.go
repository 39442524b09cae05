package cambium

// #include <stdlib.h>
// #include "shim.h"
import "C"

import (
	"strings"
	"unsafe"
)

// chars returns the address of the bytes, for one call.
func chars(b []byte) *C.char { return (*C.char)(unsafe.Pointer(unsafe.SliceData(b))) }

var noBytes [1]byte

// bound returns the address of a bound, which for C must not be NULL if there is one: nil is none, and empty is the
// empty key.
func bound(b []byte) *C.char {
	if b != nil && len(b) == 0 {
		return (*C.char)(unsafe.Pointer(&noBytes))
	}
	return chars(b)
}

// charsOf returns the address of the bytes of a string, for one call.
func charsOf(s string) *C.char { return (*C.char)(unsafe.Pointer(unsafe.StringData(s))) }

// view is memory of C as a slice, valid as long as C says.
func view(bytes *C.char, length C.size_t) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(bytes)), int(length))
}

// cString makes a text of C. The result is freed by freeString. A text of C cannot have a zero byte.
func cString(what, text string) (*C.char, error) {
	if strings.IndexByte(text, 0) >= 0 {
		return nil, invalidArgument("%s has a zero byte: %q", what, text)
	}
	return C.CString(text), nil
}

func freeString(text *C.char) { C.free(unsafe.Pointer(text)) }

// cStrings makes texts of C, which freeStrings frees.
func cStrings(what string, texts []string) ([]*C.char, error) {
	list := make([]*C.char, 0, len(texts))
	for _, each := range texts {
		text, err := cString(what, each)
		if err != nil {
			freeStrings(list)
			return nil, err
		}
		list = append(list, text)
	}
	return list, nil
}

func freeStrings(list []*C.char) {
	for _, each := range list {
		freeString(each)
	}
}

// takeText copies a text of C and frees it.
func takeText(text *C.char) string {
	s := C.GoString(text)
	C.cambium_free(unsafe.Pointer(text))
	return s
}

// takeStrings copies a list of texts of C and frees it.
func takeStrings(list **C.char, count C.size_t) []string {
	texts := make([]string, count)
	for i, each := range unsafe.Slice(list, int(count)) {
		texts[i] = C.GoString(each)
	}
	C.cambium_string_list_destroy(list, count)
	return texts
}

func truth(b bool) C.uchar {
	if b {
		return 1
	}
	return 0
}
