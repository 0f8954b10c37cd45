package gather

// #include "shim.h"
// #cgo nocallback gth_dtype_name
import "C"

import "reflect"

// Element is the constraint of the elements of a tensor. It allows Go's booleans, integers, floats and complex numbers,
// and the types of this package for floats that Go does not have. It also allows types that are defined from these. A
// type that is defined from Float16, or from another type of this package, has the dtype of an unsigned integer.
// Tensors of strings are a [StringTensor].
type Element interface {
	~bool | Index | ~float32 | ~float64 | ~complex64 | ~complex128
}

// Index is the constraint of indices: integers of 8 to 64 bits.
type Index interface {
	~int8 | ~int16 | ~int32 | ~int64 | ~int | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uint
}

// These types hold the bits of floats that Go does not have.
type (
	Float16           uint16 // IEEE 754 binary16
	BFloat16          uint16 // the upper half of a float32
	Float8E3M4        uint8
	Float8E4M3        uint8
	Float8E4M3B11FNUZ uint8
	Float8E4M3FN      uint8
	Float8E4M3FNUZ    uint8
	Float8E5M2        uint8
	Float8E5M2FNUZ    uint8
	Float8E8M0FNU     uint8
)

// DType is the number of a type of elements in the C library.
type DType int32

// String returns the name of the type in the C library, such as float32.
func (d DType) String() string { return C.GoString(C.gth_dtype_name(C.int32_t(d))) }

// DTypeOf returns the number of the element type T.
func DTypeOf[T Element]() DType {
	switch any((*T)(nil)).(type) {
	case *float32:
		return DTypeFloat32
	case *int64, *int:
		return DTypeInt64
	case *int32:
		return DTypeInt32
	case *Float16:
		return DTypeFloat16
	case *BFloat16:
		return DTypeBFloat16
	case *Float8E3M4:
		return DTypeFloat8E3M4
	case *Float8E4M3:
		return DTypeFloat8E4M3
	case *Float8E4M3B11FNUZ:
		return DTypeFloat8E4M3B11FNUZ
	case *Float8E4M3FN:
		return DTypeFloat8E4M3FN
	case *Float8E4M3FNUZ:
		return DTypeFloat8E4M3FNUZ
	case *Float8E5M2:
		return DTypeFloat8E5M2
	case *Float8E5M2FNUZ:
		return DTypeFloat8E5M2FNUZ
	case *Float8E8M0FNU:
		return DTypeFloat8E8M0FNU
	}
	return kinds[reflect.TypeFor[T]().Kind()]
}

var kinds = [...]DType{
	reflect.Bool:       DTypeBool,
	reflect.Int8:       DTypeInt8,
	reflect.Int16:      DTypeInt16,
	reflect.Int32:      DTypeInt32,
	reflect.Int64:      DTypeInt64,
	reflect.Int:        DTypeInt64,
	reflect.Uint8:      DTypeUint8,
	reflect.Uint16:     DTypeUint16,
	reflect.Uint32:     DTypeUint32,
	reflect.Uint64:     DTypeUint64,
	reflect.Uint:       DTypeUint64,
	reflect.Float32:    DTypeFloat32,
	reflect.Float64:    DTypeFloat64,
	reflect.Complex64:  DTypeComplex64,
	reflect.Complex128: DTypeComplex128,
}
