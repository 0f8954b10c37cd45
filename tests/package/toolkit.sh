#!/bin/sh
# Usage: toolkit.sh old|broken|none CMAKE GENERATOR SOURCE
# Configures with an nvcc that cannot be used. With AUTO, the library is built for the CPU, and one line states the
# reason. With ON, the configuration fails with the same reason.
set -eu
toolkit=$1 cmake=$2 generator=$3 source=$4
work=$PWD/toolkit-$toolkit
rm -rf "$work"
mkdir -p "$work"

nvcc=$work/nvcc
case $toolkit in
  old) release=11.8 why="$nvcc is of CUDA 11.8, 13.0 is needed" ;;
  broken) release=99.0 why="$nvcc compiles nothing with " ;;
  none) nvcc=$work/nowhere why='there is no nvcc: set CUDACXX to one' ;;
esac
if [ "$toolkit" != none ]; then
  cat >"$nvcc" <<END
#!/bin/sh
[ "\$*" = --version ] || exit 1
echo 'Cuda compilation tools, release $release, V$release.0'
END
  chmod +x "$nvcc"
fi

configure() {
  env CUDACXX="$nvcc" "$cmake" -G "$generator" -S "$source" -B "$work/$1" -DGATHER_CUDA="$1" -DGATHER_TESTS=OFF \
    >"$work/$1.log" 2>&1
}

said() {
  tr '\n' ' ' <"$work/$1.log" | tr -s ' ' | grep -qF -e "$2$why" || { cat "$work/$1.log" && exit 1; }
}

configure AUTO || { cat "$work/AUTO.log" && exit 1; }
said AUTO '-- CUDA: none, the library is for the CPU ('
if grep -iE 'warning|error' "$work/AUTO.log"; then exit 1; fi
if configure ON; then
  echo "ON was accepted"
  exit 1
fi
said ON 'GATHER_CUDA is ON, but '
