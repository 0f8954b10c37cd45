#!/bin/sh
# Describes the machine. A missing command is reported and is not an error. Without a device, the step is skipped.
set -u
uname -a
nproc
free -g
df -h .
for command in nvidia-smi 'nvidia-smi -q -d CLOCK,ECC,POWER' 'nvcc --version' 'compute-sanitizer --version' 'ncu --version' \
  'nsys --version' 'python3 --version' "python3 -m pip list"; do
  echo "== $command"
  $command 2>&1 || echo "(not here)"
done
nvidia-smi -L 2>/dev/null | grep -q GPU || {
  echo "there is no CUDA device"
  exit 77
}
