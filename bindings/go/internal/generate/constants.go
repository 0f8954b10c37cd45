package main

import (
	"bytes"
	"fmt"
	"go/format"
	"strings"
)

const (
	notice   = "Generated from gather.h by internal/generate. DO NOT EDIT."
	goNotice = "Code generated from gather.h by internal/generate. DO NOT EDIT."
)

// A group is the set of values of the header that have one prefix. They become the constants of one Go type.
type group struct {
	prefix   string // of the header's names
	goType   string // "" leaves the constants without a type.
	goPrefix string // of the Go names
	comment  string
	declares bool // The comment documents the type, which is declared here.
}

var groups = []group{
	{"GTH_E_", "Status", "Err", "These are the statuses of failed calls, for errors.Is.", false},
	{"GTH_OPERAND_", "Operand", "Operand", "These are the operands that an error can name.", false},
	{"GTH_OP_", "operation", "op", "An operation is the number of an operation in the C library.", true},
	{"GTH_ERROR_", "", "error", "These are the bits of gth_error.flags.", false},
	{"GTH_DTYPE_", "DType", "DType", "These are the dtypes.", false},
	{"GTH_DEVICE_", "DeviceKind", "Device", "These are the kinds of devices. 0 also means the CPU.", false},
	{"GTH_TIER_", "Tier", "Tier", "These are the instruction sets that CPU kernels exist for.", false},
	{"GTH_TENSOR_", "", "tensor", "These are the bits of gth_tensor_desc.flags.", false},
	{"GTH_PROFILE_", "Profile", "Profile", "A Profile sets all switches at once, to the behaviour of the named system.", true},
	{"GTH_NEGATIVE_", "NegativePolicy", "Negative", "A NegativePolicy is the meaning of a negative index.", true},
	{"GTH_BOUNDS_", "BoundsPolicy", "Bounds", "A BoundsPolicy is the meaning of an index out of bounds.", true},
	{"GTH_FILL_", "FillPolicy", "Fill", "A FillPolicy is the kind of value that BoundsFill writes.", true},
	{"GTH_EXTENTS_", "ExtentsPolicy", "Extents", "An ExtentsPolicy is the rule for the extents of params and indices in the dims that are not the axis.", true},
	{"GTH_REDUCTION_", "ReductionPolicy", "Reduction", "A ReductionPolicy is the way in which a scatter combines an update with the row that it selects.", true},
	{"GTH_ACCUMULATE_", "AccumulatePolicy", "Accumulate", "An AccumulatePolicy is the type in which a scatter adds and multiplies float16 and bfloat16.", true},
	{"GTH_SHARDS_", "", "shards", "These are the distributions of the rows of a table over shards.", false},
	{"GTH_PARTS_", "", "parts", "These are the bits of gth_parts.flags.", false},
}

// alone maps the values without a group to their Go names.
var alone = map[string]string{
	"GTH_ABI_VERSION": "abiVersion",
	"GTH_MAX_NDIM":    "MaxRank",
	"GTH_OPEN":        "Open",
}

// unused lists the values that the Go code does not use. These are success, the release of the header, sizes that cgo
// computes, flags that only the shim sets, and the exchange of C structs with other libraries.
var unused = []string{
	"GTH_OK", "GTH_VERSION", "GTH_MESSAGE_SIZE", "GTH_MAX_DEVICES", "GTH_ARGS_", "GTH_EXPORT_", "GTH_STRINGS_",
}

var aloneComments = map[string]string{
	"GTH_MAX_NDIM": "MaxRank is the highest rank of a tensor.",
	"GTH_OPEN":     "Open is an extent that a plan leaves open, or that a shape query passes through.",
}

// words maps the words whose Go spelling is not one capital and lower case.
var words = map[string]string{
	"DLPACK": "DLPack", "DTYPE": "DType", "NOMEM": "NoMemory", "READONLY": "ReadOnly", "BFLOAT16": "BFloat16",
	"TENSORFLOW": "TensorFlow", "NUMPY": "NumPy", "IO": "IO", "ND": "ND",
	"CPU": "CPU", "CUDA": "CUDA", "GPU": "GPU", "ONNX": "ONNX", "ORT": "ORT", "JAX": "JAX",
	"AVX2": "AVX2", "NEON": "NEON",
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

// cutGroup cuts the prefix of the group off a name of the header. The first sizes of structs belong to no group.
func (g group) cutGroup(name string) (string, bool) {
	if isFirstSize(name) {
		return "", false
	}
	return strings.CutPrefix(name, g.prefix)
}

func isFirstSize(name string) bool { return strings.HasSuffix(name, "_FIRST") }

func writeConstants(defines []define) ([]byte, error) {
	if err := checkGroups(defines); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, "// %s\n\n//go:build cgo\n\npackage gather\n\nconst (\n", goNotice)
	for _, value := range defines {
		if name, ok := alone[value.name]; ok {
			writeConstant(&out, name, "", value.value, aloneComments[value.name])
		}
	}
	out.WriteString(")\n")
	for _, group := range groups {
		writeGroup(&out, group, defines)
	}
	writeNames(&out, "statusNames", "GTH_E_", "", defines)
	writeNames(&out, "operandNames", "GTH_OPERAND_", "GTH_OPERAND_", defines)
	return format.Source(out.Bytes())
}

func writeGroup(out *bytes.Buffer, group group, defines []define) {
	fmt.Fprintf(out, "\n%s", wrapped(group.comment))
	if group.declares {
		fmt.Fprintf(out, "type %s int32\n\n// These are the values of %s.\n", group.goType, group.goType)
	}
	out.WriteString("const (\n")
	for _, value := range defines {
		if rest, ok := group.cutGroup(value.name); ok {
			writeConstant(out, group.goPrefix+goName(rest), group.goType, value.value, value.comment)
		}
	}
	out.WriteString(")\n")
}

func writeConstant(out *bytes.Buffer, name, goType string, value int64, comment string) {
	if comment != "" {
		fmt.Fprintf(out, "\t// %s\n", comment)
	}
	fmt.Fprintf(out, "\t%s %s = %d\n", name, goType, value)
}

// writeNames writes a table from the absolute values of a group to the names in the header. If cut is not empty, the names
// are in lower case and without this prefix.
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

// checkGroups fails for a value that belongs to no group. So every new kind of value gets a Go type here.
func checkGroups(defines []define) error {
	for _, value := range defines {
		_, known := alone[value.name]
		known = known || isFirstSize(value.name)
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

// growing lists the values that a newer header of the same ABI may increase.
var growing = map[string]bool{"GTH_VERSION": true, "GTH_OP_LAST": true}

// writeChecks writes assertions of values and offsets. Structs may be larger than asserted, because a newer header of the
// same ABI adds fields at the end.
func writeChecks(defines []define, structs []layout) []byte {
	var out bytes.Buffer
	fmt.Fprintf(&out, "/* %s */\n#ifndef GATHER_GO_HEADER_CHECK_H\n#define GATHER_GO_HEADER_CHECK_H\n\n", notice)
	out.WriteString("#include <gather/gather.h>\n\n")
	for _, value := range defines {
		comparison := "=="
		if growing[value.name] {
			comparison = ">="
		}
		fmt.Fprintf(&out, "_Static_assert(%s %s %d, \"%s\");\n", value.name, comparison, value.value, value.name)
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
