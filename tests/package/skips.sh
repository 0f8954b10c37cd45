#!/bin/sh
# Usage: skips.sh SKIPS SUMMARY
# Tests .ci/skips.py and tests/summary.py: a strict run fails if a skipped test is not in .ci/allowed_skips.txt. A test
# that the long run has may be skipped only by the gate, and one that needs other libraries only without the peers. A
# strict run also fails if it has fewer tests than .ci/least_tests.txt states.
set -eu
skips=$1 summary=$2
rm -rf skips
mkdir skips

# verdict RUNNER LINE LOG: prints whether a strict run accepts the line in a log.
verdict() {
  echo "$2" >"skips/$3"
  if python3 "$skips" "$1" "skips/$3" >/dev/null; then echo accepted; else echo refused; fi
}

# expect VERDICT RUNNER LINE [LOG]
expect() {
  found=$(verdict "$2" "$3" "${4:-log}")
  [ "$found" = "$1" ] || { echo "$found, and not $1: $2: $3" && exit 1; }
}

export GATHER_STRICT=1 GATHER_LONG=0 ALSO=
expect accepted pytest 'SKIPPED [2] tests/test_threads.py:76: this Python has a GIL'
expect refused pytest 'SKIPPED [1] tests/test_package.py:152: no C compiler'
expect refused go 'skipped: TestConformance: this module has no conformance cases'
expect refused cargo 'skipped: rust an emulated CUDA device (GATHER_EMULATED is not the path of a library)'
expect refused cargo 'test result: ok. 5 passed; 0 failed; 1 ignored; 0 measured'
expect accepted cargo 'test result: ok. 5 passed; 0 failed; 0 ignored; 0 measured'
expect accepted pytest 'SKIPPED [7] tests/test_torch.py:17: torch is not installed'
expect accepted cargo 'skipped: rust the comparison of the bindings with gather.h (only with GATHER_LONG=1)'
emulated='SKIPPED [2] tests/test_devices.py:16: GATHER_EMULATED does not name the library with an emulated CUDA device'
expect refused pytest "$emulated"
GATHER_SANITIZED=1
export GATHER_SANITIZED
expect accepted pytest "$emulated"
unset GATHER_SANITIZED
export GATHER_LONG=1
expect refused cargo 'skipped: rust the comparison of the bindings with gather.h (only with GATHER_LONG=1)'
expect accepted pytest 'SKIPPED [7] tests/test_torch.py:17: torch is not installed'
export ALSO=frameworks
expect refused pytest 'SKIPPED [7] tests/test_torch.py:17: torch is not installed'
expect accepted pytest 'SKIPPED [1] tests/test_dask.py:15: dask is not installed'
export ALSO=peers
expect refused pytest 'SKIPPED [1] tests/test_dask.py:15: dask is not installed'

for run in 'pytest python' 'cargo rust' 'go go' 'java java'; do
  expect accepted "${run% *}" '9999 passed' "${run#* }.log"
  expect refused "${run% *}" '9 passed' "${run#* }.log"
done
expect accepted pytest '2000 passed, 7999 skipped, 17 warnings in 1.00s' python.log
expect accepted go '9999 tests passed' go.log
expect refused go '' go.log

# summarized COUNT: prints whether a strict run accepts a run of ctest with this number of tests.
summarized() {
  mkdir -p skips/build/test
  {
    echo '<testsuite>'
    seq "$1" | sed 's|.*|<testcase name="&"/>|'
    echo '</testsuite>'
  } >skips/build/test/junit.xml
  echo "100% tests passed, 0 tests failed out of $1" >skips/build/test/ctest.log
  if (cd skips && python3 "$summary" test) >/dev/null; then echo accepted; else echo refused; fi
}

[ "$(summarized 9999)" = accepted ]
[ "$(summarized 9)" = refused ]
