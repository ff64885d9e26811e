package program

import (
	"slices"
	"strings"

	"toolhost/agenttool/locale"
)

// shownVariables change at most how a program shows things. Their values have no slash, which would make some of them
// name a file.
var shownVariables = []string{
	"CI", "CLICOLOR", "CLICOLOR_FORCE", "COLORTERM", "COLUMNS", "FORCE_COLOR", "LANG", "LANGUAGE",
	"LC_ADDRESS", "LC_ALL", "LC_COLLATE", "LC_CTYPE", "LC_IDENTIFICATION", "LC_MEASUREMENT", "LC_MESSAGES",
	"LC_MONETARY", "LC_NAME", "LC_NUMERIC", "LC_PAPER", "LC_TELEPHONE", "LC_TIME", "LINES", "NO_COLOR", "TERM",
}

// settledVariables are harmless with these values alone.
var settledVariables = map[string][]string{
	"CGO_ENABLED":         {"0", "1"},
	"DELTA_PAGER":         {"", "cat"},
	"GH_PAGER":            {"", "cat"},
	"GIT_OPTIONAL_LOCKS":  {"0"},
	"GIT_PAGER":           {"", "cat"},
	"GIT_TERMINAL_PROMPT": {"0"},
	"GO111MODULE":         {"on", "off", "auto"},
	"GOFLAGS":             {"", "-mod=vendor", "-mod=readonly"},
	"GOPROXY":             {"off"},
	"GOTOOLCHAIN":         {"local"},
	"GOWORK":              {"off"},
	"MANPAGER":            {"", "cat"},
	"PAGER":               {"", "cat"},
	"SYSTEMD_COLORS":      {"0", "1"},
	"SYSTEMD_PAGER":       {"", "cat"},
}

// unsetVariables are those whose removal only restores the default behaviour of programs.
var unsetVariables = WordSet(`CARGO_BUILD_TARGET CI DEBUG DISPLAY GOARCH GOFLAGS GOOS LD_LIBRARY_PATH LD_PRELOAD NODE_ENV NODE_OPTIONS NODE_PATH
	PYTHONHOME PYTHONPATH PYTHONSTARTUP RUSTFLAGS TMUX VIRTUAL_ENV WAYLAND_DISPLAY`)

// keptVariables restrict programs, or say where they find things, by names that codeVariable does not know.
var keptVariables = WordSet("DEBIAN_FRONTEND GCM_INTERACTIVE LESSSECURE LESSCHARSET TERM TMPDIR TMP TEMP PWD OLDPWD USER LOGNAME")

// meansNothing reports whether no program that is known does something else without this variable: it is none that names code, and none
// that a command gets so that it reads only. Those of go, whose names begin with GO, are.
func meansNothing(name string) bool {
	plain := name != "" && strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == ""
	return plain && !codeVariable(name) && !keptVariables[name] && !strings.HasPrefix(name, "GO") && !strings.HasPrefix(name, "BASH")
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
	if name == "LANG" || strings.HasPrefix(name, "LC_") && slices.Contains(shownVariables, name) {
		return locale.Plain(value.Text)
	}
	if slices.Contains(shownVariables, name) {
		return !strings.Contains(value.Text, "/")
	}
	return slices.Contains(settledVariables[name], value.Text) && settledVariables[name] != nil
}

func plainLetters(s string) bool {
	for i := range len(s) {
		if (s[i] < 'a' || s[i] > 'z') && (s[i] < '0' || s[i] > '9') {
			return false
		}
	}
	return s != ""
}
