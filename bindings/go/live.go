package cambium

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
)

// live counts the objects that have to be closed and are not, by kind. The tests of this package switch it on, to find
// leaks.
var live liveObjects

type liveObjects struct {
	isOn   atomic.Bool
	mu     sync.Mutex
	counts map[string]int
}

func (l *liveObjects) add(kind string)    { l.change(kind, 1) }
func (l *liveObjects) remove(kind string) { l.change(kind, -1) }

func (l *liveObjects) change(kind string, by int) {
	if !l.isOn.Load() {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.counts == nil {
		l.counts = make(map[string]int)
	}
	l.counts[kind] += by
}

// list names what is not closed.
func (l *liveObjects) list() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var left []string
	for _, kind := range slices.Sorted(maps.Keys(l.counts)) {
		if count := l.counts[kind]; count != 0 {
			left = append(left, fmt.Sprintf("%s: %d", kind, count))
		}
	}
	return left
}
