#!/bin/sh
# Usage: linkage.sh CHECK LIBRARY
# Checks one property of the shared library for compilers and the loader. Exits with 0 if the library has the property,
# and with 77 if it cannot be checked.
set -eu
here=$(dirname "$0")
library=$2

# Fails if the standard input is not empty, and prints it.
none() {
  if grep .; then
    echo "$1" >&2
    exit 1
  fi
}

case $1 in
  symbols) # The library exports exactly the functions in symbols.txt, each with the version node.
    sed 's/$/@@LIBGATHER_1/' "$here/symbols.txt" | sort >symbols.expected
    nm -D --defined-only "$library" | awk '$2 != "A" { print $3 }' | sort | diff -u symbols.expected -
    ;;
  signatures) # Each function has the signature that is in baseline.abi. New functions are allowed.
    command -v abidiff >/dev/null || { echo "skipped: there is no abidiff (package abigail-tools)" && exit 77; }
    readelf -h "$library" | grep -q 'Machine:.*X86-64' || { echo "skipped: baseline.abi is that of x86_64" && exit 77; }
    abidiff --no-added-syms --headers-dir2 "$here/../../include/gather" "$here/baseline.abi" "$library"
    ;;
  baseline) # This is not a check. It writes baseline.abi for a release.
    abidw --exported-interfaces-only --no-parameter-names --no-corpus-path --no-comp-dir-path --no-show-locs \
      --no-elf-needed --drop-private-types --headers-dir "$here/../../include/gather" \
      --out-file "$here/baseline.abi" "$library"
    ;;
  soname)
    readelf -d "$library" | grep -q 'SONAME.*\[libgather\.so\.1\]'
    ;;
  needed) # The library needs only the C and C++ runtime. Older releases of glibc split it into more libraries.
    readelf -d "$library" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' |
      { grep -vxE 'lib(stdc\+\+|gcc_s|m|c|pthread|dl|rt)\.so\.[0-9]+|ld-linux.*\.so\.[0-9]+' || :; } |
      none "these libraries must not be needed"
    ;;
  paths) # The library does not contain the path of its build.
    readelf -d "$library" | { grep -E 'RPATH|RUNPATH' || :; } | none "no run path"
    root=$(cd "$here/../.." && pwd)
    strings -a "$library" | { grep -F "$root/" || :; } | none "no path of the source tree"
    ;;
  unique) # Unique symbols would prevent unloading the library.
    nm "$library" | { grep -E '^[0-9a-f]+ u ' || :; } | none "no unique symbols"
    ;;
  tiers) # The objects of the tiers have no function that the linker merges with a copy in other objects. It might keep the
    # copy that some processors cannot run.
    shift
    nm "$@" | { grep -E ' [WVu] ' || :; } | none "no shared functions"
    ;;
  constructors) # There is one entry of the compiler, and one or two of the library. Those of the library register fork
    # handlers when it is loaded, and end the threads and free the slots when it is unloaded.
    readelf -SW "$library" | grep -qE ' \.init_array +INIT_ARRAY +[0-9a-f]+ [0-9a-f]+ 0000(10|18) '
    readelf -SW "$library" | grep -qE ' \.fini_array +FINI_ARRAY +[0-9a-f]+ [0-9a-f]+ 0000(10|18) '
    nm -D --undefined-only "$library" | { grep -E '\b(__cxa_(thread_)?atexit|atexit|on_exit)' || :; } |
      none "no static objects with destructors"
    ;;
  archive) # The static library contains only ordinary code, which every linker accepts.
    objdump -h "$library" | { grep -F '.gnu.lto_' || :; } | none "no code for link-time optimisation"
    ;;
  quiet) # The library does not print, raise signals, change the environment or end the process.
    nm -D --undefined-only "$library" |
      { grep -wE '(v|f|vf|__f|__vf|__)?printf(_chk)?|puts|putchar|fputs|fwrite|write|perror|std(out|err)|exit|_exit|abort|setenv|putenv|unsetenv|signal|sigaction|raise|kill' || :; } |
      none "the library must not use these"
    ;;
  objects) # The same, and no destructors, for objects that are linked with the CUDA runtime. The code that nvcc generates
    # to register kernels is not included.
    nm --undefined-only "$library" |
      { grep -wE '(v|f|vf|__f|__vf|__)?printf(_chk)?|puts|putchar|fputs|fwrite|write|perror|std(out|err)|exit|_exit|abort|setenv|putenv|unsetenv|signal|sigaction|raise|kill|__cxa_(thread_)?atexit|atexit|on_exit' || :; } |
      none "the library must not use these"
    ;;
  size) # Without debug information, the CUDA code for all architectures adds less than 8 MB.
    strip -o size.cuda "$library"
    strip -o size.cpu "$3"
    added=$(($(stat -c %s size.cuda) - $(stat -c %s size.cpu)))
    rm size.cuda size.cpu
    echo "The CUDA code adds $added bytes."
    [ "$added" -lt 8000000 ]
    ;;
  without_driver) # Without a driver the library loads, reports that there is no device, and works on the CPU.
    python3 -B "$here/without_driver.py" "$library"
    ;;
  hardened)
    readelf -d "$library" | grep -q BIND_NOW
    readelf -lW "$library" | grep -q GNU_RELRO
    readelf -lW "$library" | grep -qE 'GNU_STACK .* RW '
    readelf -d "$library" | { grep TEXTREL || :; } | none "no text relocations"
    nm -D --undefined-only "$library" | grep -q __stack_chk_fail     # overflows of stack buffers are detected
    nm -D --undefined-only "$library" | grep -qE '__v?snprintf_chk' # overflows of text buffers are detected
    ;;
  branches) # Every exported function begins with endbr64, the mark of a valid branch target.
    [ "$(uname -m)" = x86_64 ] || { echo "skipped: endbr64 exists only on x86_64" && exit 77; }
    objdump -d --no-show-raw-insn "$library" |
      awk '/^[0-9a-f]+ <gth_[a-z0-9_]*>:/ { name = $2; getline; if ($2 != "endbr64") print name }' |
      none "these functions have no endbr64"
    ;;
  glibc) # docs/platforms.md states the oldest release of glibc that works.
    newest=$(nm -D --undefined-only "$library" | sed -n 's/.*@GLIBC_\([0-9.]*\)$/\1/p' | sort -uV | tail -n 1)
    floor=$(sed -n 's/.*needs glibc \([0-9.]*[0-9]\).*/\1/p' "$here/../../docs/platforms.md" | head -n 1)
    echo "The library needs glibc $newest. The documentation states $floor."
    [ "$(printf '%s\n%s\n' "$newest" "$floor" | sort -V | tail -n 1)" = "$floor" ]
    ;;
  *)
    echo "linkage.sh: no such check: $1" >&2
    exit 2
    ;;
esac
