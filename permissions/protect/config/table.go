package config

import (
	_ "embed"
	"regexp"
	"strings"
	"sync"

	"toolhost/agenttool/secret"
)

// The first lines of each list explain it.
var (
	//go:embed lists/files.txt
	filesList string
	//go:embed lists/keys.txt
	keysList string
)

// entry is one file of the list.
type entry struct {
	name     string // relative to the home directory
	format   string
	programs []string
}

// entries reads the list of files, in its order.
var entries = sync.OnceValue(func() (all []entry) {
	for head, words := range blocks(filesList) {
		format, programs, _ := strings.Cut(head, ":")
		for _, name := range words {
			all = append(all, entry{name, format, strings.Fields(programs)})
		}
	}
	return all
})

// keys reads the list of keys: the patterns of each format, in components.
var keys = sync.OnceValue(func() map[string][][]string {
	all := map[string][][]string{}
	for format, words := range blocks(keysList) {
		for _, word := range words {
			all[format] = append(all[format], strings.Split(word, "."))
		}
	}
	return all
})

// blocks yields the entries of a list: a head, and the words of the lines below it that begin with a tab.
func blocks(list string) func(yield func(head string, words []string) bool) {
	return func(yield func(string, []string) bool) {
		head, words := "", []string(nil)
		for line := range strings.Lines(list + "\nend\n") {
			switch {
			case strings.HasPrefix(line, "#") || strings.TrimSpace(line) == "":
			case strings.HasPrefix(line, "\t"):
				words = append(words, strings.Fields(line)...)
			default:
				if head != "" && !yield(head, words) {
					return
				}
				head, words = strings.TrimSpace(line), nil
			}
		}
	}
}

// secretNames matches keys that announce a secret by their name.
var secretNames = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)token|passw|passphrase|secret|credential|_auth$|^auth$|api[-_]?key|private[-_]?key|authorization|extraheader|cookie`)
})

// shows reports whether commands see a key of a format.
func shows(format string, key []string) bool {
	if format != "git" || key[0] != "alias" {
		if secretNames().MatchString(key[len(key)-1]) {
			return false
		}
	}
	for _, pattern := range keys()[format] {
		if covers(pattern, key) {
			return true
		}
	}
	return false
}

// covers reports whether a pattern matches a key.
func covers(pattern, key []string) bool {
	for i, component := range pattern {
		if component == "**" {
			return len(key) > i
		}
		if i >= len(key) || !like(component, key[i]) {
			return false
		}
	}
	return len(pattern) == len(key)
}

// leads reports whether keys below this one may be seen.
func leads(format string, key []string) bool {
	for _, pattern := range keys()[format] {
		if len(pattern) > len(key) && covers(pattern[:len(key)], key) {
			return true
		}
		for i, component := range pattern {
			if component == "**" && i <= len(key) && covers(pattern[:i], key[:i]) {
				return true
			}
		}
	}
	return false
}

// like reports whether a component of a pattern, in which one "*" stands for any text, matches a name.
func like(pattern, name string) bool {
	before, after, star := strings.Cut(pattern, "*")
	if !star {
		return pattern == name
	}
	return len(name) >= len(before)+len(after) && strings.HasPrefix(name, before) && strings.HasSuffix(name, after)
}

// secretWords matches words that announce a key in a file without a table, and a password within an address.
var secretWords = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)token|passw|secret|credential|_auth|api[-_]?key|private[-_]?key|authorization|extraheader|://[^/\s"']*@`)
})

// secretValues matches values that are secrets by their form: what services issue, and parameters of addresses that carry them.
var secretValues = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`gh[pousr]_[A-Za-z0-9]{16}|github_pat_|glpat-|npm_[A-Za-z0-9]{20}|pypi-[A-Za-z0-9_-]{20}|AKIA[0-9A-Z]{16}|xox[abprs]-|` +
		`\bsk-[A-Za-z0-9_-]{20}|eyJ[A-Za-z0-9_-]{10,}\.eyJ|-----BEGIN|(?i)authorization:|[?&](?:[a-z_-]*token|[a-z_-]*key|sig|signature|password|secret)=|/t/[a-z0-9_-]{6,}`)
})

// holdsSecret reports whether a text has something that the table of secrets knows, or a word or value that announces a secret.
func holdsSecret(text []byte) bool {
	return secretWords().Match(text) || secretValues().Match(text) || len(secret.All().Find(text)) > 0
}

// logins matches the login in an address.
var logins = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(://)[^/\s"'<>]*@`)
})

// withoutLogin returns a value without logins in addresses. shown is false for values that are secrets themselves.
func withoutLogin(value string) (clean string, shown bool) {
	clean = WithoutLogins(value)
	return clean, !secretValues().MatchString(value) && len(secret.All().Find([]byte(clean))) == 0
}

// WithoutLogins returns a value without the logins in its addresses.
func WithoutLogins(value string) string { return logins().ReplaceAllString(value, "$1") }
