package main

import "os"

// long reports whether tests take their long form: every attempt as every account at every level, more rounds, more output.
// testdata/long.sh runs it.
func long() bool { return os.Getenv("TOOLHOST_LONG") != "" }

// count is the first number in the ordinary form of a test and the second in the long one.
func count(ordinary, thorough int) int {
	if long() {
		return thorough
	}
	return ordinary
}
