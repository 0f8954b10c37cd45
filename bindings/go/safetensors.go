//go:build cgo

package gather

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"syscall"
	"unicode/utf8"
)

// HeaderError is the error of a file with a malformed header, or without the requested tensor.
type HeaderError struct {
	Path   string
	Reason string
}

// Error returns the path and the reason.
func (e *HeaderError) Error() string { return "gather: " + e.Path + ": " + e.Reason }

// OpenSafetensors opens the tensor with a name in safetensors files. With several files, its rows in the first file are
// followed by those in the second file, and so on. Only headers are read. Other rules are those of [OpenTable].
//
// The headers are validated as by the safetensors library. A malformed header returns a [*HeaderError]. So does a file
// without the tensor, with a tensor of another type than T, or with rows of another shape than those before.
func OpenSafetensors[T Element](name string, paths []string, options ...TableOption) (*Table[T], error) {
	var shape []int
	segments := make([]Segment, len(paths))
	for i, path := range paths {
		file, found, err := findTensor(i, path, name)
		if err != nil {
			return nil, err
		}
		defer file.Close() // The table has a duplicate.
		refuse := func(reason string) error { return &HeaderError{path, fmt.Sprintf("tensor %q has %s", name, reason)} }
		switch want := DTypeOf[T](); {
		case found.dtype != want:
			return nil, refuse(fmt.Sprintf("the dtype %s, needed is %v", found.name, want))
		case len(found.shape) == 0:
			return nil, refuse("no rows")
		case i == 0:
			shape = slices.Clone(found.shape)
		case !slices.Equal(found.shape[1:], shape[1:]):
			return nil, refuse(fmt.Sprintf("rows of shape %v, needed are %v", found.shape[1:], shape[1:]))
		default:
			shape[0] += found.shape[0]
		}
		segments[i] = Segment{File: file, Offset: found.begin, Rows: found.shape[0]}
	}
	return OpenTable[T](shape, segments, options...)
}

// A stored is a tensor in a file.
type stored struct {
	name       string // of the dtype
	dtype      DType  // 0 if this package does not have it
	shape      []int
	begin, end int // bytes in the file
}

// findTensor opens a file, and finds a tensor in it.
func findTensor(segment int, path, name string) (*os.File, stored, error) {
	info, err := os.Stat(path) // Opening a pipe waits for its writer.
	if err == nil && !info.Mode().IsRegular() {
		return nil, stored{}, &HeaderError{path, "it is no regular file"}
	}
	var file *os.File
	if err == nil {
		file, err = os.Open(path)
	}
	var found stored
	if err == nil {
		if found, err = readHeader(file, name); err == nil {
			return file, found, nil
		}
		file.Close()
	}
	var cause syscall.Errno
	if errors.As(err, &cause) {
		return nil, stored{}, failOpen(segment, path, cause)
	}
	return nil, stored{}, &HeaderError{path, err.Error()}
}

// readHeader reads and validates all of a header.
func readHeader(file *os.File, name string) (stored, error) {
	const most = 100_000_000 // bytes of a header, as in the safetensors library
	info, err := file.Stat()
	if err != nil {
		return stored{}, err
	}
	size := uint64(info.Size())
	var length [8]byte
	if _, err := io.ReadFull(file, length[:]); err != nil {
		return stored{}, fmt.Errorf("the length of the header: %w", err)
	}
	count := binary.LittleEndian.Uint64(length[:])
	if count > most || count > size-8 {
		return stored{}, fmt.Errorf("a header of %d bytes in a file of %d bytes", count, size)
	}
	header := make([]byte, count)
	if _, err := io.ReadFull(file, header); err != nil {
		return stored{}, fmt.Errorf("the header: %w", err)
	}
	if !utf8.Valid(header) {
		return stored{}, errors.New("the header is not UTF-8")
	}
	return parseHeader(header, name, int(size))
}

func parseHeader(header []byte, name string, size int) (stored, error) {
	entries, err := parseObject(header)
	if err != nil {
		return stored{}, fmt.Errorf("the header: %w", err)
	}
	delete(entries, "__metadata__")
	first := 8 + len(header)
	tensors := make([]stored, 0, len(entries))
	var wanted *stored
	for key, entry := range entries {
		tensor, err := parseTensor(entry, first, size)
		if err != nil {
			return stored{}, fmt.Errorf("tensor %q: %w", key, err)
		}
		if tensors = append(tensors, tensor); key == name {
			wanted = &tensor
		}
	}
	slices.SortFunc(tensors, func(a, b stored) int {
		return cmp.Or(cmp.Compare(a.begin, b.begin), cmp.Compare(a.end, b.end))
	})
	for _, each := range tensors {
		if each.begin != first {
			return stored{}, fmt.Errorf("a tensor begins at byte %d, the one before it ends at %d", each.begin, first)
		}
		first = each.end
	}
	if first != size {
		return stored{}, fmt.Errorf("the tensors end at byte %d of %d", first, size)
	}
	if wanted == nil {
		return stored{}, fmt.Errorf("there is no tensor %q", name)
	}
	return *wanted, nil
}

