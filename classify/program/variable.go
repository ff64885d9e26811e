package program

import (
	_ "embed"
	"strings"
	"sync"

	"toolhost/agenttool/locale"
)

//go:embed tables/variables.txt
var variableTable string

// variables are the lists of the table: the names of each kind of variables, and the values of those of the kinds "only" and "flags".
var variables = sync.OnceValue(func() map[string]Words {
	lists := map[string]Words{}
	for line := range strings.Lines(variableTable) {
		kind, words, _ := strings.Cut(strings.TrimSpace(line), " ")
		keys := kind
		switch kind {
		case "", "#":
			continue
		case "only", "flags":
			keys, words, _ = strings.Cut(words, " ")
		}
		for key := range strings.SplitSeq(keys, ",") {
			if key != kind {
				key = kind + " " + key
			}
			if lists[key] == nil {
				lists[key] = Words{}
			}
			for word := range strings.FieldsSeq(words) {
				lists[key][strings.Trim(word, `"`)] = true
			}
		}
	}
	return lists
})

// meansNothing reports whether no program that is known does something else without this variable: it is none that names code, and none
// that a command gets so that it reads only. Those of go, whose names begin with GO, are.
func meansNothing(name string) bool {
	plain := name != "" && strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == ""
	return plain && !codeVariable(name) && !variables()["kept"][name] && !strings.HasPrefix(name, "GO") && !strings.HasPrefix(name, "BASH")
}

// HarmlessEnvironment reports whether setting this variable leaves the behaviour of a program unchanged, or changes only its
// display. Only known variables are harmless.
func HarmlessEnvironment(name string, value Word) bool {
	if !value.Static {
		return false
	}
	switch name {
	case "TZ":
		return !strings.HasPrefix(value.Text, "/") && !strings.HasPrefix(value.Text, ":") &&
			!strings.Contains(value.Text, "..")
	case "NODE_ENV", "RUST_BACKTRACE", "RUST_LOG", "PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE":
		return plainLetters(value.Text)
	case "GOOS", "GOARCH":
		return plainLetters(value.Text)
	}
	shown := variables()["shown"][name]
	if name == "LANG" || strings.HasPrefix(name, "LC_") && shown {
		return locale.Plain(value.Text)
	}
	if shown {
		return !strings.Contains(value.Text, "/")
	}
	return variables()["only "+name][value.Text]
}

func plainLetters(s string) bool {
	for i := range len(s) {
		if (s[i] < 'a' || s[i] > 'z') && (s[i] < '0' || s[i] > '9') {
			return false
		}
	}
	return s != ""
}
