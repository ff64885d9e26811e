package asked

import (
	"path"
	"slices"
	"strings"

	"toolhost/agenttool"
	"toolhost/agenttool/cut"
)

// wellKnown describes the commands that people see most, in plainer words than the classifier; "" for all others.
func wellKnown(part *agenttool.Part, paths []agenttool.Path) string {
	argv, name := part.Argv, path.Base(part.Argv[0])
	operands := slices.DeleteFunc(slices.Clone(argv[1:]), func(word string) bool { return strings.HasPrefix(word, "-") })
	below := ""
	if slices.ContainsFunc(argv[1:], recursive) {
		below = " and all below"
	}
	switch {
	case !part.Exact:
	case (name == "rm" || name == "rmdir" || name == "unlink" || name == "shred") && len(paths) > 0:
		return "deletes " + named(paths) + below
	case name == "rm" && len(operands) > 0:
		return "deletes " + strings.Join(operands, ", ") + below
	case name == "sudo" && len(operands) > 0 && argv[1] == operands[0]:
		return "as root"
	case name == "sudo" || name == "doas":
		return "as another user"
	case len(operands) > 1 && slices.Contains(installers[name], operands[0]) && plainly(argv[1:]):
		return "installs " + cut.Characters(strings.Join(operands[1:], ", "), maxDeed/2) + ", and may run code of it"
	case name == "mkdir" && len(paths) > 0:
		return "makes the directory " + named(paths)
	case (name == "mv" || name == "cp") && len(operands) == 2 && len(argv) < 5 && len(paths) > 0:
		return map[string]string{"mv": "moves ", "cp": "copies "}[name] + operands[0] + " to " + named(paths[len(paths)-1:])
	case name == "git" && len(operands) > 0 && argv[1] == operands[0]:
		return gitDoes(argv[1:], operands[1:])
	}
	return ""
}

// installers are programs that install packages, and the words that make them do so.
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
