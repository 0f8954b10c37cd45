#!/bin/sh
# What the machine is. What it does not know is said, and no failure; without a device it is one that was skipped.
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
