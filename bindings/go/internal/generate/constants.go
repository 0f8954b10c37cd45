package main

import (
	"bytes"
	"fmt"
	"go/format"
	"strings"
)

const notice = "Generated from gather.h by internal/generate. DO NOT EDIT."

// A group is the header's values of one prefix, which become the constants of one Go type.
type group struct {
	prefix   string // of the header's names
	goType   string // "" leaves the constants without a type
	goPrefix string // of the Go names
	comment  string
}

var groups = []group{
	{"GTH_E_", "Status", "Err", "What went wrong, for errors.Is."},
	{"GTH_OPERAND_", "Operand", "Operand", "What an error is about."},
	{"GTH_ERROR_", "", "error", "Bits of gth_error.flags."},
	{"GTH_DTYPE_", "DType", "DType", "The types of elements."},
	{"GTH_DEVICE_", "DeviceKind", "Device", "Where memory lies. 0 is the CPU too."},
	{"GTH_TIER_", "Tier", "Tier", "Instruction sets that CPU kernels are written for."},
	{"GTH_TENSOR_", "", "tensor", "Bits of gth_tensor_desc.flags."},
	{"GTH_PROFILE_", "Profile", "Profile", "All switches at once, equal to the named system."},
	{"GTH_NEGATIVE_", "NegativePolicy", "Negative", "What a negative index means."},
	{"GTH_BOUNDS_", "BoundsPolicy", "Bounds", "What an index out of bounds means."},
	{"GTH_FILL_", "FillPolicy", "Fill", "What BoundsFill writes."},
	{"GTH_EXTENTS_", "ExtentsPolicy", "Extents", "How params and indices must agree beside the axis of GatherElements."},
	{"GTH_REDUCTION_", "ReductionPolicy", "Reduction", "What a scatter does with an update."},
	{"GTH_ACCUMULATE_", "AccumulatePolicy", "Accumulate", "What a scatter adds and multiplies float16 and bfloat16 in."},
	{"GTH_SHARDS_", "", "shards", "How the rows of a table are dealt out."},
	{"GTH_PARTS_", "", "parts", "Bits of gth_parts.flags."},
}

// Values that stand alone, and what Go calls them.
var alone = map[string]string{
	"GTH_ABI_VERSION": "abiVersion",
	"GTH_MAX_NDIM":    "MaxRank",
	"GTH_OPEN":        "Open",
}

// Values that Go has no use for: success, the release of the header, sizes that cgo knows, and the exchange with other C
// libraries, whose structs Go code does not meet.
var unused = []string{
	"GTH_OK", "GTH_VERSION", "GTH_MESSAGE_SIZE", "GTH_MAX_DEVICES", "GTH_EXPORT_", "GTH_STRINGS_",
}

var aloneComments = map[string]string{
	"GTH_MAX_NDIM": "The highest rank of a tensor.",
	"GTH_OPEN":     "An extent that is left open when a plan is made, or handed on by a shape query.",
}

// Words that are not written with one capital.
var words = map[string]string{
	"DLPACK": "DLPack", "DTYPE": "DType", "NOMEM": "NoMemory", "READONLY": "ReadOnly", "BFLOAT16": "BFloat16",
	"TENSORFLOW": "TensorFlow", "NUMPY": "NumPy",
	"CPU": "CPU", "CUDA": "CUDA", "GPU": "GPU", "ONNX": "ONNX", "ORT": "ORT", "JAX": "JAX",
	"AVX2": "AVX2", "AVX512": "AVX512", "NEON": "NEON",
	"E3M4": "E3M4", "E4M3": "E4M3", "E4M3B11FNUZ": "E4M3B11FNUZ", "E4M3FN": "E4M3FN", "E4M3FNUZ": "E4M3FNUZ",
	"E5M2": "E5M2", "E5M2FNUZ": "E5M2FNUZ", "E8M0FNU": "E8M0FNU",
}

