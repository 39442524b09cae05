package cambium

import "sync/atomic"

const closedBit = 1 << 62

// guard counts the calls that use an object of C, so that the object is destroyed when none does. Once it is closed,
// enter returns false, and the call of leave that makes the count zero returns true.
type guard struct {
	state atomic.Int64 // the count, and closedBit
}

func (g *guard) enter() bool {
	for {
		state := g.state.Load()
		if state&closedBit != 0 {
			return false
		}
		if g.state.CompareAndSwap(state, state+1) {
			return true
		}
	}
}

// leave reports whether it was the last call after close.
func (g *guard) leave() bool { return g.state.Add(-1) == closedBit }

// close refuses new calls. It reports whether this call has closed it, and whether no call is running.
func (g *guard) close() (first, idle bool) {
	old := g.state.Or(closedBit)
	return old&closedBit == 0, old == 0
}

func (g *guard) isClosed() bool { return g.state.Load()&closedBit != 0 }

// reopen takes the effect of close back. No call must be running.
func (g *guard) reopen() { g.state.Store(0) }