// parseTensor validates the entry of a tensor. first is the byte at which the data of the file begins.
func parseTensor(entry []byte, first, size int) (stored, error) {
	fields, err := parseObject(entry)
	if err != nil {
		return stored{}, err
	}
	var tensor stored
	if err := json.Unmarshal(fields["dtype"], &tensor.name); err != nil {
		return stored{}, fmt.Errorf("dtype: %w", err)
	}
	kind, ok := storedKinds[tensor.name]
	if !ok {
		return stored{}, fmt.Errorf("unknown dtype %q", tensor.name)
	}
	tensor.dtype = kind.dtype
	if tensor.shape, err = parseNumbers(fields["shape"]); err != nil {
		return stored{}, fmt.Errorf("shape: %w", err)
	}
	offsets, err := parseNumbers(fields["data_offsets"])
	if err != nil || len(offsets) != 2 {
		return stored{}, errors.New("data_offsets are not two numbers")
	}
	if offsets[0] > offsets[1] || offsets[1] > size-first {
		return stored{}, fmt.Errorf("bytes %v are not in the file", offsets)
	}
	tensor.begin, tensor.end = first+offsets[0], first+offsets[1]
	bits, ok := byteCount(kind.bits, tensor.shape)
	if !ok || bits%8 != 0 || bits/8 != offsets[1]-offsets[0] {
		return stored{}, fmt.Errorf("%s of shape %v does not have %d bytes", tensor.name, tensor.shape, offsets[1]-offsets[0])
	}
	return tensor, nil
}

// parseObject parses a JSON object without duplicate keys.
func parseObject(data []byte) (map[string]json.RawMessage, error) {
	decoder, fields := json.NewDecoder(bytes.NewReader(data)), map[string]json.RawMessage{}
	if token, err := decoder.Token(); err != nil || token != json.Delim('{') {
		return nil, errors.New("it is no JSON object")
	}
	for decoder.More() {
		token, err := decoder.Token()
		if err != nil {
			return nil, err
		}
		key, _ := token.(string) // Each key is a string.
		if _, twice := fields[key]; twice {
			return nil, fmt.Errorf("the key %q is there twice", key)
		}
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			return nil, err
		}
		fields[key] = value
	}
	if _, err := decoder.Token(); err != nil {
		return nil, err
	}
	if _, err := decoder.Token(); err != io.EOF {
		return nil, errors.New("text follows the JSON object")
	}
	return fields, nil
}

// parseNumbers parses an array of integers that are not negative.
func parseNumbers(data []byte) ([]int, error) {
	var texts []json.RawMessage
	if err := json.Unmarshal(data, &texts); err != nil || texts == nil {
		return nil, errors.New("it is no array")
	}
	numbers := make([]int, len(texts))
	for i, text := range texts {
		number, err := strconv.ParseUint(string(text), 10, 63)
		if err != nil {
			return nil, err
		}
		numbers[i] = int(number)
	}
	return numbers, nil
}

// storedKinds has the dtypes of safetensors, and the bits of an element.
var storedKinds = map[string]struct {
	dtype DType
	bits  int
}{
	"BOOL": {DTypeBool, 8}, "U8": {DTypeUint8, 8}, "I8": {DTypeInt8, 8}, "U16": {DTypeUint16, 16},
	"I16": {DTypeInt16, 16}, "U32": {DTypeUint32, 32}, "I32": {DTypeInt32, 32}, "U64": {DTypeUint64, 64},
	"I64": {DTypeInt64, 64}, "F16": {DTypeFloat16, 16}, "BF16": {DTypeBFloat16, 16}, "F32": {DTypeFloat32, 32},
	"F64": {DTypeFloat64, 64}, "C64": {DTypeComplex64, 64}, "F8_E4M3": {DTypeFloat8E4M3FN, 8},
	"F8_E5M2": {DTypeFloat8E5M2, 8}, "F8_E8M0": {DTypeFloat8E8M0FNU, 8}, "F8_E4M3FNUZ": {DTypeFloat8E4M3FNUZ, 8},
	"F8_E5M2FNUZ": {DTypeFloat8E5M2FNUZ, 8}, "F6_E2M3": {0, 6}, "F6_E3M2": {0, 6}, "F4": {0, 4},
}
