package shell

import "strings"

// special are the first words after which bash does not simply run a program with the words that follow: reserved
// words, and builtins that read their words again or change what later words mean.
var special = map[string]bool{
	"if": true, "then": true, "else": true, "elif": true, "fi": true, "case": true, "esac": true, "for": true,
	"while": true, "until": true, "do": true, "done": true, "function": true, "select": true, "time": true,
	"coproc": true, "in": true,

	".": true, "alias": true, "bind": true, "complete": true, "declare": true, "enable": true, "eval": true,
	"exec": true, "export": true, "fc": true, "hash": true, "let": true, "local": true, "mapfile": true,
	"read": true, "readarray": true, "readonly": true, "set": true, "shopt": true, "source": true, "trap": true,
	"typeset": true, "unalias": true, "unset": true,
}

// plainWords returns the argv that bash makes of command, if the command is nothing but plain words: one line of
// [A-Za-z0-9_./:@%+,=-] and spaces, which no expansion, quoting or operator can touch. Nil means that it is not,
// and that nothing is known.
func plainWords(command string) []string {
	for i := range len(command) {
		if !plainByte(command[i]) {
			return nil
		}
	}
	words := strings.Fields(command)
	if len(words) == 0 || strings.ContainsRune(words[0], '=') || words[0][0] == '%' { // assignment; %1 is fg %1
		return nil
	}
	builtins := words[:1]
	if words[0] == "command" || words[0] == "builtin" { // with options in between
		builtins = words
	}
	for _, word := range builtins {
		if special[word] {
			return nil
		}
	}
	return words
}

func plainByte(c byte) bool {
	switch {
	case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		return true
	}
	return strings.IndexByte(" _./:@%+,=-", c) >= 0
}
