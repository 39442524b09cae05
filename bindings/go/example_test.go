package cambium_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"strconv"
	"strings"
	"time"

	"cambium.example/cambium"
)

// open opens a new database for an example.
func open(options *cambium.Options) (db *cambium.DB, remove func()) {
	path, err := os.MkdirTemp("", "cambium-example")
	if err != nil {
		log.Fatal(err)
	}
	db, err = cambium.Open(path, options.SetCreateIfMissing(true))
	if err != nil {
		log.Fatal(err)
	}
	return db, func() {
		if err := errors.Join(db.Close(), os.RemoveAll(path)); err != nil {
			log.Fatal(err)
		}
	}
}

func Example() {
	db, remove := open(cambium.NewOptions())
	defer remove()
	if err := db.Put([]byte("oak"), []byte("a ring a year"), cambium.Sync); err != nil {
		log.Fatal(err)
	}
	value, err := db.Get([]byte("oak"), nil)
	fmt.Println(string(value), err)
	_, err = db.Get([]byte("elm"), nil)
	fmt.Println(errors.Is(err, cambium.ErrNotFound))
	// Output:
	// a ring a year <nil>
	// true
}

func ExampleIterator_All() {
	db, remove := open(cambium.NewOptions())
	defer remove()
	batch := cambium.NewWriteBatch()
	for _, each := range []string{"a/1", "a/2", "b/1"} {
		batch.Put([]byte(each), []byte(strings.ToUpper(each)))
	}
	if err := db.Write(batch, nil); err != nil {
		log.Fatal(err)
	}
	it, err := db.NewIterator(&cambium.IteratorOptions{Prefix: []byte("a/")})
	if err != nil {
		log.Fatal(err)
	}
	defer it.Close()
	for key, value := range it.All() {
		fmt.Printf("%s=%s\n", key, value)
	}
	if err := it.Err(); err != nil {
		log.Fatal(err)
	}
	// Output:
	// a/1=A/1
	// a/2=A/2
}

func ExampleSnapshot() {
	db, remove := open(cambium.NewOptions())
	defer remove()
	put := func(value string) {
		if err := db.Put([]byte("key"), []byte(value), nil); err != nil {
			log.Fatal(err)
		}
	}
	put("old")
	snapshot, err := db.NewSnapshot()
	if err != nil {
		log.Fatal(err)
	}
	defer snapshot.Close()
	put("new")
	then, err := db.Get([]byte("key"), &cambium.ReadOptions{Snapshot: snapshot})
	fmt.Println(string(then), err)
	// Output: old <nil>
}

// A filter that removes values whose first line is a time in the past.
func ExampleFilterFunc() {
	expired := cambium.FilterFunc(func(_ int, _, value []byte) cambium.Decision {
		line, _, _ := strings.Cut(string(value), "\n")
		if end, err := time.Parse(time.RFC3339, line); err == nil && end.Before(time.Now()) {
			return cambium.Remove
		}
		return cambium.Keep
	})
	db, remove := open(cambium.NewOptions().SetCompactionFilter(expired))
	defer remove()
	value := time.Now().Add(-time.Hour).Format(time.RFC3339) + "\nold news"
	if err := db.Put([]byte("key"), []byte(value), nil); err != nil {
		log.Fatal(err)
	}
	if err := db.CompactRange(context.Background(), cambium.Range{}, nil); err != nil {
		log.Fatal(err)
	}
	_, err := db.Get([]byte("key"), nil)
	fmt.Println(errors.Is(err, cambium.ErrNotFound))
	// Output: true
}

// Two accounts change together, or not at all. If others change one of them meanwhile, the function is called again.
func ExampleDB_UpdateWithRetry() {
	db, remove := open(cambium.NewOptions())
	defer remove()
	for _, name := range []string{"anna", "ben"} {
		if err := db.Put([]byte(name), []byte("100"), nil); err != nil {
			log.Fatal(err)
		}
	}
	add := func(tx *cambium.Transaction, name string, amount int) error {
		value, err := tx.GetForUpdate([]byte(name), nil)
		if err != nil {
			return err
		}
		has, err := strconv.Atoi(string(value))
		if err != nil {
			return err
		}
		if has+amount < 0 {
			return errors.New(name + " has too little")
		}
		return tx.Put([]byte(name), fmt.Append(nil, has+amount))
	}
	transfer := func(amount int) error {
		return db.UpdateWithRetry(context.Background(), func(tx *cambium.Transaction) error {
			if err := add(tx, "anna", -amount); err != nil {
				return err
			}
			return add(tx, "ben", amount)
		}, nil)
	}
	fmt.Println(transfer(30), transfer(90))
	value, err := db.Get([]byte("ben"), nil)
	fmt.Println(string(value), err)
	// Output:
	// <nil> anna has too little
	// 130 <nil>
}

// Begin, Commit and Rollback by hand. Of two transactions that write the same key, one can commit.
func ExampleDB_Begin() {
	db, remove := open(cambium.NewOptions())
	defer remove()
	first, err := db.Begin(nil)
	if err != nil {
		log.Fatal(err)
	}
	defer first.Rollback() // does nothing after a commit
	second, err := db.Begin(nil)
	if err != nil {
		log.Fatal(err)
	}
	defer second.Rollback()
	err = errors.Join(first.Put([]byte("key"), []byte("1")), second.Put([]byte("key"), []byte("2")))
	fmt.Println(err, first.Commit(), errors.Is(second.Commit(), cambium.ErrBusy))
	// Output: <nil> <nil> true
}
