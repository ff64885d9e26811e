//go:build !race

package main

// underRace says that the race detector watches these tests.
const underRace = false

// slower is how many times as long as usual anything may take.
const slower = 1
