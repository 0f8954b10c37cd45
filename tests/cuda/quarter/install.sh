#!/bin/sh
# Installs the Python package of the bundle into python/site, with the packages that its tests need and the machine
# lacks. It downloads nothing.
set -eu
rm -rf python/site
python3 -m pip --version || {
  echo "this Python has no pip"
  exit 77
}
for package in cffi pytest numpy; do
  python3 -c "import $package" 2>/dev/null ||
    python3 -m pip install --quiet --no-index --find-links python/wheels --target python/site "$package" || {
    echo "this Python has no $package, and the bundle none for it"
    rm -rf python/site
    exit 77
  }
done
python3 -m pip install --quiet --no-index --no-deps --find-links python/wheels --target python/site libgather
PYTHONPATH=python/site python3 -u -c "
import libgather
devices = libgather.capabilities()['devices']
print(libgather.__file__, devices)
raise SystemExit(0 if devices else 'there is no CUDA device')" || exit 77
