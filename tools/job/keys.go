package job

import (
	"fmt"
	"slices"
	"strings"

	"toolhost/agenttool"
	"toolhost/agenttool/cut"
)

// keys maps names of keys to the bytes that a terminal sends for them.
var keys = map[string]string{
	"enter": "\r", "tab": "\t", "escape": "\x1b", "space": " ", "backspace": "\x7f", "delete": "\x1b[3~", "insert": "\x1b[2~",
	"up": "\x1b[A", "down": "\x1b[B", "right": "\x1b[C", "left": "\x1b[D", "home": "\x1b[H", "end": "\x1b[F",
	"page-up": "\x1b[5~", "page-down": "\x1b[6~", "shift-tab": "\x1b[Z",
	"f1": "\x1bOP", "f2": "\x1bOQ", "f3": "\x1bOR", "f4": "\x1bOS", "f5": "\x1b[15~", "f6": "\x1b[17~", "f7": "\x1b[18~",
	"f8": "\x1b[19~", "f9": "\x1b[20~", "f10": "\x1b[21~", "f11": "\x1b[23~", "f12": "\x1b[24~",
	"ctrl-space": "\x00", "ctrl-@": "\x00", "ctrl-[": "\x1b", "ctrl-\\": "\x1c", "ctrl-]": "\x1d", "ctrl-^": "\x1e", "ctrl-_": "\x1f",
}

// Keys returns the bytes that a terminal sends for named keys. Without a terminal, enter is a newline. An error is of class
// invalid_arguments.
func Keys(names []string, terminal bool) (string, error) {
	var b strings.Builder
	for _, name := range names {
		lower := strings.ToLower(strings.ReplaceAll(name, "+", "-"))
		sent, ok := keys[lower]
		if !ok {
			sent, ok = modified(lower)
		}
		if !ok {
			return "", unknownKey(name)
		}
		if sent == "\r" && !terminal {
			sent = "\n"
		}
		b.WriteString(sent)
	}
	return b.String(), nil
}

// modified returns the bytes that ctrl-x and alt-x send for a letter x.
func modified(name string) (string, bool) {
	for prefix, send := range map[string]func(byte) string{
		"ctrl-": func(c byte) string { return string(rune(c & 0x1f)) },
		"c-":    func(c byte) string { return string(rune(c & 0x1f)) },
		"alt-":  func(c byte) string { return "\x1b" + string(rune(c)) },
	} {
		if letter, ok := strings.CutPrefix(name, prefix); ok && len(letter) == 1 && letter[0] >= 'a' && letter[0] <= 'z' {
			return send(letter[0]), true
		}
	}
	return "", false
}

func unknownKey(name string) error {
	known := []string{"ctrl-a … ctrl-z", "alt-a … alt-z"}
	for key := range keys {
		known = append(known, key)
	}
	slices.Sort(known)
	return agenttool.Failure(agenttool.InvalidArguments, "unknown_key",
		fmt.Sprintf("%q is no key; there are %s. Other characters go into text", cut.Short(name, 40), strings.Join(known, ", "))).In("/keys")
}
