#!/bin/sh
# jdk.sh LEAST [MOST]: prints the home of a JDK whose version is in this range: $JAVA_HOME, or one in /usr/lib/jvm.
# Fails if there is none.
for home in ${JAVA_HOME:+"$JAVA_HOME"} /usr/lib/jvm/*; do
  [ -x "$home/bin/javac" ] || continue
  version=$("$home/bin/javac" -version 2>&1 | sed 's/[^0-9]*\([0-9]*\).*/\1/')
  if [ "${version:-0}" -ge "$1" ] && [ "$version" -le "${2:-999}" ]; then
    echo "$home"
    exit 0
  fi
done
exit 1
