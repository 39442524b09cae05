package cambium

import "iter"

// All returns the entries from the first one on, for a range statement. The bytes are valid until the next step of the
// loop. After the loop, Err says whether it has ended early.
func (it *Iterator) All() iter.Seq2[[]byte, []byte] { return it.entriesFrom(it.First, it.Next) }

// Backward returns the entries from the last one back; see All.
func (it *Iterator) Backward() iter.Seq2[[]byte, []byte] { return it.entriesFrom(it.Last, it.Prev) }

// From returns the entries from the first one on whose key is not before the given one; see All.
func (it *Iterator) From(key []byte) iter.Seq2[[]byte, []byte] {
	return it.entriesFrom(func() bool { return it.Seek(key) }, it.Next)
}

// BackwardFrom returns the entries from the last one back whose key is not after the given one; see All.
func (it *Iterator) BackwardFrom(key []byte) iter.Seq2[[]byte, []byte] {
	return it.entriesFrom(func() bool { return it.SeekForPrev(key) }, it.Prev)
}

// Keys returns the keys from the first one on; see All.
func (it *Iterator) Keys() iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for ok := it.First(); ok; ok = it.Next() {
			if !yield(it.Key()) {
				return
			}
		}
	}
}

func (it *Iterator) entriesFrom(begin, step func() bool) iter.Seq2[[]byte, []byte] {
	return func(yield func(key, value []byte) bool) {
		for ok := begin(); ok; ok = step() {
			value := it.Value()
			if !it.isAt { // OnDemand: the value cannot be read
				return
			}
			if !yield(it.Key(), value) {
				return
			}
		}
	}
}
