package gather_test

import (
	"encoding/hex"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"libgather.io/gather"
)

// conformanceCase is a case that the README of tests/conformance defines.
type conformanceCase struct {
	name            string
	op              string
	options         []gather.Option
	bounds          string
	params, indices tensorText // params is the target of a scatter
	updates         tensorText // only in a scatter
	bags, weights   tensorText // only in gather_bags, which need not have them
	codec           string     // the format of packed params, and the fields that differ from it; else empty
	scales, zeros   tensorText // only of packed params, which need not have them
	bagFormat       string
	bagCount        int
	reduces         bool // true if any NaN is correct: the call decodes packed rows, adds, multiplies or compares
	wanted          tensorText
	failure         *gather.Error // nil if the call succeeds
}

// tensorText is a tensor of a case. Tensors of strings do not use bytes.
type tensorText struct {
	dtype   string
	shape   []int
	offset  int
	strides []int // nil if the tensor is dense
	bytes   []byte
	strings []string
}

func (t *tensorText) isDense() bool { return t.strides == nil && t.offset == 0 }

func readCases(t *testing.T, path string) []conformanceCase {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var cases []conformanceCase
	var lines []string
	for line := range strings.SplitSeq(string(text)+"\n", "\n") {
		switch {
		case strings.HasPrefix(line, "#"):
		case line != "":
			lines = append(lines, line)
		case lines != nil:
			test, err := parseCase(lines)
			if err != nil {
				t.Fatalf("%s: %s: %v", path, lines[0], err)
			}
			cases = append(cases, test)
			lines = nil
		}
	}
	return cases
}

func parseCase(lines []string) (test conformanceCase, err error) {
	values := map[string]string{}
	for _, line := range lines {
		key, value, _ := strings.Cut(line, " ")
		values[key] = value
	}
	test.name = values["case"]
	test.op = values["op"]
	test.bounds = values["bounds"]
	params := values["params"]
	if updates, ok := values["updates"]; ok {
		params = values["target"]
		test.reduces = values["reduction"] != "" && values["reduction"] != "none"
		if test.updates, err = parseTensor(strings.Fields(updates)); err != nil {
			return test, err
		}
	}
	if test.params, err = parseTensor(strings.Fields(params)); err != nil {
		return test, err
	}
	if test.indices, err = parseTensor(strings.Fields(values["indices"])); err != nil {
		return test, err
	}
	for key, operand := range map[string]*tensorText{
		"bags": &test.bags, "weights": &test.weights, "scales": &test.scales, "zeros": &test.zeros,
	} {
		if text, ok := values[key]; ok {
			if *operand, err = parseTensor(strings.Fields(text)); err != nil {
				return test, err
			}
		}
	}
	test.bagFormat = values["bag_format"]
	test.codec = values["codec"]
	test.reduces = test.reduces || test.bagFormat != "" || test.codec != ""
	if count, ok := values["bag_count"]; ok {
		if test.bagCount, err = strconv.Atoi(count); err != nil {
			return test, err
		}
	}
	if test.options, err = parseOptions(values, test.params.dtype); err != nil {
		return test, err
	}
	return test, parseOutcome(&test, strings.Fields(values["expect"]))
}

func parseOutcome(test *conformanceCase, fields []string) (err error) {
	if fields[0] == "error" {
		test.failure, err = parseFailure(fields[1:])
		return err
	}
	test.wanted, err = parseTensor([]string{fields[1], fields[2], ".", fields[3]})
	return err
}

// These maps have the values of options by their words in the files.
var (
	profiles = map[string]gather.Profile{
		"tensorflow": gather.ProfileTensorFlow, "tensorflow_gpu": gather.ProfileTensorFlowGPU,
		"onnx": gather.ProfileONNX, "ort": gather.ProfileORT,
		"numpy_raise": gather.ProfileNumPyRaise, "numpy_wrap": gather.ProfileNumPyWrap,
		"numpy_clip": gather.ProfileNumPyClip, "torch": gather.ProfileTorch,
		"jax_fill": gather.ProfileJAXFill, "jax_clip": gather.ProfileJAXClip,
	}
	negatives = map[string]gather.NegativePolicy{"reject": gather.NegativeReject, "wrap": gather.NegativeWrap}
	policies  = map[string]gather.BoundsPolicy{
		"error": gather.BoundsError, "fill": gather.BoundsFill, "clamp": gather.BoundsClamp,
		"modulo": gather.BoundsModulo, "skip": gather.BoundsSkip,
	}
	fills = map[string]gather.FillPolicy{
		"zero": gather.FillZero, "value": gather.FillValue, "by_dtype": gather.FillByDType,
	}
	extents = map[string]gather.ExtentsPolicy{
		"equal": gather.ExtentsEqual, "prefix": gather.ExtentsPrefix, "broadcast": gather.ExtentsBroadcast,
	}
	reductions = map[string]gather.ReductionPolicy{
		"none": gather.ReductionNone, "add": gather.ReductionAdd, "mul": gather.ReductionMul,
		"max": gather.ReductionMax, "min": gather.ReductionMin, "mean": gather.ReductionMean,
	}
	accumulations = map[string]gather.AccumulatePolicy{
		"dtype": gather.AccumulateDType, "float32": gather.AccumulateFloat32, "float64": gather.AccumulateFloat64,
	}
	pools = map[string]gather.PoolPolicy{
		"sum": gather.PoolSum, "mean": gather.PoolMean, "sqrtn": gather.PoolSqrtn, "max": gather.PoolMax,
		"min": gather.PoolMin,
	}
	initials = map[string]gather.InitialPolicy{"target": gather.InitialTarget, "update": gather.InitialUpdate}
	empties  = map[string]gather.EmptyPolicy{
		"zero": gather.EmptyZero, "fill": gather.EmptyFill, "error": gather.EmptyError,
	}
	statuses = map[string]gather.Status{
		"NULL": gather.ErrNull, "VERSION": gather.ErrVersion, "DTYPE": gather.ErrDType, "RANK": gather.ErrRank,
		"AXIS": gather.ErrAxis, "BATCH": gather.ErrBatch, "SHAPE": gather.ErrShape, "SIZE": gather.ErrSize,
		"STRIDE": gather.ErrStride, "INDEX": gather.ErrIndex, "OFFSETS": gather.ErrOffsets, "UNSUPPORTED": gather.ErrUnsupported,
	}
)

