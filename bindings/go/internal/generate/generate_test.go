package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// findHeader returns the path of gather.h. It prefers the header of the tree, because the checked-in files are
// generated from it.
func findHeader(t *testing.T) string {
	t.Helper()
	const tree = "../../../../include/gather/gather.h"
	if _, err := os.Stat(tree); err == nil {
		return tree
	}
	folder, err := exec.Command("pkg-config", "--variable=includedir", "gather").Output()
	if err != nil {
		t.Skip("neither the tree nor pkg-config has gather.h")
	}
	return filepath.Join(strings.TrimSpace(string(folder)), "gather", "gather.h")
}

func TestCheckedInFilesMatchTheHeader(t *testing.T) {
	header, err := os.ReadFile(findHeader(t))
	if err != nil {
		t.Fatal(err)
	}
	files, err := generate(string(header))
	if err != nil {
		t.Fatal(err)
	}
	for name, fresh := range files {
		found, err := os.ReadFile(filepath.Join("..", "..", name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(found, fresh) {
			t.Errorf("%s differs from the generated file: run go generate", name)
		}
	}
}

func TestUnknownValueIsRejected(t *testing.T) {
	if _, err := generate("#define GTH_NEW_KIND 1\n"); err == nil || !strings.Contains(err.Error(), "GTH_NEW_KIND") {
		t.Errorf("got %v", err)
	}
}

func TestUnknownFieldTypeIsRejected(t *testing.T) {
	const header = "#define GTH_OK 0\ntypedef struct gth_x {\n  float a;\n} gth_x;\n"
	if _, err := generate(header); err == nil || !strings.Contains(err.Error(), "float") {
		t.Errorf("got %v", err)
	}
}

func TestOffsetsOfStructFields(t *testing.T) {
	const body = "uint32_t size; int32_t count; const void *data; int64_t pair[2]; char text[GTH_N];"
	fields, size, err := parseFields(body, []define{{name: "GTH_N", value: 16}})
	if err != nil {
		t.Fatal(err)
	}
	if size != 48 || len(fields) != 5 || fields[2] != (field{"data", 8, "const void *"}) ||
		fields[4] != (field{"text", 32, "char"}) {
		t.Errorf("size %d, fields %v", size, fields)
	}
}

func TestOptionWithoutSetterIsRejected(t *testing.T) {
	fields := []field{{"size", 0, "uint32_t"}}
	for _, option := range options {
		fields = append(fields, field{option.field, 0, "int32_t"})
	}
	if _, err := writeSetters([]layout{{"gth_options", fields, 0}}); err != nil {
		t.Error(err)
	}
	more := append(fields, field{"new_switch", 0, "int32_t"})
	if _, err := writeSetters([]layout{{"gth_options", more, 0}}); err == nil || !strings.Contains(err.Error(), "new_switch") {
		t.Errorf("got %v", err)
	}
	if _, err := writeSetters([]layout{{"gth_options", fields[:len(fields)-1], 0}}); err == nil {
		t.Error("an option without a field was accepted")
	}
}

func TestDefineOnTwoLinesIsParsed(t *testing.T) {
	defines, err := parseDefines("#define GTH_NEW_A \\\n  2 /**< Its\n    meaning. */\n#define GTH_NEW_B 3\n")
	if err != nil || len(defines) != 2 || defines[0] != (define{"GTH_NEW_A", 2, "Its meaning."}) {
		t.Errorf("got %v, %v", defines, err)
	}
}
