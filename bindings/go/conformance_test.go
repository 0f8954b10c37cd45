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
	"libgather.io/gather/internal/cases"
)

// The tests replay every recorded case in every form of the binding. The forms are a new tensor, existing memory, a
// plan, a shape query, and strings.

const (
	untouched   = 0xa5
	smallOutput = 1 << 20
	profiles    = int(gather.ProfileJAXClip) // the last one
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
		replayFolder(t, casesFolder, folder, profiles+2)
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
		name = filepath.ToSlash(name)
		t.Run(name, func(t *testing.T) {
			found, err := cases.Read(file)
			check(t, err)
			expect(t, "cases", []int{len(found)}, []int{countOf(t, name)})
			for i := range found {
				replay(&report{t: t}, &found[i])
			}
			fmt.Printf("conformance %s: %d cases\n", name, len(found))
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

func replay(t *report, test *cases.Case) {
	if test.Params.DType == "string" {
		replayStrings(t, test)
		return
	}
	element := elements[test.Params.DType]
	if test.FillValue != nil {
		test.Options = append(test.Options, element.fillWith(test.FillValue))
	}
	element.replay(t, test)
}

// element has the functions of a dtype for its Go type.
type element struct {
	replay   func(*report, *cases.Case)
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

func replayAs[T gather.Element](t *report, test *cases.Case) {
	switch test.Indices.DType {
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

func replayForms[T gather.Element, I gather.Index](t *report, test *cases.Case) {
	if test.Codec != "" {
		replayPacked[T, I](t, test)
		return
	}
	if test.IsGradient() {
		replayGradient[T, I](t, test)
		return
	}
	if test.IsScatter() {
		replayScatter[T, I](t, test)
		return
	}
	if test.BagFormat != 0 {
		replayBags[T, I](t, test, tensorOf[T](&test.Params))
		return
	}
	call := formsOf[T, I](test.Op)
	params, indices := tensorOf[T](&test.Params), tensorOf[I](&test.Indices)
	shape := replayShape(t, test, call.shape, params, indices)
	for _, threads := range []int{1, 3} {
		options := append(slices.Clone(test.Options), gather.Threads(threads))
		out, err := call.gather(params, indices, options...)
		if expectOutcome(t, test, err) {
			expectShape(t, test, out.Shape())
			expectBytes(t, test, bytesOf(out.Data()), 0)
		}
		if shape == nil && (test.Failure == nil || test.Failure.Status == gather.ErrSize) {
			continue // Either no output can have this shape, or the query has already failed the test.
		}
		replayInto(t, test, shape, func(out gather.Output[T]) error { return call.into(out, params, indices, options...) })
	}
	replayPlan(t, test, call, shape)
}

// replayShape returns the shape of the output, or nil if the case has no output.
func replayShape(t *report, test *cases.Case, query shapeQuery,
	params, indices gather.Described) []int {
	shape, err := query(params, indices, test.Options...)
	switch {
	case test.Failure == nil:
		expectOutcome(t, test, err)
		expectShape(t, test, shape)
	case test.Failure.Status == gather.ErrIndex && err != nil:
		t.Errorf("%s: the shape query read indices: %v", test.Name, err)
	case test.Failure.Status != gather.ErrIndex && test.Failure.Status != gather.ErrSize:
		expectOutcome(t, test, err)
	}
	return shape
}

func replayInto[T gather.Element](t *report, test *cases.Case, shape []int, into func(gather.Output[T]) error) {
	memory := outputMemory[T](test, shape)
	before := slices.Clone(memory)
	if expectOutcome(t, test, into(gather.Strided[T](memory, 0, shape, nil).Output())) {
		expectBytes(t, test, memory, untouched)
	} else if !bytes.Equal(memory, before) {
		t.Errorf("%s: an error changed the output", test.Name)
	}
}

func replayPlan[T gather.Element, I gather.Index](t *report, test *cases.Case, call forms[T, I], shape []int) {
	plan, err := call.plan(tensorOf[T](&test.Params), tensorOf[I](&test.Indices), test.Options...)
	if err != nil {
		expectOutcome(t, test, err)
		return
	}
	defer plan.Close()
	memory := typed[T](outputMemory[T](test, shape))
	if test.Params.IsDense() && test.Indices.IsDense() {
		err = plan.Run(gather.To(memory), typed[T](test.Params.Bytes), typed[I](test.Indices.Bytes), gather.Open)
	} else { // A slice of the element type cannot represent this memory.
		err = plan.RunAt(nil, gather.Addresses{Params: address(test.Params.Bytes), Indices: address(test.Indices.Bytes), Out: address(memory)}, gather.Open)
		runtime.KeepAlive(test)
	}
	if expectOutcome(t, test, err) {
		expectBytes(t, test, bytesOf(memory), untouched)
	}
}

func replayStrings(t *report, test *cases.Case) {
	switch test.Indices.DType {
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

func replayStringsBy[I gather.Index](t *report, test *cases.Case) {
	if test.IsScatter() {
		replayScatteredStrings[I](t, test)
		return
	}
	params, err := gather.NewStrings(test.Params.Strings, test.Params.Shape...)
	if err != nil {
		t.Errorf("%s: %v", test.Name, err)
		return
	}
	defer params.Close()
	call, query := stringFormsOf[I](test.Op)
	indices := tensorOf[I](&test.Indices)
	replayShape(t, test, query, params, indices)
	for _, threads := range []int{1, 3} {
		values, shape, err := call(params, indices, append(slices.Clone(test.Options), gather.Threads(threads))...)
		if expectOutcome(t, test, err) {
			expectShape(t, test, shape)
			if !slices.Equal(values, test.Wanted.Strings) {
				t.Errorf("%s: got %q, want %q", test.Name, values, test.Wanted.Strings)
			}
		}
	}
}

// expectOutcome compares the error with the recorded one. It returns true if there is an output to compare.
func expectOutcome(t *report, test *cases.Case, err error) bool {
	t.Helper()
	if test.Failure == nil {
		if err != nil {
			t.Errorf("%s: %v", test.Name, err)
		}
		return err == nil
	}
	var found *gather.Error
	if !errors.As(err, &found) {
		t.Errorf("%s: got %v, want %+v", test.Name, err, *test.Failure)
		return false
	}
	numbers := *found
	numbers.Message = ""
	if numbers != *test.Failure || found.Message == "" || !errors.Is(err, test.Failure.Status) {
		t.Errorf("%s: got %+v, want %+v", test.Name, *found, *test.Failure)
	}
	var index *gather.IndexError
	if errors.As(err, &index) != (test.Failure.Status == gather.ErrIndex) {
		t.Errorf("%s: an IndexError only for an index: %v", test.Name, err)
	}
	return false
}

func expectShape(t *report, test *cases.Case, shape []int) {
	t.Helper()
	if !slices.Equal(shape, test.Wanted.Shape) {
		t.Errorf("%s: got the shape %v, want %v", test.Name, shape, test.Wanted.Shape)
	}
}

// expectBytes compares with the recorded bytes. Skipped rows are recorded as the byte `untouched`. In these rows the
// output must have the byte that it had before the call.
func expectBytes(t *report, test *cases.Case, found []byte, before byte) {
	t.Helper()
	if len(found) != len(test.Wanted.Bytes) {
		t.Errorf("%s: got %d bytes, want %d", test.Name, len(found), len(test.Wanted.Bytes))
		return
	}
	for i, want := range test.Wanted.Bytes {
		if found[i] != want && !(test.Bounds == gather.BoundsSkip && want == untouched && found[i] == before) {
			t.Errorf("%s: got %x, want %x", test.Name, found, test.Wanted.Bytes)
			return
		}
	}
}

// outputMemory returns memory of the size of the output. It is small if the output would be too large. Such a case must
// fail before it writes.
func outputMemory[T gather.Element](test *cases.Case, shape []int) []byte {
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

func tensorOf[T gather.Element](text *cases.Tensor) gather.Tensor[T] {
	if text.IsDense() {
		return gather.New(typed[T](text.Bytes), text.Shape...)
	}
	return gather.Strided[T](text.Bytes, text.Offset, text.Shape, text.Strides)
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
