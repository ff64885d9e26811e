package sandbox

import (
	"path/filepath"
	"slices"
	"strings"
)

// Denied are the programs that rules keep a command from running. The zero value is none.
type Denied struct {
	Programs []DeniedProgram // whatever their arguments

	// Denies returns the rule that denies starting a program with an argv, those of Programs included. nil: none does.
	Denies func(argv []string) (rule string, denied bool)
	// Arguments says that some rules depend on the arguments of a program.
	Arguments bool
}

// DeniedProgram is a program that a rule denies whole.
type DeniedProgram struct {
	Name string // its last name: no slash is in it
	Rule string // as results name it
}

// hintsOfDenied reads which denied programs a command that failed did not find.
func hintsOfDenied(stderr string, denied []DeniedProgram) (found []Violation) {
	for line := range strings.Lines(stderr[max(0, len(stderr)-hintBytes):]) {
		if !missing.MatchString(line) {
			continue
		}
		for _, d := range denied {
			told := slices.ContainsFunc(found, func(v Violation) bool { return v.Rule == d.Rule })
			if !told && mentions(line, d.Name) {
				found = append(found, Violation{Wall: DeniedCommand, Path: d.Name, Rule: d.Rule, Detail: strings.TrimSpace(line)})
			}
		}
	}
	return found
}

// standardDirs are where programs are, whatever PATH says.
var standardDirs = []string{"/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin", "/usr/games", "/snap/bin", "/usr/lib/git-core", "/usr/libexec/git-core"}

// searchedDirs are the directories in which a command finds programs by name, and the standard ones, without links.
func searchedDirs(env []string) (dirs []string) {
	search := ""
	for _, entry := range env {
		if value, found := strings.CutPrefix(entry, "PATH="); found {
			search = value
		}
	}
	for _, dir := range slices.Concat(filepath.SplitList(search), standardDirs) {
		if !filepath.IsAbs(dir) {
			continue
		}
		if real, err := filepath.EvalSymlinks(dir); err == nil && !slices.Contains(dirs, real) {
			dirs = append(dirs, real)
		}
	}
	return dirs
}
