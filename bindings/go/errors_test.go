package cambium

import (
	"errors"
	"fmt"
	"testing"
)

func TestErrorsAreTheLibrarys(t *testing.T) {
	for _, each := range []struct {
		text    string
		code    Code
		message string
		matches []error
	}{
		{"NotFound", CodeNotFound, "", []error{ErrNotFound}},
		{"NotFound: it", CodeNotFound, "it", []error{ErrNotFound}},
		{"Corruption: bytes", CodeCorruption, "bytes", []error{ErrCorruption}},
		{"Not implemented: x", CodeNotSupported, "x", []error{ErrNotSupported}},
		{"Invalid argument: x: y", CodeInvalidArgument, "x: y", []error{ErrInvalidArgument}},
		{"IO error: x", CodeIO, "x", []error{ErrIO}},
		{"IO error (no space): x", CodeIO, "x", []error{ErrIO, ErrNoSpace}},
		{"IO error (locked): x", CodeIO, "x", []error{ErrIO, ErrLocked}},
		{"IO error (no space) (fatal until reopened): x", CodeIO, "x", []error{ErrIO, ErrNoSpace, ErrFatal}},
		{"IO error (fatal until reopened)", CodeIO, "", []error{ErrIO, ErrFatal}},
		{"IO error (not found): x", CodeIO, "x", []error{ErrIO, ErrPathNotFound}},
		{"IO error (denied): x", CodeIO, "x", []error{ErrIO, ErrDenied}},
		{"Result incomplete: x", CodeIncomplete, "x", []error{ErrIncomplete}},
		{"Shutdown in progress: x", CodeShutdownInProgress, "x", []error{ErrShutdownInProgress}},
		{"Operation timed out: x", CodeTimedOut, "x", []error{ErrTimedOut}},
		{"Operation aborted: x", CodeAborted, "x", []error{ErrAborted}},
		{"Operation timed out (lock): x", CodeTimedOut, "x", []error{ErrTimedOut, ErrLockTimeout}},
		{"Operation aborted (out of memory)", CodeAborted, "", []error{ErrAborted, ErrOutOfMemory}},
		{"Resource busy: x", CodeBusy, "x", []error{ErrBusy}},
		{"Resource busy (deadlock): x", CodeBusy, "x", []error{ErrBusy, ErrDeadlock}},
		{"Resource busy (lock limit): x", CodeBusy, "x", []error{ErrBusy, ErrLockLimit}},
		{"Operation expired: x", CodeExpired, "x", []error{ErrExpired}},
		{"Operation failed. Try again.: x", CodeTryAgain, "x", []error{ErrTryAgain}},
		{"Column family dropped: x", CodeColumnFamilyDropped, "x", []error{ErrColumnFamilyDropped}},
		{"something else", CodeUnknown, "something else", nil},
	} {
		e := newError(each.text)
		if e.Code != each.code || e.Message != each.message || e.Error() != "cambium: "+each.text {
			t.Errorf("%q is %+v", each.text, e)
		}
		wrapped := fmt.Errorf("context: %w", e)
		for _, sentinel := range []error{ErrNotFound, ErrCorruption, ErrNotSupported, ErrInvalidArgument, ErrIO,
			ErrIncomplete, ErrShutdownInProgress, ErrTimedOut, ErrAborted, ErrBusy, ErrExpired, ErrTryAgain,
			ErrColumnFamilyDropped, ErrNoSpace, ErrLocked, ErrPathNotFound, ErrDenied, ErrLockTimeout, ErrDeadlock,
			ErrLockLimit, ErrFatal, ErrOutOfMemory, ErrClosed} {
			want := false
			for _, match := range each.matches {
				want = want || match == sentinel
			}
			if errors.Is(wrapped, sentinel) != want {
				t.Errorf("%q is %v: %v", each.text, sentinel, !want)
			}
		}
	}
	if !errors.Is(outOfMemory(), ErrOutOfMemory) {
		t.Error("outOfMemory")
	}
}

func TestGuard(t *testing.T) {
	var g guard
	for range 2 {
		if !g.enter() {
			t.Fatal("an open guard lets no call in")
		}
	}
	if g.leave() || g.isClosed() {
		t.Fatal("an open guard is closed")
	}
	if first, idle := g.close(); !first || idle {
		t.Fatal("close in use")
	}
	if g.enter() || !g.isClosed() {
		t.Fatal("a closed guard lets a call in")
	}
	if first, idle := g.close(); first || idle {
		t.Fatal("second close")
	}
	if !g.leave() {
		t.Fatal("the last call does not know it")
	}
	g.reopen()
	if !g.enter() || g.leave() {
		t.Fatal("after reopen")
	}
	if first, idle := g.close(); !first || !idle {
		t.Fatal("close without calls")
	}
}
