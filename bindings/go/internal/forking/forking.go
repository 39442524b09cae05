// Package forking forks the process, for the tests of package cambium: Go cannot, and test files cannot use cgo. The
// child runs C only.
package forking

/*
#include <cambium/c.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

// Reports the result of a call in the child: 0 if it was refused, and why.
static void tell(int out, const char* call, char* error) {
  const char* const text = error == NULL ? "no error" : error;
  if (write(out, call, strlen(call)) < 0 || write(out, ": ", 2) < 0 || write(out, text, strlen(text)) < 0 ||
      write(out, "\n", 1) < 0) {
    _exit(2);
  }
}

static void use(cambium_t* db, int out) {
  cambium_readoptions_t* const read = cambium_readoptions_create();
  cambium_writeoptions_t* const write_options = cambium_writeoptions_create();
  cambium_flushoptions_t* const flush = cambium_flushoptions_create();
  char* error = NULL;
  size_t length;
  cambium_put(db, write_options, "a", 1, "child", 5, &error);
  tell(out, "put", error);
  error = NULL;
  cambium_get(db, read, "a", 1, &length, &error);
  tell(out, "get", error);
  error = NULL;
  cambium_iterator_t* const iterator = cambium_create_iterator(db, read);
  cambium_iter_seek_to_first(iterator);
  cambium_iter_get_error(iterator, &error);
  tell(out, "iterator", error);
  error = NULL;
  cambium_flush(db, flush, &error);
  tell(out, "flush", error);
  error = NULL;
  cambium_close_with_status(db, &error);
  tell(out, "close", error);
}

// Uses the database in a forked child, which writes to `out`. Returns the child's status; -1: no fork.
static int fork_and_use(cambium_t* db, int out) {
  int status = -1;
  const pid_t child = fork();
  if (child < 0) return -1;
  if (child == 0) {
    alarm(30);  // ends a child that hangs
    use(db, out);
    _exit(0);
  }
  waitpid(child, &status, 0);
  return status;
}
*/
import "C"

import (
	"io"
	"os"
	"unsafe"
)

// Use uses a cambium_t in a forked child. It returns the child's status, and a line for each call.
func Use(db unsafe.Pointer) (status int, lines string, err error) {
	in, out, err := os.Pipe()
	if err != nil {
		return 0, "", err
	}
	defer in.Close()
	status = int(C.fork_and_use((*C.cambium_t)(db), C.int(out.Fd())))
	out.Close()
	bytes, err := io.ReadAll(in)
	return status, string(bytes), err
}
