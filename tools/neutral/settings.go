package neutral

import (
	"slices"
	"strconv"
	"strings"
)

// Setting is a setting that git takes from its environment.
type Setting struct{ Key, Value string }

// fixed returns the settings that are right for every reading command.
func fixed() []Setting {
	return []Setting{
		{"core.fsmonitor", ""}, // turns it off in every version; "false" is a program before 2.36
		{"core.hooksPath", "/dev/null"},
		{"core.pager", "cat"},
		{"diff.autoRefreshIndex", "false"},
		{"diff.submodule", "short"},
		{"gpg.program", "/dev/null"}, // cannot be run, so git reports that it cannot check signatures
		{"gpg.openpgp.program", "/dev/null"},
		{"gpg.x509.program", "/dev/null"},
		{"gpg.ssh.program", "/dev/null"},
		{"gpg.ssh.defaultKeyCommand", ""},
		{"log.showSignature", "false"},
		{"log.diffMerges", "separate"}, // remerge writes objects, and runs merge drivers
		{"safe.bareRepository", "explicit"},
		{"status.submoduleSummary", "false"},
		{"submodule.recurse", "false"},
	}
}

// Closed returns further variables for git without network access: git does not fetch missing objects of a partial
// clone.
func Closed() []string {
	return []string{"GIT_ALLOW_PROTOCOL=none", "GIT_NO_LAZY_FETCH=1"}
}

// Fixed returns the settings for a reading command whose directory is unknown.
func Fixed() []Setting { return fixed() }

// maxSize bounds the settings of one look.
const maxSize = 16 << 10

// strange reports whether a rune of a path may have a meaning to a shell.
func strange(r rune) bool {
	return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '/' || r == '.' || r == '_' || r == '+')
}

// plainDiff returns a command that shows a change like git without a configured program.
func plainDiff(diff string) string {
	return `d() { printf "diff --git a/%s b/%s\n" "$1" "$1"; ` + diff + ` -u -L "a/$1" -L "b/$1" "$2" "$5"; :; }; d`
}

// Environ returns the variables that pass the settings to git: in the documented form of 2.31 and later, and in a
// form that all other versions understand. The last of two settings of a key counts.
func Environ(settings []Setting) []string {
	env := make([]string, 0, 2*len(settings)+2)
	var old []string
	for i, s := range settings {
		n := strconv.Itoa(i)
		env = append(env, "GIT_CONFIG_KEY_"+n+"="+s.Key, "GIT_CONFIG_VALUE_"+n+"="+s.Value)
		old = append(old, "'"+strings.ReplaceAll(s.Key+"="+s.Value, "'", `'\''`)+"'")
	}
	return append(env, "GIT_CONFIG_COUNT="+strconv.Itoa(len(settings)), "GIT_CONFIG_PARAMETERS="+strings.Join(old, " "))
}

// Merge joins the settings of several looks without duplicates.
func Merge(lists ...[]Setting) []Setting {
	var all []Setting
	seen := map[Setting]bool{}
	for _, list := range lists {
		for _, s := range list {
			if !seen[s] {
				seen[s] = true
				all = append(all, s)
			}
		}
	}
	return slices.Clip(all)
}
