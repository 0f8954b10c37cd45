# shellcheck shell=sh disable=SC2034,SC2154 # ./dev and the files of .ci share variables
# System packages, and the compiler.

missing=''

# want PACKAGE COMMAND... adds the package to the missing ones if the command fails.
want() {
  package=$1
  shift
  "$@" >/dev/null 2>&1 || missing="$missing $package"
}

# Installs the missing packages as root, or with a sudo that needs no password. Otherwise it prints the command to run,
# and fails.
install_missing() {
  [ -n "$missing" ] || return 0
  wanted=$missing
  missing=''
  if ! command -v apt-get >/dev/null; then
    echo "Please install, by their Debian names:$wanted"
    return 1
  elif [ "$(id -u)" = 0 ]; then
    sudo=''
  elif sudo -n true 2>/dev/null; then
    sudo='sudo -n'
  else
    echo "Please run: sudo apt-get install -y --no-install-recommends$wanted"
    return 1
  fi
  echo "Installing$wanted ..."
  mkdir -p build
  $sudo apt-get update -qq
  # shellcheck disable=SC2086 # the packages are words
  $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $wanted >build/apt.log 2>&1 ||
    { cat build/apt.log && return 1; }
}

# Uses ccache if GATHER_CCACHE is set. The tests of the bindings compile the library several times.
use_cache() {
  [ -n "${GATHER_CCACHE:-}" ] || return 0
  # Otherwise sources with precompiled headers would not be cached.
  export CCACHE_DIR="$GATHER_CCACHE" CCACHE_SLOPPINESS=pch_defines,time_macros
  case $PATH in /usr/lib/ccache:*) ;; *) export PATH="/usr/lib/ccache:$PATH" ;; esac
}

compiler() {
  want g++ command -v c++
  want cmake command -v cmake
  want ninja-build command -v ninja
  want python3 command -v python3
  [ -z "${GATHER_CCACHE:-}" ] || want ccache command -v ccache
  install_missing
  use_cache
  if ! cmake --list-presets >/dev/null 2>&1; then
    echo "CMake is older than 3.25. A newer one: python3 -m pip install cmake"
    return 1
  fi
}
