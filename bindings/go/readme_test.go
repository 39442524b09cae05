package cambium

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The quickstart of README.md is examples/quickstart/main.go, and prints what README.md says.
func TestQuickstart(t *testing.T) {
	notShort(t)
	readme, err := os.ReadFile("README.md")
	must(t, err)
	program, err := os.ReadFile("examples/quickstart/main.go")
	must(t, err)
	_, body, _ := strings.Cut(string(program), "func run(")
	if !strings.Contains(string(readme), "func run("+body) {
		t.Error("README.md does not have the function run of the program")
	}
	for _, line := range []string{"package main", `"cambium.example/cambium"`} {
		if !strings.Contains(string(readme), line) {
			t.Errorf("README.md does not have %s", line)
		}
	}
	binary := filepath.Join(t.TempDir(), "quickstart")
	if out, err := exec.Command("go", "build", "-o", binary, "./examples/quickstart").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	out, err := exec.Command(binary, newPath(t)).CombinedOutput()
	must(t, err)
	want := "oak: a ring a year\nelm: none\nbeech: smooth bark\nbirch: white bark\n"
	if string(out) != want || !strings.Contains(string(readme), want) {
		t.Fatalf("the program prints %q", out)
	}
}

// The benchmark runs on a database as it expects it.
func TestBenchmarkProgram(t *testing.T) {
	notShort(t)
	path := newPath(t)
	db := openAt(t, path, small().SetWriteBufferSize(16<<20))
	batch := NewWriteBatch()
	value := make([]byte, 1_024)
	for i := range 100_000 {
		batch.Put(append([]byte("key"), digits(i)...), value)
		if batch.Len() == 1_000 {
			must(t, db.Write(batch, nil))
			batch.Reset()
		}
	}
	must(t, db.Close())
	binary := filepath.Join(t.TempDir(), "bench")
	if out, err := exec.Command("go", "build", "-o", binary, "./bench").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, arguments := range [][]string{{path, "0.05"}, {path, "0.05", "alloc"}} {
		out, err := exec.Command(binary, arguments...).CombinedOutput()
		if err != nil || !strings.Contains(string(out), "get 1024: ") || !strings.Contains(string(out), "scan 1024: ") {
			t.Fatalf("%v: %s", err, out)
		}
	}
	if exec.Command(binary).Run() == nil {
		t.Fatal("the benchmark runs without arguments")
	}
}

func digits(n int) []byte {
	text := []byte("0000000000")
	for i := len(text) - 1; i >= 0; i-- {
		text[i] = byte('0' + n%10)
		n /= 10
	}
	return text
}
