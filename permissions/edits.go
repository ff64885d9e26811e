package permissions

import (
	"path/filepath"
	"slices"
	"strings"

	"toolhost/agenttool"
)

// edit is a call under a policy, as far as it edits files.
type edit struct {
	p *Policy
	r Request
}

// inside reports whether a call only writes files of the workspace and names all of them: a file tool, or a command line of
// programs that only edit.
func (e edit) inside() bool {
	f := e.r.Facts
	if f.PathsComplete != agenttool.Yes || f.OpenWorld != agenttool.No || len(f.Writes) == 0 || e.p.foreign(e.r) ||
		slices.ContainsFunc(f.Writes, elsewhere) || slices.ContainsFunc(f.Reads, e.p.outside) {
		return false
	}
	if !e.r.RunsCode {
		return f.Destructive == agenttool.No || slices.Contains(f.Inferred, "destructive") // a write replaces; a patch may delete
	}
	return e.onlyEdits(f)
}

// onlyScratch reports whether a call deletes nothing, and all that it writes is in the session's own /tmp or /var/tmp, by its spelling and by
// where it leads.
func onlyScratch(f *agenttool.Facts) bool {
	return f.Destructive != agenttool.Yes && !slices.ContainsFunc(f.Writes, func(w agenttool.Path) bool { return w.Loose || w.Seen == "" || w.Seen != filepath.Clean(w.Absolute) })
}

// onlyEdits reports whether each simple command of a line only reads, or is a program that edits the files that it names.
func (e edit) onlyEdits(f *agenttool.Facts) bool {
	if !losesNothing(f) || f.ReadOnly != agenttool.No || f.PartsComplete != agenttool.Yes || f.Unmentioned {
		return false
	}
	writing, links, made := 0, false, false
	for i := range f.Parts {
		part := &f.Parts[i]
		if readsOnly(part) {
			continue
		}
		if part.Destructive == agenttool.Yes && part.Argv[0] == "rm" && losesScratch(f, i) {
			continue
		}
		if !part.Exact || part.Destructive == agenttool.Yes || !e.edits(f, part.Argv) {
			return false
		}
		writing++
		links = links || part.Argv[0] == "ln" && !e.linksPlainly(f, i+1) || part.Argv[0] == "mv" && movesLink(f, i+1)
		made = made || part.Argv[0] == "ln"
	}
	return !links && (!made || writing == 1 && !slices.ContainsFunc(f.Writes, byShell))
}

// linksPlainly reports whether the link target, as part by names it, is unprotected. A later write through the link is not
// recognised as a write to its target.
func (e edit) linksPlainly(f *agenttool.Facts, by int) bool {
	return !slices.ContainsFunc(f.Reads, func(r agenttool.Path) bool { return r.By == by && e.p.isProtected(r.Resolved, r.Root) })
}

// movesLink reports whether a path that part by writes leads over a link: moved, the link may lead elsewhere.
func movesLink(f *agenttool.Facts, by int) bool {
	return slices.ContainsFunc(f.Writes, func(w agenttool.Path) bool { return w.By == by && filepath.Clean(w.Absolute) != w.Resolved })
}

// byShell reports whether a path is touched by a redirect, not by the words of a command.
func byShell(path agenttool.Path) bool { return path.By == 0 }

// editing lists the options that keep a program to the files that it names.
var editing = map[string][]string{
	"mkdir": {"-p", "-v", "-pv", "--parents"}, "touch": {"-a", "-c", "-m", "-d", "-t", "-r"}, "tee": {"-a", "--append"}, "chmod": {"-v"}, "ln": {"-s", "-sf", "-f"},
	"cp": {"-f", "-n", "-p", "-v"}, "mv": {"-f", "-n", "-v"}, "gofmt": {"-w", "-s", "-l"}, "sort": {"-o", "-u", "-n", "-r", "-f", "-k"},
}

// edits reports whether the words of a command edit files: its facts name them.
func (e edit) edits(f *agenttool.Facts, argv []string) bool {
	if len(argv) == 0 {
		return false
	}
	if argv[0] == "sed" {
		return slices.ContainsFunc(argv[1:], func(word string) bool {
			return strings.HasPrefix(word, "-i") || word == "--in-place" || word == "-ni" || word == "-Ei"
		})
	}
	options, known := editing[argv[0]]
	operands := slices.DeleteFunc(slices.Clone(argv[1:]), func(word string) bool { return word == "--" || slices.Contains(options, word) })
	if !known || slices.ContainsFunc(operands, func(word string) bool { return strings.HasPrefix(word, "-") }) {
		return false
	}
	switch argv[0] {
	case "chmod":
		return len(operands) > 1 && plainMode(operands[0])
	case "cp", "mv", "ln":
		return len(operands) == 2 && e.oneFile(f, operands[0], operands[1])
	}
	return true
}

// plainMode reports whether a mode of chmod gives and takes rights, and lets no program run as another person.
func plainMode(mode string) bool {
	digits := strings.TrimPrefix(mode, "0")
	if len(digits) == 3 && strings.Trim(digits, "01234567") == "" {
		return true
	}
	at := strings.IndexAny(mode, "+-=")
	return at >= 0 && strings.Trim(mode[:at], "ugoa") == "" && mode[at+1:] != "" && strings.Trim(mode[at+1:], "rwx") == ""
}

// oneFile reports whether a file is made under the name that stands there, or in that directory under its own, and neither is protected nor
// named by a rule. Which of the two it is the disk alone knows.
func (e edit) oneFile(f *agenttool.Facts, source, target string) bool {
	if len(e.p.globs(agenttool.Deny, "write"))+len(e.p.globs(agenttool.Ask, "write")) > 0 || strings.HasSuffix(source, "..") {
		return false
	}
	return !slices.ContainsFunc(f.Writes, func(w agenttool.Path) bool {
		within := filepath.Join(w.Resolved, filepath.Base(source))
		return w.Spelling == target && (e.p.isProtected(within, w.Root) || e.p.Secret != nil && e.p.Secret(within))
	})
}
