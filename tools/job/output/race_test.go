//go:build race

package output

// raceDetector needs memory of its own.
const raceDetector = true
