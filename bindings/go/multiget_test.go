package cambium

import (
	"bytes"
	"testing"
)

func TestMultiGet(t *testing.T) {
	db := openNew(t, small())
	fill(t, db, 1_000, 500)
	put(t, db, "empty", "", "", "of no bytes")
	keys := [][]byte{[]byte("empty"), []byte("none"), nil}
	for i := range 1_000 {
		key, _ := numbered(i, 0)
		keys = append(keys, key)
	}
	for _, count := range []int{len(keys), 20, 3} { // held, and copied at once
		values, err := db.MultiGet(keys[:count], nil)
		must(t, err)
		if len(values) != count || values[0] == nil || len(values[0]) != 0 || values[1] != nil ||
			string(values[2]) != "of no bytes" {
			t.Fatalf("the first values are %q", values[:3])
		}
		for i, value := range values[3:] {
			if _, want := numbered(i, 500); !bytes.Equal(value, want) {
				t.Fatalf("value %d is %q", i, value)
			}
			if cap(value) != len(value) {
				t.Fatal("an append to a value would change the next one")
			}
		}
	}
	none, err := db.MultiGet(nil, nil)
	must(t, err)
	if len(none) != 0 {
		t.Fatal("values of no keys")
	}
	only, err := db.MultiGet([][]byte{[]byte("empty")}, nil)
	must(t, err)
	if only[0] == nil {
		t.Fatal("an empty value is nil")
	}
	only, err = db.MultiGet([][]byte{make([]byte, 1<<20)}, nil)
	if err == nil && only[0] != nil {
		t.Fatal("a key of 1 MiB has a value")
	}
}
