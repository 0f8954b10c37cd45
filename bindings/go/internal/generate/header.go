package main

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// A define is one named value of the header and the comment that follows it.
type define struct {
	name    string
	value   int64
	comment string
}

// A field is a member of a struct. The offset assumes that the struct has no padding.
type field struct {
	name   string
	offset int64
	cType  string
}

type layout struct {
	name   string
	fields []field
	size   int64
}

var (
	continuation   = regexp.MustCompile(`\s*\\\n\s*`)
	definePattern  = regexp.MustCompile(`(?m)^#define (GTH_[A-Z0-9_]+) (-?[0-9]+)(?:[ \t]*/\*(?:\*<)?((?s:.*?))\*/)?[ \t]*$`)
	structPattern  = regexp.MustCompile(`(?s)typedef struct (gth_\w+) \{(.*?)\} gth_\w+;`)
	commentPattern = regexp.MustCompile(`(?s)/\*.*?\*/`)
	memberPattern  = regexp.MustCompile(`^(.*?)(\w+)(?:\[(\w+)\])?$`)
)

func parseDefines(header string) ([]define, error) {
	var defines []define
	header = continuation.ReplaceAllString(header, " ")
	for _, match := range definePattern.FindAllStringSubmatch(header, -1) {
		value, err := strconv.ParseInt(match[2], 10, 64)
		if err != nil {
			return nil, err
		}
		defines = append(defines, define{match[1], value, strings.Join(strings.Fields(match[3]), " ")})
	}
	if len(defines) == 0 {
		return nil, fmt.Errorf("the header defines nothing")
	}
	return defines, nil
}

func parseStructs(header string, defines []define) ([]layout, error) {
	var structs []layout
	for _, match := range structPattern.FindAllStringSubmatch(header, -1) {
		fields, size, err := parseFields(commentPattern.ReplaceAllString(match[2], ""), defines)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", match[1], err)
		}
		structs = append(structs, layout{match[1], fields, size})
	}
	return structs, nil
}

func parseFields(body string, defines []define) ([]field, int64, error) {
	var fields []field
	var offset int64
	for _, member := range strings.Split(body, ";") {
		member = strings.TrimSpace(member)
		if member == "" {
			continue
		}
		match := memberPattern.FindStringSubmatch(member)
		if match == nil {
			return nil, 0, fmt.Errorf("cannot read the field %q", member)
		}
		size, err := sizeOf(match[1])
		if err != nil {
			return nil, 0, err
		}
		count, err := countOf(match[3], defines)
		if err != nil {
			return nil, 0, err
		}
		fields = append(fields, field{match[2], offset, strings.TrimSpace(match[1])})
		offset += size * count
	}
	return fields, offset, nil
}

func sizeOf(name string) (int64, error) {
	name = strings.TrimSpace(name)
	switch {
	case strings.HasSuffix(name, "*"), strings.HasSuffix(name, "_fn"), name == "int64_t", name == "uint64_t":
		return 8, nil
	case name == "int32_t", name == "uint32_t":
		return 4, nil
	case name == "char":
		return 1, nil
	}
	return 0, fmt.Errorf("fields of type %q are not known", name)
}

func countOf(text string, defines []define) (int64, error) {
	if text == "" {
		return 1, nil
	}
	for _, known := range defines {
		if known.name == text {
			return known.value, nil
		}
	}
	return strconv.ParseInt(text, 10, 64)
}
