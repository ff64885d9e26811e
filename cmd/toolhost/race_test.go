//go:build race

package main

const underRace = true

// slower is how many times as long as usual anything may take.
const slower = 5
