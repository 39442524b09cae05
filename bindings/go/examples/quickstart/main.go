// Command quickstart is the program of README.md.
package main

import (
	"errors"
	"fmt"
	"log"
	"os"

	"cambium.example/cambium"
)

func main() {
	path := "quickstart.db"
	if len(os.Args) > 1 {
		path = os.Args[1]
	}
	if err := run(path); err != nil {
		log.Fatal(err)
	}
}

func run(path string) (err error) {
	db, err := cambium.Open(path, cambium.NewOptions().SetCreateIfMissing(true))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()

	// Durable when it returns.
	if err := db.Put([]byte("oak"), []byte("a ring a year"), cambium.Sync); err != nil {
		return err
	}
	batch := cambium.NewWriteBatch()
	batch.Put([]byte("beech"), []byte("smooth bark"))
	batch.Put([]byte("birch"), []byte("white bark"))
	batch.Delete([]byte("elm"))
	if err := db.Write(batch, nil); err != nil {
		return err
	}

	value, err := db.Get([]byte("oak"), nil)
	if err != nil {
		return err
	}
	fmt.Printf("oak: %s\n", value)
	if _, err := db.Get([]byte("elm"), nil); errors.Is(err, cambium.ErrNotFound) {
		fmt.Println("elm: none")
	}

	it, err := db.NewIterator(&cambium.IteratorOptions{Prefix: []byte("b")})
	if err != nil {
		return err
	}
	defer it.Close()
	for key, value := range it.All() {
		fmt.Printf("%s: %s\n", key, value)
	}
	return it.Err()
}
