package main

import (
	"bytes"
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestMain runs the command instead of the tests if LOOKUP_RUN is set.
func TestMain(m *testing.M) {
	if os.Getenv("LOOKUP_RUN") != "" {
		main()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func write(t *testing.T, name string, values any) string {
	t.Helper()
	var content bytes.Buffer
	if err := binary.Write(&content, binary.LittleEndian, values); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, content.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func lookup(t *testing.T, arguments ...string) (stdout []byte, stderr string, ok bool) {
	t.Helper()
	command := exec.Command(os.Args[0], arguments...)
	command.Env = append(os.Environ(), "LOOKUP_RUN=1")
	var out, err bytes.Buffer
	command.Stdout, command.Stderr = &out, &err
	ok = command.Run() == nil
	return out.Bytes(), err.String(), ok
}

func TestRowsAreWrittenToStandardOutput(t *testing.T) {
	table := write(t, "table", []float32{0, 1, 10, 11, 20, 21})
	out, report, ok := lookup(t, table, "2", write(t, "ids", []int64{2, 0, 2}))
	want, _ := binary.Append(nil, binary.LittleEndian, []float32{20, 21, 0, 1, 20, 21})
	if !ok || !bytes.Equal(out, want) || !strings.Contains(report, "3 rows") {
		t.Errorf("%v: %x, %s", ok, out, report)
	}
}

func TestInvalidIDIsReported(t *testing.T) {
	table := write(t, "table", []float32{0, 1, 10, 11})
	out, report, ok := lookup(t, table, "2", write(t, "ids", []int64{0, 7}))
	if ok || len(out) > 0 || !strings.Contains(report, "7") {
		t.Errorf("%v: %x, %s", ok, out, report)
	}
}

func TestInvalidArgumentsReturnErrors(t *testing.T) {
	table := write(t, "table", []float32{0, 1, 10})
	for _, arguments := range [][]string{{}, {table, "0", table}, {table, "x", table}, {table, "2", table}, {"none", "1", table}} {
		if _, report, ok := lookup(t, arguments...); ok || report == "" {
			t.Errorf("%v: no error", arguments)
		}
	}
}
