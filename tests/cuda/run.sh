#!/bin/sh
# run.sh OUT [tests|sanitize|bench|all]: in a bundle (the target cuda_bundle), on a machine with a GPU: the device
# tests, the same under compute-sanitizer, and the benchmark. Each leaves its log in OUT, none keeps the next from
# running, and the exit status says whether all went well. BUDGET: seconds for the benchmark. LIMIT: for every other
# step.
set -u
here=$(cd "$(dirname "$0")" && pwd)
out=${1:?the folder for logs and results}
stage=${2:-all}
mkdir -p "$out"
out=$(cd "$out" && pwd)
cd "$here" || exit 1
export LD_LIBRARY_PATH="$here${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
export GATHER_CONFORMANCE_CASES="$here/cases"
result=0

# step LOG SECONDS COMMAND...: its end is shown, the log has all of it.
step() {
  log=$out/$1
  limit=$2
  shift 2
  echo "== $*" | tee -a "$log"
  timeout -k 20 "$limit" "$@" >>"$log" 2>&1
  code=$?
  tail -n 4 "$log"
  echo "== exit status $code" | tee -a "$log"
  [ $code = 0 ] || result=1
}

tests() {
  step tests.log "${LIMIT:-300}" ./cuda
  # They skip themselves without a device; here that is a failure.
  if grep -q 'there is no CUDA device' "$out/tests.log"; then
    echo "== there is no CUDA device"
    result=1
  fi
}

# Sizes need their gigabytes at full speed. Memcheck takes all the rest; the others take what has several blocks,
# several kernels or several streams.
sanitize() {
  some='Errors.*:Forms.*:Graphs.*:Streams.*:MemoryTest.*'
  for tool in memcheck racecheck initcheck synccheck; do
    filter=$some
    [ $tool != memcheck ] || filter='-Sizes.*'
    step sanitize.log "${LIMIT:-130}" compute-sanitizer --tool $tool --error-exitcode 99 ./cuda --gtest_brief=1 \
      "--gtest_filter=$filter"
  done
}

bench() {
  budget=${BUDGET:-480}
  step bench.log $((budget + 60)) python3 -u -B -m bench --library ./libbench_cuda.so \
    --output "$out/performance-cuda.md" --budget "$budget"
}

case $stage in
  tests | sanitize | bench) $stage ;;
  all)
    tests
    sanitize
    bench
    ;;
  *)
    echo "run.sh OUT [tests|sanitize|bench|all]" >&2
    exit 2
    ;;
esac
exit $result
