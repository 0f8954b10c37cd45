#!/bin/sh
# Generates gather-sys/src/bindings.rs from gather.h. With --check, the script compares the file and changes nothing. It
# needs bindgen 0.73.2 (cargo install bindgen-cli --version 0.73.2 --locked), libclang and rustfmt. BINDGEN sets the
# path of bindgen if it is not in PATH. LIBCLANG_PATH sets the folder of libclang if it is not that of the LLVM
# packages. The script exits with 77 if a tool is missing.
set -eu
cd "$(dirname "$0")"

wanted=0.73.2
bindgen=${BINDGEN:-bindgen}
if ! version=$("$bindgen" --version 2>/dev/null); then
  echo "no bindgen"
  exit 77
elif [ "$version" != "bindgen $wanted" ]; then
  echo "$version, not bindgen $wanted"
  exit 77
fi

if ! command -v rustfmt >/dev/null; then
  echo "no rustfmt"
  exit 77
fi

if [ -z "${LIBCLANG_PATH:-}" ]; then
  for library in /usr/lib/llvm-*/lib/libclang.so* /usr/lib/llvm-*/lib/libclang-[0-9]*.so*; do
    [ ! -e "$library" ] || LIBCLANG_PATH=$(dirname "$library")
  done
fi
if [ -z "${LIBCLANG_PATH:-}" ]; then
  echo "no libclang"
  exit 77
fi
export LIBCLANG_PATH

# The bindings omit the comments of the header, because they have the syntax of Doxygen and not of rustdoc. The header
# only names the structs of Arrow and DLPack, which gather-sys/src/arrow.rs and dlpack.rs define.
generate() {
  "$bindgen" ../../include/gather/gather.h -o "$1" \
    --rust-target 1.85 --rust-edition 2024 --use-core --sort-semantically --merge-extern-blocks --formatter rustfmt \
    --blocklist-type 'ArrowSchema|ArrowArray|ArrowArrayStream|DLManagedTensor|DLManagedTensorVersioned' \
    --raw-line 'use crate::{ArrowArray, ArrowArrayStream, ArrowSchema, DLManagedTensor, DLManagedTensorVersioned};' \
    --allowlist-function 'gth_.*' --allowlist-type 'gth_.*' --allowlist-var 'GTH_.*' \
    --default-macro-constant-type signed --with-derive-default --with-derive-custom-struct 'gth_options=PartialEq,Eq,Hash' --no-doc-comments -- -std=c11
}

if [ "${1:-}" = --check ]; then
  fresh=$(mktemp)
  trap 'rm -f "$fresh"' EXIT
  generate "$fresh"
  diff -u gather-sys/src/bindings.rs "$fresh"
  echo "bindings.rs matches gather.h"
else
  generate gather-sys/src/bindings.rs
fi
