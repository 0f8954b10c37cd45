package gather_test

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"libgather.io/gather"
)

// The tests replay every recorded case in every form of the binding. The forms are a new tensor, existing memory, a
// plan, a shape query, and strings.

const (
	untouched   = 0xa5
	smallOutput = 1 << 20
	// The number of profiles of systems with gradients and bags: torch, TensorFlow, and the two of JAX.
	differentiated = 4
	packedSystems  = 6
)

func TestConformance(t *testing.T) {
	if _, err := os.Stat("../../tests/conformance"); err != nil {
		t.Skip("this module has no conformance cases")
	}
	casesFolder := cmp.Or(os.Getenv("GATHER_CONFORMANCE_CASES"), "../../build/conformance/cases")
	if _, err := os.Stat(casesFolder); err != nil {
		t.Fatalf("%v. These commands in the tree compute it: "+
			"cmake --preset test && cmake --build --preset test --target conformance_cases", err)
	}
	for _, folder := range []string{"", "/elements", "/scatter"} {
		replayFolder(t, casesFolder, folder, len(profiles)+2)
	}
	replayFolder(t, casesFolder, "/gradient", differentiated+2)
	replayFolder(t, casesFolder, "/bags", differentiated+1)
	replayFolder(t, casesFolder, "/packed", packedSystems)
}

// countOf returns the number of cases that a file must have.
func countOf(t *testing.T, name string) int {
	t.Helper()
	digests, err := os.ReadFile("../../tests/conformance/digests.txt")
	check(t, err)
	for line := range strings.Lines(string(digests)) {
		if fields := strings.Fields(line); fields[len(fields)-1] == "cases/"+name+".txt" {
			count, err := strconv.Atoi(fields[1])
			check(t, err)
			return count
		}
	}
	t.Fatalf("digests.txt has no %s", name)
	return 0
}

// replayFolder replays one file for each profile, and the files without a profile: recorded cases and random ones.
func replayFolder(t *testing.T, casesFolder, folder string, count int) {
	t.Helper()
	files, err := filepath.Glob(casesFolder + folder + "/*.txt")
	if err != nil || len(files) != count {
		t.Fatalf("found %d files in %s%s, %v", len(files), casesFolder, folder, err)
	}
	for _, file := range files {
		name, _ := filepath.Rel(casesFolder, file[:len(file)-len(".txt")])
		t.Run(name, func(t *testing.T) {
			cases := readCases(t, file)
			expect(t, "cases", []int{len(cases)}, []int{countOf(t, name)})
			for i := range cases {
				replay(&report{t: t}, &cases[i])
			}
			fmt.Printf("conformance %s: %d cases\n", name, len(cases))
		})
	}
}

// A report reports only the first failure of a case, because other forms usually fail in the same way.
type report struct {
	t      *testing.T
	failed bool
}

func (r *report) Helper() { r.t.Helper() }

func (r *report) Errorf(format string, arguments ...any) {
	r.t.Helper()
	if !r.failed {
		r.failed = true
		r.t.Errorf(format, arguments...)
	}
}

func replay(t *report, test *conformanceCase) {
	if test.params.dtype == "string" {
		replayStrings(t, test)
		return
	}
	elements[test.params.dtype].replay(t, test)
}

func (test *conformanceCase) isScatter() bool { return test.updates.dtype != "" }

// element has the functions of a dtype for its Go type.
type element struct {
	replay   func(*report, *conformanceCase)
	fillWith func(image []byte) gather.Option
}

func elementOf[T gather.Element]() element {
	return element{replayAs[T], func(image []byte) gather.Option { return gather.FillWith(typed[T](image)[0]) }}
}

var elements map[string]element

func init() { // An initializer would be a cycle, because replay functions use the map.
	elements = map[string]element{
		"bool": elementOf[bool](),
		"int8": elementOf[int8](), "int16": elementOf[int16](), "int32": elementOf[int32](), "int64": elementOf[int64](),
		"uint8": elementOf[uint8](), "uint16": elementOf[uint16](), "uint32": elementOf[uint32](),
		"uint64":  elementOf[uint64](),
		"float16": elementOf[gather.Float16](), "bfloat16": elementOf[gather.BFloat16](),
		"float32": elementOf[float32](), "float64": elementOf[float64](),
		"complex64": elementOf[complex64](), "complex128": elementOf[complex128](),
		"float8_e3m4": elementOf[gather.Float8E3M4](), "float8_e4m3": elementOf[gather.Float8E4M3](),
		"float8_e4m3b11fnuz": elementOf[gather.Float8E4M3B11FNUZ](),
		"float8_e4m3fn":      elementOf[gather.Float8E4M3FN](), "float8_e4m3fnuz": elementOf[gather.Float8E4M3FNUZ](),
		"float8_e5m2": elementOf[gather.Float8E5M2](), "float8_e5m2fnuz": elementOf[gather.Float8E5M2FNUZ](),
		"float8_e8m0fnu": elementOf[gather.Float8E8M0FNU](),
	}
}

