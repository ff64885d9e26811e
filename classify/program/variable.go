package program

import (
	_ "embed"
	"slices"
	"strings"
	"sync"

	"toolhost/agenttool"
	"toolhost/agenttool/locale"
)

// VariableNamesCode says why a program that runs with this variable set may run code which the variable names: a program, a file, text or
// options. It is "" if the value can be none of those, or is known not to be. A plain word may still be the name of a program.
func VariableNamesCode(name string, value Word) string {
	if HarmlessEnvironment(name, value) {
		return ""
	}
	switch {
	case !value.Static:
		if value.Number || dataVariable(name) {
			return ""
		}
		return "what the variable " + name + " holds is not known, and may be code"
	case dataVariable(name), value.Text == "", Digits(value.Text), settledValue(name, value.Text):
		return ""
	case codeVariable(name):
		return "the variable " + name + " names code or a program"
	case isAddress(value.Text):
		return ""
	case len(value.Text) == 2 && value.Text[0] == '-' && value.Text[1]|0x20 >= 'a' && value.Text[1]|0x20 <= 'z':
		return "" // one letter, as in ARGS=-v
	case !plainText(value.Text), strings.HasPrefix(value.Text, "-"):
		return "the variable " + name + " may hold code or options: " + value.Text
	case outside(value.Text):
		return "the variable " + name + " holds a path outside the project, which may be code: " + value.Text
	}
	return ""
}

// Influence says how far a variable changes what a program does that runs with it.
func Influence(name string, value Word) agenttool.Influence {
	switch {
	case HarmlessEnvironment(name, value), variables()["mild"][name]:
		return agenttool.ShowsOther
	case VariableNamesCode(name, value) != "":
		return agenttool.RunsOther
	case codeVariable(name) && !dataVariable(name):
		return agenttool.FindsCode
	}
	return agenttool.ActsOnOther
}

func dataVariable(name string) bool { return variables()["data"][name] }

// CommandVariable reports whether programs that read a variable, or the shell, run its value.
func CommandVariable(name string) bool {
	return variables()["command"][name] || strings.HasPrefix(name, "GIT_CONFIG_VALUE_") ||
		endsIn(name, "EDITOR", "PAGER", "COMMAND", "Command", "ASKPASS", "_WRAPPER", "_CMD", "_PROGRAM", "_EXE", "_EXEC", "_EXECUTABLE",
			"_BIN", "_BINARY", "_SHELL", "_BROWSER", "_RSH", "_SSH", "_RUNNER", "_LAUNCHER", "_LINKER", "_COMPILER")
}

func endsIn(name string, ends ...string) bool {
	return slices.ContainsFunc(ends, func(end string) bool { return strings.HasSuffix(name, end) })
}

// codeVariable reports whether a variable names code, by its name or by how it begins or ends.
func codeVariable(name string) bool {
	name = strings.ReplaceAll(strings.ToUpper(name), ".", "_")
	if variables()["code"][name] || CommandVariable(name) {
		return true
	}
	for _, begins := range []string{
		"LD_", "DYLD_", "BASH_FUNC", "GIT_", "NPM_CONFIG_", "YARN_", "PNPM_", "PIP_", "UV_", "BUNDLE_", "GEM_", "CARGO_", "RUSTC_", "RUSTUP_",
		"CMAKE_", "GCONV_", "MALLOC_", "OMPI_", "TOX_", "NOX_", "DOCKER_", "KUBE", "HELM_", "TF_CLI", "TF_REATTACH", "ANSIBLE_", "COVERAGE_",
		"PYTHONW", "MIX_", "ERL_", "ELIXIR_", "JULIA_", "R_", "PERL", "QT_", "GTK_", "GIO_", "GST_", "VIM",
	} {
		if strings.HasPrefix(name, begins) {
			return true
		}
	}
	return endsIn(name, "_PRELOAD", "_STARTUP", "_RC", "_HOOK", "_HOOKS", "_SCRIPT", "_PLUGIN", "_PLUGINS", "_LOADER", "_INIT",
		"_OPTS", "_OPTIONS", "_ADDOPTS", "_ARGS", "_PATH", "_TOOL", "_HELPER", "_PROXY", "FLAGS", "_HOME", "_ENV_FILE", "_CONFIG", "_CONFIG_FILE")
}

// settledValue reports whether a variable that could name code has a value which is known not to.
func settledValue(name, value string) bool {
	flags := variables()["flags "+name]
	if flags != nil && !slices.ContainsFunc(strings.Fields(value), func(word string) bool { return !flags[word] }) {
		return true
	}
	switch name {
	case "NODE_OPTIONS":
		rest, ok := strings.CutPrefix(value, "--max-old-space-size=")
		return ok && Digits(rest)
	case "MAKEFLAGS":
		rest, ok := strings.CutPrefix(value, "-j")
		return ok && (rest == "" || Digits(rest))
	case "PYTHONPATH", "NODE_PATH":
		return !outside(value) && plainText(value) // directories of the project
	case "PAGER", "GIT_PAGER", "MANPAGER", "GIT_EDITOR":
		return value == "cat" || value == "true" || value == ":"
	case "SHELL":
		return plainShells[strings.TrimPrefix(value, "/bin/")]
	case "CARGO_TARGET_DIR", "CARGO_BUILD_JOBS", "CARGO_NET_OFFLINE", "CARGO_PROFILE_RELEASE_DEBUG":
		return plainText(value) && !outside(value)
	}
	return false
}

// isAddress reports whether a text is an address that a program connects to.
func isAddress(text string) bool {
	for _, scheme := range []string{
		"http://", "https://", "postgres://", "postgresql://", "mysql://", "redis://", "mongodb://", "amqp://", "sqlite://", "nats://",
	} {
		if strings.HasPrefix(text, scheme) {
			return plainText(strings.NewReplacer("&", "", "!", "", "$", "").Replace(text))
		}
	}
	return false
}

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
