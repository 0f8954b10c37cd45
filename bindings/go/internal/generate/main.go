// Command generate writes the parts of the binding that follow from gather.h and from the table of options. These are
// the Go constants, the functions that set options, and C assertions. The assertions fail if the header of a build has
// another layout than the header from which the files were generated.
//
//	generate HEADER FOLDER
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: generate HEADER FOLDER")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

func run(header, folder string) error {
	text, err := os.ReadFile(header)
	if err != nil {
		return err
	}
	files, err := generate(string(text))
	if err != nil {
		return err
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// generate returns the generated files by name.
func generate(header string) (map[string][]byte, error) {
	defines, err := parseDefines(header)
	if err != nil {
		return nil, err
	}
	structs, err := parseStructs(header, defines)
	if err != nil {
		return nil, err
	}
	constants, err := writeConstants(defines)
	if err != nil {
		return nil, err
	}
	setters, err := writeSetters(structs)
	if err != nil {
		return nil, err
	}
	return map[string][]byte{
		"constants.go":   constants,
		"setters.go":     setters,
		"header_check.h": writeChecks(defines, structs),
	}, nil
}
