#!/bin/sh
# linkage.sh CHECK LIBRARY: one property of the shared library as compilers and the loader see it. Exits with 0 if it
# holds, with 77 if it cannot be checked here.
set -eu
here=$(dirname "$0")
library=$2

# Prints its standard input, which names what must not be, and fails if there is any.
none() {
  if grep .; then
    echo "$1" >&2
    exit 1
  fi
}

case $1 in
  symbols) # the list of exported functions, neither more nor less; the version node is named beside each
    sed 's/$/@@LIBGATHER_1/' "$here/symbols.txt" | sort >symbols.expected
    nm -D --defined-only "$library" | awk '$2 != "A" { print $3 }' | sort | diff -u symbols.expected -
    ;;
  signatures) # every function takes and returns what it did in baseline.abi; new ones are welcome
    command -v abidiff >/dev/null || { echo "skipped: there is no abidiff (package abigail-tools)" && exit 77; }
    readelf -h "$library" | grep -q 'Machine:.*X86-64' || { echo "skipped: baseline.abi is that of x86_64" && exit 77; }
    abidiff --no-added-syms --headers-dir2 "$here/../../include/gather" "$here/baseline.abi" "$library"
    ;;
  baseline) # not a check: writes baseline.abi anew, for a release
    abidw --exported-interfaces-only --no-parameter-names --no-corpus-path --no-comp-dir-path --no-show-locs \
      --no-elf-needed --drop-private-types --headers-dir "$here/../../include/gather" \
      --out-file "$here/baseline.abi" "$library"
    ;;
  declared) # the list has every function of the header, and pins.c every number but those that grow
    header=$here/../../include/gather/gather.h
    sed -n 's/^GTH_API .*[ *]\(gth_[a-z0-9_]*\)(.*/\1/p' "$header" | sort | diff -u "$here/symbols.txt" -
    sed -e ':more' -e '/\\$/{N; s/\\\n *//; b more' -e '}' "$header" |
      sed -n 's/^#define \(GTH_[A-Z0-9_]*\) -\{0,1\}[0-9].*/\1/p' |
      grep -vxE 'GTH_VERSION|GTH_OP_LAST' | sort >numbers.header
    sed -n 's/^VALUE(\(GTH_[A-Z0-9_]*\),.*/\1/p' "$here/pins.c" | sort | diff -u - numbers.header
    ;;
  soname)
    readelf -d "$library" | grep -q 'SONAME.*\[libgather\.so\.1\]'
    ;;
  needed) # the C and C++ runtime; the last three where glibc still splits them
    readelf -d "$library" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' |
      { grep -vxE 'lib(stdc\+\+|gcc_s|m|c|pthread|dl|rt)\.so\.[0-9]+|ld-linux.*\.so\.[0-9]+' || :; } |
      none "these libraries must not be needed"
    ;;
  paths) # nothing that names the place it was built in
    readelf -d "$library" | { grep -E 'RPATH|RUNPATH' || :; } | none "no run path"
    root=$(cd "$here/../.." && pwd)
    strings -a "$library" | { grep -F "$root/" || :; } | none "no path of the source tree"
    ;;
  unique) # they would pin the library in memory for ever
    nm "$library" | { grep -E '^[0-9a-f]+ u ' || :; } | none "no unique symbols"
    ;;
  constructors) # at loading the compiler's own entry and ours, which watch for forks; at unloading its and ours, which
    # end the threads and free the slots: two each, or one where link-time optimisation has merged them
    readelf -SW "$library" | grep -qE ' \.init_array +INIT_ARRAY +[0-9a-f]+ [0-9a-f]+ 0000(10|18) '
    readelf -SW "$library" | grep -qE ' \.fini_array +FINI_ARRAY +[0-9a-f]+ [0-9a-f]+ 0000(10|18) '
    nm -D --undefined-only "$library" | { grep -E '\b(__cxa_(thread_)?atexit|atexit|on_exit)' || :; } |
      none "no static objects with destructors"
    ;;
  archive) # the static library is ordinary code, which every linker takes
    objdump -h "$library" | { grep -F '.gnu.lto_' || :; } | none "no code for link-time optimisation"
    ;;
  quiet) # no output, no signals, no environment writes, no way out of the process
    nm -D --undefined-only "$library" |
      { grep -wE '(v|f|vf|__f|__vf|__)?printf(_chk)?|puts|putchar|fputs|fwrite|write|perror|std(out|err)|exit|_exit|abort|setenv|putenv|unsetenv|signal|sigaction|raise|kill' || :; } |
      none "the library must not use these"
    ;;
  objects) # quiet and without destructors too: objects of ours that end up in a library beside foreign ones. What nvcc
    # registers for kernels is the one exception, and not among them
    nm --undefined-only "$library" |
      { grep -wE '(v|f|vf|__f|__vf|__)?printf(_chk)?|puts|putchar|fputs|fwrite|write|perror|std(out|err)|exit|_exit|abort|setenv|putenv|unsetenv|signal|sigaction|raise|kill|__cxa_(thread_)?atexit|atexit|on_exit' || :; } |
      none "the library must not use these"
    ;;
  size) # what the CUDA half adds, all architectures together
    added=$(($(stat -Lc %s "$library") - $(stat -Lc %s "$3")))
    echo "The CUDA half adds $added bytes."
    [ "$added" -lt 8000000 ]
    ;;
  without_driver) # loads where there is no driver, says so, and serves the CPU
    python3 -B "$here/without_driver.py" "$library"
    ;;
  hardened)
    readelf -d "$library" | grep -q BIND_NOW
    readelf -lW "$library" | grep -q GNU_RELRO
    readelf -lW "$library" | grep -qE 'GNU_STACK .* RW '
    readelf -d "$library" | { grep TEXTREL || :; } | none "no text relocations"
    nm -D --undefined-only "$library" | grep -q __stack_chk_fail     # stacks that are written beyond are noticed
    nm -D --undefined-only "$library" | grep -qE '__v?snprintf_chk' # and so are texts
    ;;
  branches) # every exported function begins with the mark of a branch's target
    [ "$(uname -m)" = x86_64 ] || { echo "skipped: endbr64 is of x86_64" && exit 77; }
    objdump -d --no-show-raw-insn "$library" |
      awk '/^[0-9a-f]+ <gth_[a-z0-9_]*>:/ { name = $2; getline; if ($2 != "endbr64") print name }' |
      none "these functions have no endbr64"
    ;;
  glibc) # the oldest C library that will do, which docs/platforms.md states
    newest=$(nm -D --undefined-only "$library" | sed -n 's/.*@GLIBC_\([0-9.]*\)$/\1/p' | sort -uV | tail -n 1)
    floor=$(sed -n 's/.*needs glibc \([0-9.]*[0-9]\).*/\1/p' "$here/../../docs/platforms.md" | head -n 1)
    echo "needed is glibc $newest, stated is $floor"
    [ "$(printf '%s\n%s\n' "$newest" "$floor" | sort -V | tail -n 1)" = "$floor" ]
    ;;
  *)
    echo "linkage.sh: no such check: $1" >&2
    exit 2
    ;;
esac
