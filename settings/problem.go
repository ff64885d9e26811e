package settings

import (
	"errors"
	"fmt"
	"strings"
)

// Problem is something wrong with a file of settings.
type Problem struct {
	File    string // absolute
	Line    int    // from 1; 0: the file as a whole
	Column  int    // from 1, in bytes
	Message string // says what is wrong and what would be right. What it quotes of the file is escaped
}

// Error returns FILE:LINE:COLUMN: MESSAGE.
func (p *Problem) Error() string {
	if p.Line == 0 {
		return p.File + ": " + p.Message
	}
	if p.Column == 0 {
		return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Message)
	}
	return fmt.Sprintf("%s:%d:%d: %s", p.File, p.Line, p.Column, p.Message)
}

// Problems returns the problems that an error of [Load] or [Open] joins, in the order of the layers and their lines.
func Problems(err error) []Problem {
	var found []Problem
	switch e := err.(type) {
	case *Problem:
		found = append(found, *e)
	case interface{ Unwrap() []error }:
		for _, inner := range e.Unwrap() {
			found = append(found, Problems(inner)...)
		}
	case interface{ Unwrap() error }:
		found = Problems(e.Unwrap())
	}
	return found
}

// join makes one error of problems.
func join(problems []Problem) error {
	errs := make([]error, len(problems))
	for i := range problems {
		errs[i] = &problems[i]
	}
	return errors.Join(errs...)
}

// maxProblems bounds what is said about one file.
const maxProblems = 100

// suggestion returns the known name that a misspelt one is nearest to, empty if none is near.
func suggestion(name string, known []string) string {
	best, nearest := "", max(1, len(name)/3)
	for _, k := range known {
		if plain(k) == plain(name) {
			return k
		}
		if len(name) > 2*len(k)+2 {
			continue
		}
		if d := distance(plain(name), plain(k)); d <= nearest && (best == "" || d < distance(plain(name), plain(best))) {
			best = k
		}
	}
	return best
}

// plain is a name without case and joints: addDirs, add-dirs and add_dirs are one.
func plain(name string) string {
	return strings.ToLower(strings.Map(func(r rune) rune {
		if strings.ContainsRune("_-. ", r) {
			return -1
		}
		return r
	}, name))
}

// distance counts the letters that must be put in, taken out or changed to make b of a.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		corner := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := corner
			if a[i] != b[j] {
				change++
			}
			corner = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
