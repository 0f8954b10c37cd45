# shellcheck shell=sh disable=SC2034,SC2154 # ./dev and the files of .ci share variables
# Sanitizers, fuzzers, random requests and coverage.

# Removes the cache of CMake if the compiler of a preset is in another folder than before, for example after a change of
# GATHER_CCACHE. CMake would otherwise ignore the settings of the preset.
forget_compiler() {
  for preset in "$@"; do
    cache=build/$preset/CMakeCache.txt
    [ -f "$cache" ] || continue
    before=$(sed -n 's/^CMAKE_CXX_COMPILER:[A-Z]*=//p' "$cache")
    [ "$before" = "$(command -v clang++-19)" ] || rm "$cache"
  done
}

clang() {
  compiler
  want clang-19 command -v clang-19
  want libclang-rt-19-dev test -d /usr/lib/llvm-19/lib/clang/19/lib
  want libgtest-dev pkg-config --exists gtest_main
  install_missing
  forget_compiler fuzz coverage msan
}

# The fuzz targets. Each has a corpus.
fuzz_targets() {
  ls tests/fuzz/corpus
}

# task_fuzz [SECONDS [LIMIT] | --runs N] runs each target with the shipped library, and with the library that splits every
# call into pieces. One target per CPU runs at a time, and none starts after LIMIT seconds. Those that have run for the
# fewest seconds by .ci/results start first, with a seed that differs from those of earlier runs. Failing inputs are in
# build/fuzz. New inputs are in build/corpus, which the next run uses. With --runs, build/corpus is not used.
task_fuzz() {
  seed=${GATHER_SEED:-1}
  end=$(($(date +%s) + 86400))
  if [ "${1:-}" = --runs ]; then
    length="-runs=$2 -reload=0"
    corpus="build/fuzz/corpus/\$0"
    rm -rf build/fuzz/corpus
  else
    length="-max_total_time=$((${1:-20} / 2))"
    seed="\$(($seed + \$2))"
    end=$(($(date +%s) + ${2:-86400}))
    corpus="build/corpus/\$1"
  fi
  clang
  cmake --workflow --preset fuzz
  rm -f build/fuzz/*.log
  python3 .ci/fuzzed.py | xargs -P "$(nproc)" -L 1 sh -c "
    began=\$(date +%s)
    [ \$began -lt $end ] || exit 0
    mkdir -p $corpus && ASAN_OPTIONS=allocator_may_return_null=1 build/fuzz/tests/fuzz/fuzz_\$0 $length \\
      -seed=$seed -max_len=400 \\
      -timeout=60 -print_final_stats=1 -verbosity=0 -artifact_prefix=build/fuzz/found_\$0_ $corpus tests/fuzz/corpus/\$1 \\
      >build/fuzz/\$0.log 2>&1 || { cat build/fuzz/\$0.log && exit 1; }
    echo seconds: \$((\$(date +%s) - began)) >>build/fuzz/\$0.log" || result=1
  for log in build/fuzz/*.log; do
    [ -f "$log" ] || continue # no target has started
    name=$(basename "$log" .log)
    runs=$(sed -n 's/^stat::number_of_executed_units: //p' "$log")
    seconds=$(sed -n 's/^seconds: //p' "$log")
    echo "$(date -u +%FT%TZ) $name: ${runs:-no} executions in ${seconds:-0} s, $(sed -n 's/^fuzz: //p' "$log")"
  done
}

# Runs the tests with threads under the thread sanitizer.
task_tsan() {
  compiler
  want libgtest-dev pkg-config --exists gtest_main
  install_missing
  cmake --preset tsan
  names='threads plans elements oracle bags_oracle bag_gradients_oracle packed partition scatter scatter_oracle'
  names="$names scatter_positions columns files many bound_plans"
  # shellcheck disable=SC2046,SC2086 # the names are words
  cmake --build --preset tsan --target $(printf '%s_threads ' $names)
  # The excluded tests contain intended races, or start threads after a fork, which the sanitizer does not support.
  GATHER_CASES=20000 ctest --preset tsan -R "^($(echo "$names" | tr ' ' '|'))_threads\\." \
    -E 'SmallestInvalidTupleOfAll|RacingIds|IndicesThatChange|FilesForks' --timeout 3600 || result=1
}

# Runs the tests of threads, forks, signals and concurrent writers for a longer time.
task_threads() {
  compiler
  want libgtest-dev pkg-config --exists gtest_main
  install_missing
  cmake --preset test
  cmake --build --preset test --target threads threads_threads threads_fork_memory threads_fork_memory_threads load_cycles
  mkdir -p build/soak
  GATHER_FORKS=1000 GATHER_CALLS=10000 GATHER_RACE_SECONDS=60 GATHER_SIGNAL_SECONDS=10 \
    ctest --preset test -R 'Hostile\.G|SixtyFour|ConcurrentHandles' --timeout 3600 \
    --output-log build/soak/ctest.log || result=1
}

# Compares more random calls with the oracles than ./dev test does. GATHER_SEED is the seed.
task_random() {
  compiler
  want libgtest-dev pkg-config --exists gtest_main
  install_missing
  names='oracle elements scatter_oracle same_forms packed'
  cmake --preset test
  # shellcheck disable=SC2046,SC2086 # the names are words
  cmake --build --preset test --target $names $(printf '%s_threads ' $names)
  GATHER_CASES=${GATHER_CASES:-1000000} ctest --preset test -R "^($(echo "$names" | tr ' ' '|'))(_threads)?\\." \
    --timeout 3600 || result=1
}

# covered PROGRAM [ARGUMENT...]: runs a program whose counters are part of the report.
covered() {
  LLVM_PROFILE_FILE="build/coverage/%4m.profraw" GATHER_CASES=40000 "$@" >/dev/null || result=1
}

# All programs of tests/cpp run, except those that execute no lines of their own or measure the stack.
task_coverage() {
  clang
  want llvm-19 command -v llvm-cov-19
  install_missing
  cmake --preset coverage
  cmake --build --preset coverage --target tests/cpp/all replays cuda_emulated
  rm -f build/coverage/*.profraw
  for program in build/coverage/tests/cpp/* build/coverage/tests/cuda/cuda_emulated; do
    [ -f "$program" ] && [ -x "$program" ] || continue
    case ${program##*/} in huge_dims* | load_cycles | paths | plan_builders | same_forms* | stack*) continue ;; esac
    covered "$program" --gtest_brief=1 --gtest_filter='-*SmallestInvalidTupleOfAll*:*C7_*:*C8_*:*C9_*'
  done
  for program in build/coverage/tests/fuzz/replay_*; do
    name=${program##*/replay_}
    covered "$program" "tests/fuzz/corpus/${name%_threads}" --random 4000
  done
  # Only the library with failure points supports GATHER_TIER.
  for tier in portable avx2; do
    for name in oracle packed packed_conformance bags_oracle; do
      covered env GATHER_TIER=$tier "build/coverage/tests/cpp/${name}_threads" --gtest_brief=1
    done
  done
  llvm-profdata-19 merge -o build/coverage/all.profdata build/coverage/*.profraw
  llvm-cov-19 report build/coverage/lib/libgather.so -object build/coverage/lib/libgather_testing.so \
    -object build/coverage/tests/cpp/os -object build/coverage/tests/cpp/tiers \
    -object build/coverage/lib/libgather_emulated.so -ignore-filename-regex='(^|/)(tests|src/cuda)/' \
    -instr-profile build/coverage/all.profdata -show-region-summary=0 -show-branch-summary \
    src/api src/execution src/files src/columns src/core src/cpu | tee build/coverage/report.txt
}

task_msan() {
  clang
  cmake --workflow --preset msan || result=1
}

task_mutate() {
  compiler
  case " $* " in *' --binding java '*) java_toolchain ;; esac
  python3 tests/mutate "$@"
}

task_soak() {
  exec python3 .ci/soak.py "$@"
}
