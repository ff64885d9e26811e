//go:build !race

package main

// underRace says that the race detector watches these tests.
const underRace = false
