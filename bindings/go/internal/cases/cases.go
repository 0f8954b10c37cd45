// Package cases reads the conformance cases for the tests of package gather, because test files cannot use cgo.
package cases

// The header is in one of these folders: that of a checkout, or that of the published module.

// #cgo CFLAGS: -I${SRCDIR}/../../../../include -isystem ${SRCDIR}/../..
// #include <stdlib.h>
// #include "cases.h"
import "C"

import (
	"errors"
	"strings"
	"unsafe"

	"libgather.io/gather"
)

// Case is a case that the README of tests/conformance defines.
type Case struct {
	Name, Op        string
	Options         []gather.Option // without the fill value
	FillValue       []byte          // nil, or the fill value in its first bytes
	Bounds          gather.BoundsPolicy
	Params, Indices Tensor // Params is the target of a scatter
	Updates         Tensor // only in a scatter
	Bags, Weights   Tensor // only in gather_bags, which need not have them
	Codec           string // the format of packed params, and the fields that differ from it; else empty
	Scales, Zeros   Tensor // only of packed params, which need not have them
	BagFormat       int    // Offsets, Starts, Lengths or another number; 0 for other operations
	BagCount        int
	Reduces         bool // true if any NaN is correct: the call decodes packed rows, adds, multiplies or compares
	Wanted          Tensor
	Failure         *gather.Error // nil if the call succeeds
}

// Values of BagFormat.
const Offsets, Starts, Lengths = C.GTH_BAGS_OFFSETS, C.GTH_BAGS_STARTS, C.GTH_BAGS_LENGTHS

// Tensor is a tensor of a case. If it is absent, DType is empty.
type Tensor struct {
	DType   string
	Shape   []int
	Offset  int
	Strides []int // nil if the tensor is dense
	Bytes   []byte
	Strings []string
}

func (t *Tensor) IsDense() bool { return t.Strides == nil && t.Offset == 0 }

func (c *Case) IsScatter() bool { return c.Updates.DType != "" }

func (c *Case) IsGradient() bool { return strings.HasSuffix(c.Op, "_gradient") }

// Read returns the cases of a file.
func Read(path string) (cases []Case, err error) {
	name := C.CString(path)
	defer C.free(unsafe.Pointer(name))
	var file C.conformance_file
	C.conformance_read(name, &file)
	defer C.conformance_free(&file)
	if text := C.GoString(&file.error[0]); text != "" {
		return nil, errors.New(text)
	}
	for _, text := range unsafe.Slice(file.cases, file.count) {
		cases = append(cases, caseOf(&text))
	}
	return cases, nil
}

func caseOf(text *C.conformance_case) Case {
	given, err := &text.options, &text.error
	result := Case{
		Name: C.GoString(text.name), Op: C.GoString(text.op_name), Options: optionsOf(given),
		Bounds: gather.BoundsPolicy(given.bounds), Params: tensorOf(&text.params), Indices: tensorOf(&text.indices),
		Updates: tensorOf(&text.updates), Bags: tensorOf(&text.bags), Weights: tensorOf(&text.weights),
		Codec: C.GoString(text.codec), Scales: tensorOf(&text.scales), Zeros: tensorOf(&text.zeros),
		BagFormat: int(given.bag_format), BagCount: int(given.bag_count), Wanted: tensorOf(&text.out),
		Reduces: given.reduction > C.GTH_REDUCTION_NONE || given.bag_format != 0 || text.codec != nil,
	}
	if given.fill == C.GTH_FILL_VALUE && result.Params.DType != "string" {
		result.FillValue = C.GoBytes(unsafe.Pointer(&given.fill_value), C.int(unsafe.Sizeof(given.fill_value)))
	}
	if err.status != 0 {
		result.Failure = &gather.Error{
			Status: gather.Status(err.status), Operand: gather.Operand(err.operand), Component: int(err.component),
			Position: int64(err.position), Value: int64(err.value), Limit: int64(err.limit), Item: -1,
			Unsigned: err.flags&C.GTH_ERROR_UNSIGNED != 0, Wrap: err.flags&C.GTH_ERROR_WRAP != 0,
		}
	}
	return result
}

func optionsOf(given *C.gth_options) (options []gather.Option) {
	set := func(number C.int32_t, option gather.Option) {
		if number != 0 {
			options = append(options, option)
		}
	}
	set(1, gather.BatchDims(int(given.batch_dims)))
	set(given.has_axis, gather.Axis(int(given.axis)))
	set(given.has_padding_index, gather.PaddingIndex(int(given.padding_index)))
	set(given.opset, gather.Opset(int(given.opset)))
	set(given.profile, gather.WithProfile(gather.Profile(given.profile)))
	set(given.negative, gather.Negative(gather.NegativePolicy(given.negative)))
	set(given.bounds, gather.Bounds(gather.BoundsPolicy(given.bounds)))
	set(given.fill, gather.Fill(gather.FillPolicy(given.fill)))
	set(given.extents, gather.Extents(gather.ExtentsPolicy(given.extents)))
	set(given.reduction, gather.Reduction(gather.ReductionPolicy(given.reduction)))
	set(given.initial, gather.Initial(gather.InitialPolicy(given.initial)))
	set(given.accumulate, gather.Accumulate(gather.AccumulatePolicy(given.accumulate)))
	set(given.pool, gather.Pool(gather.PoolPolicy(given.pool)))
	set(given.empty, gather.Empty(gather.EmptyPolicy(given.empty)))
	return options
}

func tensorOf(text *C.conformance_tensor) (tensor Tensor) {
	desc := &text.desc
	if desc.dtype == 0 {
		return tensor
	}
	tensor = Tensor{
		DType: gather.DType(desc.dtype).String(), Shape: intsOf(desc.shape, int(desc.ndim)), Offset: int(desc.offset),
		Strides: intsOf(desc.strides, int(desc.ndim)), Bytes: C.GoBytes(desc.data, C.int(desc.extent)),
	}
	ends := intsOf(text.string_offsets, int(text.string_count)+1)
	for i := range int(text.string_count) {
		tensor.Strings = append(tensor.Strings, string(tensor.Bytes[ends[i]:ends[i+1]]))
	}
	return tensor
}

// intsOf returns nil if there is no list.
func intsOf(first *C.int64_t, count int) []int {
	if first == nil {
		return nil
	}
	numbers := make([]int, count)
	for i, number := range unsafe.Slice(first, count) {
		numbers[i] = int(number)
	}
	return numbers
}
