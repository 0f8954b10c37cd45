#!/bin/sh
# Usage: install_missing.sh DEV
# Tests the functions of ./dev that install system packages, with a stub for apt-get. They must install missing
# packages, report a failure of apt-get, and not change the variable `packages`, which is the folder of ./dev package.
set -eu
dev=$1
work=$PWD/install_missing
rm -rf "$work"
mkdir -p "$work/bin"

stub() {
  cat >"$work/bin/$1"
  chmod +x "$work/bin/$1"
}

# apt-get fails if the file `broken` exists.
stub apt-get <<END
#!/bin/sh
echo "apt-get \$*" >>"$work/calls"
[ ! -e "$work/broken" ]
END
stub id <<'END'
#!/bin/sh
echo 0
END

# The tasks of ./dev use the functions and variables of these files together.
for file in system packages; do
  # shellcheck source=/dev/null
  . "$(dirname "$dev")/.ci/$file.sh"
done
cd "$work"
PATH=$work/bin:$PATH

fail() {
  echo "$1"
  exit 1
}

# shellcheck disable=SC2154 # packages.sh sets it
folder=$packages
want present true
want absent-one false
want absent-two test -e "$work/nowhere"
install_missing >/dev/null || fail "the installation failed"
[ "$packages" = "$folder" ] || fail "the folder of packages was $folder and is now $packages"
expected='apt-get update -qq
apt-get install -y -qq --no-install-recommends absent-one absent-two'
[ "$(cat "$work/calls")" = "$expected" ] || fail "the calls were: $(cat "$work/calls")"

install_missing >/dev/null
[ "$(wc -l <"$work/calls")" = 2 ] || fail "nothing was missing, and apt-get was called"

touch "$work/broken"
want absent-three false
if (install_missing) >/dev/null; then fail "apt-get failed, and install_missing did not"; fi
