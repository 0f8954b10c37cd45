#!/bin/sh
# Runs a program for Windows. The prefix is in the temporary folder unless WINEPREFIX names another one.
export WINEDEBUG=${WINEDEBUG:--all} WINEPREFIX=${WINEPREFIX:-${TMPDIR:-/tmp}/gather-wine}
exec /usr/lib/wine/wine64 "$@"
