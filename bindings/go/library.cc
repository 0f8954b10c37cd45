//go:build !gather_shared && !gather_static

// This file is the library as one source. cgo compiles the files of this folder and links them into the program. In a
// checkout this file includes the sources of the tree. In the published module it contains their full text. Sources for
// one system or one instruction set are in separate files of this folder.

#if defined(__clang__)
#error "the library is compiled here by GCC: set CC=gcc and CXX=g++, or install it and build with -tags gather_shared"
#endif

// The AVX2 kernels are in another package. The symbol is weak, because cgo first links only this package, as a test.
namespace gather::cpu {
struct Tier;
extern const Tier avx2_tier __attribute__((weak));
}  // namespace gather::cpu

#include "api/library.cpp"
#include "api/arrow.cpp"
#include "api/context.cpp"
#include "api/copy.cpp"
#include "api/dlpack.cpp"
#include "api/gather_strings.cpp"
#include "api/handles.cpp"
#include "api/infer.cpp"
#include "api/make.cpp"
#include "api/many.cpp"
#include "api/operands.cpp"
#include "api/operations.cpp"
#include "api/partition.cpp"
#include "api/plan.cpp"
#include "api/run.cpp"
#include "api/scatter_strings.cpp"
#include "api/storage.cpp"
#include "api/string_output.cpp"
#include "api/strings.cpp"
#include "api/tensor.cpp"
#include "core/base/error.cpp"
#include "core/meaning/attributes.cpp"
#include "core/meaning/batch.cpp"
#include "core/meaning/dtypes.cpp"
#include "core/meaning/geometry.cpp"
#include "core/meaning/pairs.cpp"
#include "core/meaning/request.cpp"
#include "core/meaning/shape.cpp"
#include "core/meaning/shards.cpp"
#include "core/options/operation.cpp"
#include "core/options/options.cpp"
#include "core/options/profile.cpp"
#include "core/os/memory.cpp"
#include "core/os/os.cpp"
#include "core/plan/build.cpp"
#include "core/plan/build_dense.cpp"
#include "core/plan/layout.cpp"
#include "core/plan/line.cpp"
#include "core/plan/lower.cpp"
#include "core/plan/operands.cpp"
#include "core/plan/placement.cpp"
#include "core/plan/short.cpp"
#include "core/types/dtype.cpp"
#include "cpu/accumulate.cpp"
#include "cpu/executor.cpp"
#include "cpu/hot_rows.cpp"
#include "cpu/indices.cpp"
#include "cpu/job.cpp"
#include "cpu/kernels.cpp"
#include "cpu/move.cpp"
#include "cpu/packed.cpp"
#include "cpu/partition.cpp"
#include "cpu/run.cpp"
#include "cpu/scatter.cpp"
#include "cpu/short.cpp"
#include "cpu/small.cpp"
#include "cpu/string_scatter.cpp"
#include "cpu/strings.cpp"
#include "cpu/tiers/choice.cpp"
#include "cpu/validate.cpp"
#include "cuda/stub.cpp"
