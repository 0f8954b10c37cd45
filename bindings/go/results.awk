# Prints each skipped test of the output of `go test -v` with its reason, and the number of tests that passed. The reason
# is in the line before.
/--- SKIP: / { sub(/^ *[^ ]*_test.go:[0-9]*: /, "", before); print "skipped: " $3 ": " before }
/^--- PASS/ { passed++ }
{ before = $0 }
END { print passed + 0 " tests passed" }
