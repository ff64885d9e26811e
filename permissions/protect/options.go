package protect

import "time"

// Options say where to look, and how long.
type Options struct {
	Roots []string // writable directories: absolute, existing, without links
	Home  string   // the person's home directory, absolute, without links; empty: none

	// ReadDeny lists the secrets, as patterns in the syntax of DefaultReadDeny. Nil: none.
	ReadDeny []string
	// Sealed are further names that no command may write, with all below them: absolute, existing or not.
	Sealed []string
	// GitConfigs are the configuration files of git that hold for all repositories. Nil: ~/.gitconfig,
	// ~/.config/git/config and /etc/gitconfig.
	GitConfigs []string

	// Pointing are git directories outside the roots whose configuration and hooks may point into them.
	Pointing []GitDir
	// Shallow says that the roots themselves are looked at, and nothing below them.
	Shallow bool

	MaxEntries int           // directory entries to look at; 0: 400,000
	MaxTime    time.Duration // of the walk, and again of each of two passes over its results; 0: 500 ms of processor time
}

// maxNamed is the number of directories of one kind that Partial names one by one, maxGaps that of all its gaps but one.
const (
	maxNamed = 16
	maxGaps  = 128
)
