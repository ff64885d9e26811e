package neutral

import (
	"slices"
	"strconv"
	"strings"
)

// Setting is one that git takes from its environment.
type Setting struct{ Key, Value string }

// fixed are settings that are right wherever git only reads.
func fixed() []Setting {
	return []Setting{
		{"core.fsmonitor", ""}, // which turns it off in every version; "false" is a program before 2.36
		{"core.hooksPath", "/dev/null"},
		{"core.pager", "cat"},
		{"diff.autoRefreshIndex", "false"},
		{"diff.submodule", "short"},
		{"gpg.program", "/dev/null"}, // no program: what would check a signature says that it cannot
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

// Closed are further variables for git that reaches nobody: what a partial clone lacks is not fetched.
func Closed() []string {
	return []string{"GIT_ALLOW_PROTOCOL=none", "GIT_NO_LAZY_FETCH=1"}
}

// Fixed are the settings for a reader of which it is not known where git runs.
func Fixed() []Setting { return fixed() }

// maxSize bounds the settings of one look.
const maxSize = 16 << 10

// set adds a setting.
func (l *look) set(key, value string) {
	if l.asked[key] {
		return
	}
	l.asked[key] = true
	if strings.ContainsFunc(key, func(r rune) bool { return r < ' ' || r == '=' || r == '\'' || r == 0x7f }) {
		l.stop("%q in the configuration of git names a program, and cannot be overridden", key)
		return
	}
	l.size += len(key) + len(value)
	l.settings = append(l.settings, Setting{key, value})
}

// instead puts a plain program in the place of the one that a key names.
func (l *look) instead(key, value, program string) {
	if program == "" || strings.ContainsFunc(program, strange) {
		l.stop("%s in the configuration of git names a program, and there is none to put in its place", key)
		return
	}
	l.set(key, value)
}

// strange reports whether a byte of a path means something to a shell.
func strange(r rune) bool {
	return !(r < 0x80 && (letterOrDigit(byte(r)) || r == '/' || r == '.' || r == '_' || r == '+'))
}

// plainDiff is a command that shows a change as git does where no program is named.
func plainDiff(diff string) string {
	return `d() { printf "diff --git a/%s b/%s\n" "$1" "$1"; ` + diff + ` -u -L "a/$1" -L "b/$1" "$2" "$5"; :; }; d`
}

// Environ returns the variables that give git the settings: as 2.31 and later document it, and as all others understand it. Of two
// settings of one key the last counts.
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

// Merge returns the settings of several looks, each once.
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
