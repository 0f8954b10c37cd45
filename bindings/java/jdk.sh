#!/bin/sh
# jdk.sh LEAST [MOST [TOOL]]: prints the home of a Java that has TOOL (javac by default), and whose version is in this
# range: $JAVA_HOME, or one in /usr/lib/jvm. Fails if there is none.
for home in ${JAVA_HOME:+"$JAVA_HOME"} /usr/lib/jvm/*; do
  [ -x "$home/bin/${3:-javac}" ] || continue
  version=$("$home/bin/java" -version 2>&1 | sed -n '1s/[^0-9]*\([0-9]*\).*/\1/p')
  if [ "${version:-0}" -ge "$1" ] && [ "$version" -le "${2:-999}" ]; then
    echo "$home"
    exit 0
  fi
done
exit 1