func parseOptions(values map[string]string, dtype string) ([]gather.Option, error) {
	var options []gather.Option
	number := func(key string, option func(int) gather.Option) error {
		text, ok := values[key]
		if !ok {
			return nil
		}
		value, err := strconv.Atoi(text)
		options = append(options, option(value))
		return err
	}
	for key, option := range map[string]func(int) gather.Option{
		"axis": gather.Axis, "batch_dims": gather.BatchDims, "opset": gather.Opset, "padding_index": gather.PaddingIndex,
	} {
		if err := number(key, option); err != nil {
			return nil, err
		}
	}
	word(&options, profiles, values["profile"], gather.WithProfile)
	word(&options, negatives, values["negative"], gather.Negative)
	word(&options, policies, values["bounds"], gather.Bounds)
	word(&options, fills, values["fill"], gather.Fill)
	word(&options, extents, values["extents"], gather.Extents)
	word(&options, reductions, values["reduction"], gather.Reduction)
	word(&options, initials, values["initial"], gather.Initial)
	word(&options, accumulations, values["accumulate"], gather.Accumulate)
	word(&options, pools, values["pool"], gather.Pool)
	word(&options, empties, values["empty"], gather.Empty)
	if image := values["fill_value"]; image != "" { // The fill value of strings is empty.
		bytes, err := hex.DecodeString(image)
		if err != nil {
			return nil, err
		}
		options = append(options, elements[dtype].fillWith(bytes))
	}
	return options, nil
}

func word[P comparable](options *[]gather.Option, known map[string]P, text string, option func(P) gather.Option) {
	if text == "" {
		return
	}
	value, ok := known[text]
	if !ok {
		panic("unknown word " + text)
	}
	*options = append(*options, option(value))
}

func parseFailure(fields []string) (*gather.Error, error) {
	status, ok := statuses[fields[0]]
	if !ok {
		return nil, fmt.Errorf("unknown status %s", fields[0])
	}
	failure := &gather.Error{Status: status, Item: -1}
	for failure.Operand = gather.OperandNone; failure.Operand.String() != fields[1]; failure.Operand++ {
	}
	var numbers [4]int64
	for i := range numbers {
		number, err := strconv.ParseInt(fields[2+i], 10, 64)
		if err != nil {
			return nil, err
		}
		numbers[i] = number
	}
	failure.Component, failure.Position = int(numbers[0]), numbers[1]
	failure.Value, failure.Limit = numbers[2], numbers[3]
	flags := strings.Split(fields[6], ",")
	failure.Wrap, failure.Unsigned = slices.Contains(flags, "wrap"), slices.Contains(flags, "unsigned")
	return failure, nil
}

// parseTensor parses the fields DTYPE SHAPE LAYOUT DATA.
func parseTensor(fields []string) (text tensorText, err error) {
	if len(fields) != 4 {
		return text, fmt.Errorf("a tensor of %d fields", len(fields))
	}
	text.dtype = fields[0]
	if text.shape, err = parseInts(fields[1]); err != nil {
		return text, err
	}
	if err := parseLayout(&text, fields[2]); err != nil {
		return text, err
	}
	if text.dtype != "string" {
		if fields[3] != "." {
			text.bytes, err = hex.DecodeString(fields[3])
		}
		return text, err
	}
	text.strings = []string{}
	if fields[3] == "." {
		return text, nil
	}
	for element := range strings.SplitSeq(fields[3], ",") {
		value, err := hex.DecodeString(strings.TrimPrefix(element, "-"))
		if err != nil {
			return text, err
		}
		text.strings = append(text.strings, string(value))
	}
	return text, nil
}

func parseLayout(text *tensorText, layout string) error {
	if layout == "." {
		return nil
	}
	offset, strides, _ := strings.Cut(strings.TrimPrefix(layout, "offset="), ";strides=")
	var err error
	if text.offset, err = strconv.Atoi(offset); err != nil {
		return err
	}
	text.strides, err = parseInts(strides)
	return err
}

func parseInts(list string) ([]int, error) {
	numbers := []int{}
	if list == "." {
		return numbers, nil
	}
	for text := range strings.SplitSeq(list, ",") {
		number, err := strconv.Atoi(text)
		if err != nil {
			return nil, err
		}
		numbers = append(numbers, number)
	}
	return numbers, nil
}