func replayAs[T gather.Element](t *report, test *conformanceCase) {
	switch test.indices.dtype {
	case "int8":
		replayForms[T, int8](t, test)
	case "int16":
		replayForms[T, int16](t, test)
	case "int32":
		replayForms[T, int32](t, test)
	case "int64":
		replayForms[T, int64](t, test)
	case "uint8":
		replayForms[T, uint8](t, test)
	case "uint16":
		replayForms[T, uint16](t, test)
	case "uint32":
		replayForms[T, uint32](t, test)
	case "uint64":
		replayForms[T, uint64](t, test)
	}
}

// forms has the functions of an operation for one pair of types.
type forms[T gather.Element, I gather.Index] struct {
	gather func(gather.Tensor[T], gather.Tensor[I], ...gather.Option) (gather.Tensor[T], error)
	into   func(gather.Output[T], gather.Tensor[T], gather.Tensor[I], ...gather.Option) error
	plan   func(gather.Tensor[T], gather.Tensor[I], ...gather.Option) (*gather.Plan[T, I], error)
	shape  shapeQuery
}

func formsOf[T gather.Element, I gather.Index](op string) forms[T, I] {
	switch op {
	case "gather":
		return forms[T, I]{gather.Gather[T, I], gather.GatherInto[T, I], gather.NewPlan[T, I], gather.OutputShape}
	case "gather_nd":
		return forms[T, I]{gather.GatherND[T, I], gather.GatherNDInto[T, I], gather.NewPlanND[T, I], gather.OutputShapeND}
	case "gather_elements":
		return forms[T, I]{gather.GatherElements[T, I], gather.GatherElementsInto[T, I], gather.NewPlanElements[T, I],
			gather.OutputShapeElements}
	}
	panic("unknown operation " + op)
}

func replayForms[T gather.Element, I gather.Index](t *report, test *conformanceCase) {
	if test.codec != "" {
		replayPacked[T, I](t, test)
		return
	}
	if test.isGradient() {
		replayGradient[T, I](t, test)
		return
	}
	if test.isScatter() {
		replayScatter[T, I](t, test)
		return
	}
	if test.bagFormat != "" {
		replayBags[T, I](t, test, tensorOf[T](&test.params))
		return
	}
	call := formsOf[T, I](test.op)
	params, indices := tensorOf[T](&test.params), tensorOf[I](&test.indices)
	shape := replayShape(t, test, call.shape, params, indices)
	for _, threads := range []int{1, 3} {
		options := append(slices.Clone(test.options), gather.Threads(threads))
		out, err := call.gather(params, indices, options...)
		if expectOutcome(t, test, err) {
			expectShape(t, test, out.Shape())
			expectBytes(t, test, bytesOf(out.Data()), 0)
		}
		if shape == nil && (test.failure == nil || test.failure.Status == gather.ErrSize) {
			continue // Either no output can have this shape, or the query has already failed the test.
		}
		replayInto(t, test, shape, func(out gather.Output[T]) error { return call.into(out, params, indices, options...) })
	}
	replayPlan(t, test, call, shape)
}

// replayShape returns the shape of the output, or nil if the case has no output.
func replayShape(t *report, test *conformanceCase, query shapeQuery,
	params, indices gather.Described) []int {
	shape, err := query(params, indices, test.options...)
	switch {
	case test.failure == nil:
		expectOutcome(t, test, err)
		expectShape(t, test, shape)
	case test.failure.Status == gather.ErrIndex && err != nil:
		t.Errorf("%s: the shape query read indices: %v", test.name, err)
	case test.failure.Status != gather.ErrIndex && test.failure.Status != gather.ErrSize:
		expectOutcome(t, test, err)
	}
	return shape
}

func replayInto[T gather.Element](t *report, test *conformanceCase, shape []int, into func(gather.Output[T]) error) {
	memory := outputMemory[T](test, shape)
	before := slices.Clone(memory)
	if expectOutcome(t, test, into(gather.Strided[T](memory, 0, shape, nil).Output())) {
		expectBytes(t, test, memory, untouched)
	} else if !bytes.Equal(memory, before) {
		t.Errorf("%s: an error changed the output", test.name)
	}
}

func replayPlan[T gather.Element, I gather.Index](t *report, test *conformanceCase, call forms[T, I], shape []int) {
	plan, err := call.plan(tensorOf[T](&test.params), tensorOf[I](&test.indices), test.options...)
	if err != nil {
		expectOutcome(t, test, err)
		return
	}
	defer plan.Close()
	memory := typed[T](outputMemory[T](test, shape))
	if test.params.isDense() && test.indices.isDense() {
		err = plan.Run(gather.To(memory), typed[T](test.params.bytes), typed[I](test.indices.bytes), gather.Open)
	} else { // A slice of the element type cannot represent this memory.
		err = plan.RunAt(nil, gather.Addresses{Params: address(test.params.bytes), Indices: address(test.indices.bytes), Out: address(memory)}, gather.Open)
		runtime.KeepAlive(test)
	}
	if expectOutcome(t, test, err) {
		expectBytes(t, test, bytesOf(memory), untouched)
	}
}

