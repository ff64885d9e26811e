// Package near finds the known name that a misspelt one most likely stands for.
package near

import "strings"

// maxLength bounds the names that are compared, in bytes.
const maxLength = 64

// Word returns the one of known that name most likely stands for: the same but for case and separators, or else the one
// with the fewest letters changed, at most a third of them. It returns "" if none is near; of equals, the first.
func Word(name string, known []string) string {
	if name == "" || len(name) > maxLength {
		return ""
	}
	best, fewest := "", len(name)
	for _, candidate := range known {
		if len(candidate) > maxLength {
			continue
		}
		if Fold(candidate) == Fold(name) {
			return candidate
		}
		d := Distance(Fold(name), Fold(candidate))
		if d <= max(1, min(len(name), len(candidate))/3) && d < fewest {
			best, fewest = candidate, d
		}
	}
	return best
}

// Fold takes case and separators out of a name: addDirs, add-dirs and add_dirs are one.
func Fold(name string) string {
	return strings.ToLower(strings.Map(func(r rune) rune {
		if IsSeparator(r) {
			return -1
		}
		return r
	}, name))
}

// IsSeparator reports whether r stands between the words of a name.
func IsSeparator(r rune) bool { return strings.ContainsRune("_-. ", r) }

// Distance counts the insertions, removals, replacements and swaps of neighbours that lead from a to b, in bytes.
func Distance(a, b string) int {
	rows := [3][]int{make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)}
	for j := range rows[1] {
		rows[1][j] = j
	}
	for i := 1; i <= len(a); i++ {
		before, last, row := rows[(i+2)%3], rows[i%3], rows[(i+1)%3]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
	}
	return rows[(len(a)+1)%3][len(b)]
}