func goName(name string) string {
	var text strings.Builder
	for _, word := range strings.Split(name, "_") {
		if known, ok := words[word]; ok {
			text.WriteString(known)
		} else {
			text.WriteString(word[:1] + strings.ToLower(word[1:]))
		}
	}
	return text.String()
}

func writeConstants(defines []define) ([]byte, error) {
	if err := checkGroups(defines); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, "// %s\n\n//go:build cgo\n\npackage gather\n\nconst (\n", strings.Replace(notice, "Generated", "Code generated", 1))
	for _, value := range defines {
		if name, ok := alone[value.name]; ok {
			writeConstant(&out, name, "", value.value, aloneComments[value.name])
		}
	}
	out.WriteString(")\n")
	for _, group := range groups {
		fmt.Fprintf(&out, "\n// %s\nconst (\n", group.comment)
		for _, value := range defines {
			if rest, ok := strings.CutPrefix(value.name, group.prefix); ok {
				writeConstant(&out, group.goPrefix+goName(rest), group.goType, value.value, value.comment)
			}
		}
		out.WriteString(")\n")
	}
	writeNames(&out, "statusNames", "GTH_E_", "", defines)
	writeNames(&out, "operandNames", "GTH_OPERAND_", "GTH_OPERAND_", defines)
	return format.Source(out.Bytes())
}

func writeConstant(out *bytes.Buffer, name, goType string, value int64, comment string) {
	if comment != "" {
		fmt.Fprintf(out, "\t// %s\n", comment)
	}
	fmt.Fprintf(out, "\t%s %s = %d\n", name, goType, value)
}

// writeNames writes a table from the absolute values of a group to the header's names, in lower case without cut.
func writeNames(out *bytes.Buffer, table, prefix, cut string, defines []define) {
	fmt.Fprintf(out, "\nvar %s = [...]string{\n", table)
	for _, value := range defines {
		if strings.HasPrefix(value.name, prefix) {
			name := value.name
			if cut != "" {
				name = strings.ToLower(strings.TrimPrefix(name, cut))
			}
			fmt.Fprintf(out, "\t%d: %q,\n", max(value.value, -value.value), name)
		}
	}
	out.WriteString("}\n")
}

// checkGroups fails for a value that no group takes: a new kind of value must be given its Go type here.
func checkGroups(defines []define) error {
	for _, value := range defines {
		_, known := alone[value.name]
		for _, prefix := range unused {
			known = known || strings.HasPrefix(value.name, prefix)
		}
		for _, group := range groups {
			known = known || strings.HasPrefix(value.name, group.prefix)
		}
		if !known {
			return fmt.Errorf("%s belongs to no group", value.name)
		}
	}
	return nil
}

// writeChecks pins values and offsets. Sizes may grow: a newer header of the same ABI adds fields at the end.
func writeChecks(defines []define, structs []layout) []byte {
	var out bytes.Buffer
	fmt.Fprintf(&out, "/* %s */\n#ifndef GATHER_GO_HEADER_CHECK_H\n#define GATHER_GO_HEADER_CHECK_H\n\n", notice)
	out.WriteString("#include <gather/gather.h>\n\n")
	for _, value := range defines {
		if value.name != "GTH_VERSION" {
			fmt.Fprintf(&out, "_Static_assert(%s == %d, \"%s\");\n", value.name, value.value, value.name)
		}
	}
	for _, layout := range structs {
		fmt.Fprintf(&out, "\n_Static_assert(sizeof(%s) >= %d, \"%s\");\n", layout.name, layout.size, layout.name)
		for _, field := range layout.fields {
			fmt.Fprintf(&out, "_Static_assert(offsetof(%s, %s) == %d, \"%s.%s\");\n", layout.name, field.name,
				field.offset, layout.name, field.name)
		}
	}
	out.WriteString("\n#endif\n")
	return out.Bytes()
}
