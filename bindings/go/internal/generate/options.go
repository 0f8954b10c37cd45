package main

import (
	"bytes"
	"fmt"
	"go/format"
	"strings"
)

// An option is a field of gth_options and the Go function that sets it. If the struct also has a field with this name
// and the prefix has_, the function sets that field to 1.
type option struct {
	field    string
	name     string // of the function
	argument string
	goType   string
	comment  string
}

var options = []option{
	{"axis", "Axis", "axis", "int", "Axis sets the dim of params that indices select in. A negative axis counts from " +
		"the end. Without this option the axis is the number of batch dims."},
	{"batch_dims", "BatchDims", "count", "int", "BatchDims sets the number of leading dims that params and indices " +
		"share. For [Gather] a negative number counts from the rank of indices."},
	{"profile", "WithProfile", "profile", "Profile", "WithProfile gives a call the results of the named system in " +
		"every edge case. Other options override its switches."},
	{"opset", "Opset", "version", "int", "Opset sets the ONNX version of ProfileONNX and ProfileORT. 0 is the newest."},
	{"negative", "Negative", "policy", "NegativePolicy", "Negative sets the meaning of a negative index."},
	{"bounds", "Bounds", "policy", "BoundsPolicy", "Bounds sets the meaning of an index out of bounds."},
	{"fill", "Fill", "policy", "FillPolicy", "Fill sets the value that BoundsFill writes."},
	{"extents", "Extents", "policy", "ExtentsPolicy", "Extents sets the rule for the extents of params and indices of " +
		"[GatherElements] and [ScatterElements] in the dims that are not the axis."},
	{"reduction", "Reduction", "policy", "ReductionPolicy", "Reduction sets how a scatter combines an update with the " +
		"row that it selects. Without this option the update replaces the row. Calls other than scatters reject it."},
	{"accumulate", "Accumulate", "policy", "AccumulatePolicy", "Accumulate sets the type in which scatters and " +
		"gradients add and multiply float16 and bfloat16. Other calls reject it."},
	{"threads", "Threads", "count", "int", "Threads sets the highest number of CPU threads of a call. 0 is the number " +
		"of the context."},
}

// The fields of gth_options that no option of the table sets: FillWith sets the value, and out_dtype is reserved.
var otherFields = map[string]bool{"size": true, "fill_value": true, "out_dtype": true}

func writeSetters(structs []layout) ([]byte, error) {
	fields, err := optionFields(structs)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, "// %s\n\npackage gather\n\n// #include \"shim.h\"\nimport \"C\"\n\nconst (\n", goNotice)
	for i, option := range options {
		fmt.Fprintf(&out, "\tset%s setting = %d\n", option.name, i+1)
	}
	out.WriteString(")\n")
	for _, option := range options {
		number := option.argument
		if option.goType != "int" {
			number = "int(" + number + ")"
		}
		fmt.Fprintf(&out, "\n%sfunc %s(%s %s) Option { return Option{setting: set%s, number: %s} }\n",
			wrapped(option.comment), option.name, option.argument, option.goType, option.name, number)
	}
	out.WriteString("\n// set stores the number of an option in its field.\n")
	out.WriteString("func (s *settings) set(option *Option) {\n\tswitch option.setting {\n")
	for _, option := range options {
		fmt.Fprintf(&out, "\tcase set%s:\n", option.name)
		if _, ok := fields["has_"+option.field]; ok {
			fmt.Fprintf(&out, "\t\ts.options.has_%s = 1\n", option.field)
		}
		if fields[option.field] == "int64_t" {
			fmt.Fprintf(&out, "\t\ts.options.%s = C.int64_t(option.number)\n", option.field)
		} else {
			fmt.Fprintf(&out, "\t\ts.options.%s = narrow(option.number)\n", option.field)
		}
	}
	out.WriteString("\t}\n}\n")
	return format.Source(out.Bytes())
}

// optionFields returns the C types of the fields of gth_options. It fails if a field has no option, or if an option has
// no field.
func optionFields(structs []layout) (map[string]string, error) {
	types := map[string]string{}
	for _, layout := range structs {
		if layout.name == "gth_options" {
			for _, field := range layout.fields {
				types[field.name] = field.cType
			}
		}
	}
	set := map[string]bool{}
	for _, option := range options {
		if types[option.field] == "" {
			return nil, fmt.Errorf("gth_options has no field %s", option.field)
		}
		set[option.field], set["has_"+option.field] = true, true
	}
	for name := range types {
		if !set[name] && !otherFields[name] {
			return nil, fmt.Errorf("gth_options.%s has no option", name)
		}
	}
	return types, nil
}

// wrapped returns a text as a comment with lines of at most 120 columns.
func wrapped(text string) string {
	var out strings.Builder
	line := "//"
	for _, word := range strings.Fields(text) {
		if len(line)+1+len(word) > 120 {
			out.WriteString(line + "\n")
			line = "//"
		}
		line += " " + word
	}
	return out.String() + line + "\n"
}
