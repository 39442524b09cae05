package cambium

import (
	"os/exec"
	"strings"
	"testing"

	"cambium.example/cambium/internal/forking"
)

// In a forked child every call is an error, and none hangs. The parent goes on.
func TestFork(t *testing.T) {
	db := openNew(t, small())
	put(t, db, "a", "1")
	status, lines, err := forking.Use(db.Address())
	must(t, err)
	if status != 0 {
		t.Fatalf("the child has the status %#x and said %q", status, lines)
	}
	calls := strings.Split(strings.TrimSpace(lines), "\n")
	if len(calls) != 5 {
		t.Fatalf("the child said %q", lines)
	}
	for _, call := range calls {
		name, text, _ := strings.Cut(call, ": ")
		if e := newError(text); e.Code != CodeNotSupported {
			t.Errorf("%s in a child: %s", name, text)
		}
	}
	put(t, db, "b", "2")
	wantGet(t, db, "a", "1", nil)
}

// A program that os/exec starts holds nothing of the database open.
func TestExec(t *testing.T) {
	path := newPath(t)
	db := openAt(t, path, small())
	put(t, db, "a", "1")
	command := exec.Command("sleep", "30")
	must(t, command.Start())
	defer command.Wait()
	defer command.Process.Kill()
	must(t, db.Close())
	db = openAt(t, path, small())
	wantGet(t, db, "a", "1", nil)
}
