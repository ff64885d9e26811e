//go:build race

package sandbox

func init() { manyCalls = 100 } // each costs much more with the race detector
