// Command bench measures random reads and a scan of an existing database, which has the keys key0000000000 to
// key0000099999 and values of 1,024 bytes.
//
//	go run ./bench DIRECTORY SECONDS [alloc]
//
// Reads use AppendGet with one buffer; with alloc they use Get, which allocates each value.
package main

import (
	"fmt"
	"os"
	"strconv"
	"time"

	"cambium.example/cambium"
)

const keys = 100_000

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	allocates := len(os.Args) == 4 && os.Args[3] == "alloc"
	if len(os.Args) != 3 && !allocates {
		return fmt.Errorf("usage: %s DIRECTORY SECONDS [alloc]", os.Args[0])
	}
	seconds, err := strconv.ParseFloat(os.Args[2], 64)
	if err != nil {
		return err
	}
	db, err := cambium.OpenReadOnly(os.Args[1], nil)
	if err != nil {
		return err
	}
	defer db.Close()
	var buffer []byte
	get := func(key []byte) (value []byte, err error) {
		buffer, err = db.AppendGet(buffer[:0], key, nil)
		return buffer, err
	}
	if allocates {
		get = func(key []byte) ([]byte, error) { return db.Get(key, nil) }
	}
	if err := gets(get, time.Duration(seconds*float64(time.Second))); err != nil {
		return err
	}
	return scan(db)
}

// gets reads random keys.
func gets(get func(key []byte) ([]byte, error), length time.Duration) error {
	key := []byte("key0000000000")
	state := uint64(0x9e3779b97f4a7c15) // xorshift
	begin := time.Now()
	count := 0
	for elapsed := time.Duration(0); elapsed < length; elapsed = time.Since(begin) {
		for range 1_000 {
			state ^= state << 13
			state ^= state >> 7
			state ^= state << 17
			number := state % keys
			for i := len(key) - 1; i >= 3; i-- {
				key[i] = byte('0' + number%10)
				number /= 10
			}
			value, err := get(key)
			if err != nil {
				return err
			}
			if len(value) != 1_024 {
				return fmt.Errorf("the value of %s has %d bytes", key, len(value))
			}
		}
		count += 1_000
	}
	fmt.Printf("get 1024: %d ns\n", time.Since(begin).Nanoseconds()/int64(count))
	return nil
}

// scan reads all entries.
func scan(db *cambium.DB) error {
	it, err := db.NewIterator(nil)
	if err != nil {
		return err
	}
	defer it.Close()
	begin := time.Now()
	count, bytes := 0, 0
	for key, value := range it.All() {
		bytes += len(key) + len(value)
		count++
	}
	if err := it.Err(); err != nil {
		return err
	}
	if count != keys {
		return fmt.Errorf("%d entries of %d bytes", count, bytes)
	}
	fmt.Printf("scan 1024: %d ns per entry\n", time.Since(begin).Nanoseconds()/int64(count))
	return nil
}