func replayStrings(t *report, test *conformanceCase) {
	switch test.indices.dtype {
	case "int8":
		replayStringsBy[int8](t, test)
	case "int16":
		replayStringsBy[int16](t, test)
	case "int32":
		replayStringsBy[int32](t, test)
	case "int64":
		replayStringsBy[int64](t, test)
	case "uint8":
		replayStringsBy[uint8](t, test)
	case "uint16":
		replayStringsBy[uint16](t, test)
	case "uint32":
		replayStringsBy[uint32](t, test)
	case "uint64":
		replayStringsBy[uint64](t, test)
	}
}

type stringGather[I gather.Index] = func(*gather.StringTensor, gather.Tensor[I], ...gather.Option) ([]string, []int, error)

func stringFormsOf[I gather.Index](op string) (stringGather[I], shapeQuery) {
	switch op {
	case "gather":
		return gather.GatherStrings[I], gather.OutputShape
	case "gather_nd":
		return gather.GatherNDStrings[I], gather.OutputShapeND
	case "gather_elements":
		return gather.GatherElementsStrings[I], gather.OutputShapeElements
	}
	panic("unknown operation " + op)
}

func replayStringsBy[I gather.Index](t *report, test *conformanceCase) {
	if test.isScatter() {
		replayScatteredStrings[I](t, test)
		return
	}
	params, err := gather.NewStrings(test.params.strings, test.params.shape...)
	if err != nil {
		t.Errorf("%s: %v", test.name, err)
		return
	}
	defer params.Close()
	call, query := stringFormsOf[I](test.op)
	indices := tensorOf[I](&test.indices)
	replayShape(t, test, query, params, indices)
	for _, threads := range []int{1, 3} {
		values, shape, err := call(params, indices, append(slices.Clone(test.options), gather.Threads(threads))...)
		if expectOutcome(t, test, err) {
			expectShape(t, test, shape)
			if !slices.Equal(values, test.wanted.strings) {
				t.Errorf("%s: got %q, want %q", test.name, values, test.wanted.strings)
			}
		}
	}
}

// expectOutcome compares the error with the recorded one. It returns true if there is an output to compare.
func expectOutcome(t *report, test *conformanceCase, err error) bool {
	t.Helper()
	if test.failure == nil {
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
		return err == nil
	}
	var found *gather.Error
	if !errors.As(err, &found) {
		t.Errorf("%s: got %v, want %+v", test.name, err, *test.failure)
		return false
	}
	numbers := *found
	numbers.Message = ""
	if numbers != *test.failure || found.Message == "" || !errors.Is(err, test.failure.Status) {
		t.Errorf("%s: got %+v, want %+v", test.name, *found, *test.failure)
	}
	var index *gather.IndexError
	if errors.As(err, &index) != (test.failure.Status == gather.ErrIndex) {
		t.Errorf("%s: an IndexError only for an index: %v", test.name, err)
	}
	return false
}

func expectShape(t *report, test *conformanceCase, shape []int) {
	t.Helper()
	if !slices.Equal(shape, test.wanted.shape) {
		t.Errorf("%s: got the shape %v, want %v", test.name, shape, test.wanted.shape)
	}
}

// expectBytes compares with the recorded bytes. Skipped rows are recorded as the byte `untouched`. In these rows the
// output must have the byte that it had before the call.
func expectBytes(t *report, test *conformanceCase, found []byte, before byte) {
	t.Helper()
	if len(found) != len(test.wanted.bytes) {
		t.Errorf("%s: got %d bytes, want %d", test.name, len(found), len(test.wanted.bytes))
		return
	}
	for i, want := range test.wanted.bytes {
		if found[i] != want && !(test.bounds == "skip" && want == untouched && found[i] == before) {
			t.Errorf("%s: got %x, want %x", test.name, found, test.wanted.bytes)
			return
		}
	}
}

// outputMemory returns memory of the size of the output. It is small if the output would be too large. Such a case must
// fail before it writes.
func outputMemory[T gather.Element](test *conformanceCase, shape []int) []byte {
	size := int(unsafe.Sizeof(*new(T)))
	for _, extent := range shape {
		size *= extent
		if size < 0 || size > smallOutput {
			size = 1
		}
	}
	memory := bytesOf(make([]T, (size+15)/int(unsafe.Sizeof(*new(T)))))[:size]
	for i := range memory {
		memory[i] = untouched
	}
	return memory
}

func tensorOf[T gather.Element](text *tensorText) gather.Tensor[T] {
	if text.isDense() {
		return gather.New(typed[T](text.bytes), text.shape...)
	}
	return gather.Strided[T](text.bytes, text.offset, text.shape, text.strides)
}

// typed copies bytes to new elements.
func typed[T gather.Element](memory []byte) []T {
	if len(memory) == 0 {
		return nil
	}
	elements := make([]T, (len(memory)+int(unsafe.Sizeof(*new(T)))-1)/int(unsafe.Sizeof(*new(T))))
	copy(bytesOf(elements), memory)
	return elements
}
