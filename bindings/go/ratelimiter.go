package cambium

// #include "shim.h"
import "C"

import (
	"sync"
	"time"
)

// RateLimiter limits the bytes per second that the background work of one database, or of several, writes.
type RateLimiter struct {
	mu sync.RWMutex
	c  *C.cambium_ratelimiter_t
}

// NewRateLimiter makes a limiter. The rate is 16 KiB to 1 TiB a second, the period 1 ms to 10 s, the fairness 1 to 1000;
// a period or fairness of 0 is the library's default, 100 ms and 10. Open checks them.
func NewRateLimiter(bytesPerSecond int64, refillPeriod time.Duration, fairness int) *RateLimiter {
	if refillPeriod == 0 {
		refillPeriod = 100 * time.Millisecond
	}
	if fairness == 0 {
		fairness = 10
	}
	live.add("rate limiter")
	return &RateLimiter{c: C.cambium_ratelimiter_create(C.int64_t(bytesPerSecond),
		C.int64_t(refillPeriod.Microseconds()), C.int32_t(fairness))}
}

// SetBytesPerSecond changes the rate at once.
func (l *RateLimiter) SetBytesPerSecond(bytesPerSecond int64) error {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if l.c == nil {
		return ErrClosed
	}
	var errptr *C.char
	C.cambium_ratelimiter_set_bytes_per_second(l.c, C.int64_t(bytesPerSecond), &errptr)
	return takeError(errptr)
}

// BytesPerSecond returns the rate; 0 after Close.
func (l *RateLimiter) BytesPerSecond() int64 {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if l.c == nil {
		return 0
	}
	return int64(C.cambium_ratelimiter_get_bytes_per_second(l.c))
}

// Close releases the limiter. Databases that use it keep what they need.
func (l *RateLimiter) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.c != nil {
		C.cambium_ratelimiter_destroy(l.c)
		l.c = nil
		live.remove("rate limiter")
	}
	return nil
}

func (l *RateLimiter) setIn(options *C.cambium_options_t) error {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if l.c == nil {
		return ErrClosed
	}
	C.cambium_options_set_ratelimiter(options, l.c)
	return nil
}
