package asked

import (
	"slices"
	"strings"
)

// installers are programs that install packages, and the words by which they do.
var installers = map[string][]string{
	"apt-get": {"install"}, "apt": {"install"}, "dnf": {"install"}, "yum": {"install"}, "apk": {"add"}, "brew": {"install"},
	"npm": {"install", "i", "add"}, "pnpm": {"add"}, "yarn": {"add"}, "pip": {"install"}, "pip3": {"install"}, "gem": {"install"}, "cargo": {"install", "add"},
}

// plainly reports whether the words of an installer do no more than a sentence about its packages says: apt-get install NAME- removes one.
func plainly(words []string) bool {
	return !slices.ContainsFunc(words, func(word string) bool {
		return strings.HasSuffix(word, "-") || strings.HasPrefix(word, "-") && !slices.Contains([]string{"-y", "--yes", "-q", "-qq", "--quiet", "-D", "--save-dev"}, word)
	})
}

// recursive reports whether a word is the option that makes rm go below directories.
func recursive(word string) bool {
	return word == "--recursive" || strings.HasPrefix(word, "-") && !strings.HasPrefix(word, "--") && strings.ContainsAny(word, "rR")
}

// gitDoes describes the subcommands of git that people see most.
func gitDoes(words, operands []string) string {
	forced := slices.ContainsFunc(words, func(word string) bool {
		return strings.HasPrefix(word, "--force") || word == "-f" || strings.HasPrefix(word, "+")
	})
	switch words[0] {
	case "commit":
		return "makes a commit"
	case "push":
		text := "pushes"
		if len(operands) > 1 {
			text += " " + strings.Join(operands[1:], ", ")
		}
		if len(operands) > 0 {
			text += " to " + operands[0]
		}
		if forced {
			text += ", and overwrites what is there"
		}
		return text
	case "reset":
		if hard := slices.Contains(words, "--hard"); hard && len(operands) == 1 && operands[0] != "HEAD" {
			return "moves the branch to " + operands[0] + ": changes that are not committed are lost"
		} else if hard {
			return "resets the work tree: changes that are not committed are lost"
		}
	}
	return ""
}
