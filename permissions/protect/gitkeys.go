package protect

import (
	"slices"
	"strings"
)

// gitKey is one variable of a git configuration file, and where in its text it stands.
type gitKey struct {
	section, sub, key, value string // section and key in lower case
	start, end               int
}

// name is the key as a person writes it.
func (k gitKey) name() string {
	if k.sub != "" {
		return k.section + "." + k.sub + "." + k.key
	}
	return k.section + "." + k.key
}

// gitKeys reads all variables of a configuration file whose lines end in "\n". Like [parseGitPaths] it never fails, and rather finds too much.
func gitKeys(text string) []gitKey {
	var found []gitKey
	var at gitKey
	rest := strings.TrimPrefix(text, "\ufeff")
	for rest != "" {
		rest = strings.TrimLeft(rest, " \t\n\r")
		start := len(text) - len(rest)
		if strings.HasPrefix(rest, "[") {
			var section string
			section, rest = gitSectionAsWritten(rest[1:])
			at.section, at.sub = splitSection(section)
			continue
		}
		k := at
		k.key, k.value, rest = gitVariable(rest)
		k.start, k.end = start, len(text)-len(rest)
		if k.key != "" {
			found = append(found, k)
		}
	}
	return found
}

// gitSectionAsWritten is gitSection without the change of case, which a subsection keeps.
func gitSectionAsWritten(text string) (section, rest string) {
	_, rest = gitSection(text)
	header := text[:len(text)-len(rest)]
	return strings.TrimSpace(strings.TrimSuffix(header, "]")), rest
}

// splitSection parts a header into section and subsection, which stands in quotes or after a dot.
func splitSection(header string) (section, sub string) {
	i := strings.IndexAny(header, " \t.\"")
	if i < 0 {
		return strings.ToLower(header), ""
	}
	return strings.ToLower(header[:i]), strings.Trim(header[i:], " \t.\"")
}

// runningKeys are the keys of git's configuration whose values are programs, name places where programs are, have git reach servers by one, or say
// where git writes files that others choose: by section, "*" for all keys of it.
func runningKeys() map[string][]string {
	return map[string][]string{
		"core":       {"fsmonitor", "pager", "editor", "sshcommand", "askpass", "gitproxy", "hookspath", "alternaterefscommand"},
		"sequence":   {"editor"},
		"pager":      {"*"},
		"alias":      {"*"},
		"include":    {"*"},
		"includeif":  {"*"},
		"diff":       {"external", "command", "textconv"},
		"difftool":   {"cmd", "path", "layout"},
		"merge":      {"driver"},
		"mergetool":  {"cmd", "path", "layout"}, // the shell evaluates a layout
		"guitool":    {"cmd"},
		"filter":     {"clean", "smudge", "process"},
		"credential": {"helper"},
		"gpg":        {"program", "defaultkeycommand"},
		"hook":       {"*"},
		"man":        {"cmd", "path"}, "browser": {"cmd", "path"}, "web": {"browser"}, "help": {"browser"}, "instaweb": {"*"},
		"interactive": {"difffilter"},
		"uploadpack":  {"packobjectshook"},
		"trailer":     {"command", "cmd"},
		"tar":         {"command"},
		"imap":        {"tunnel"},
		"sendemail":   {"smtpserver", "tocmd", "cccmd", "headercmd", "sendmailcmd"},
		"svn":         {"authorsprog"},
		"lfs":         {"path", "clean", "smudge", "args", "standalonetransferagent", "storage"},
		"init":        {"templatedir"},
		"remote":      {"uploadpack", "receivepack", "vcs"},
		"protocol":    {"allow"},
		"format":      {"outputdirectory"},
		"http":        {"cookiefile", "sslverify"},
		"gitflow":     {"hooks"},
		"tig":         {"*"},
		"branchless":  {"*"},
	}
}

// runningEnds are how keys end by which programs beside git name programs in its configuration, as git itself does.
var runningEnds = []string{"command", "cmd", "program", "pager", "editor", "hook", "hookspath", "askpass"}

// GitRuns reports whether git, or a program beside it, may run a program because of a variable of git's configuration, write files elsewhere, or trust any
// server; section and key are in lower case.
func GitRuns(section, sub, key, value string) bool {
	value = strings.ToLower(strings.TrimSpace(value))
	switch {
	case slices.Contains([]string{"url", "pushurl", "remote", "pushremote", "pushdefault"}, key) && strings.Contains(value, "::"), // a helper that git runs
		section == "url" && strings.Contains(sub, "::"),
		section == "submodule" && key == "update" && strings.HasPrefix(value, "!"):
		return true
	case section == "core" && key == "fsmonitor" && slices.Contains([]string{"true", "false", "yes", "no", "on", "off", "0", "1", ""}, value),
		(key == "pager" || section == "pager") && slices.Contains([]string{"", "cat", "true", "false"}, value),
		section == "color", section == "http" && key == "sslverify" && slices.Contains([]string{"true", "yes", "on", "1"}, value),
		section == "protocol" && slices.Contains([]string{"never", "user"}, value):
		return false
	}
	keys := runningKeys()[section]
	return slices.Contains(keys, "*") || slices.Contains(keys, key) || slices.ContainsFunc(runningEnds, func(end string) bool { return strings.HasSuffix(key, end) })
}

// acts reports whether a variable may have git do something outside of its repository: run a program, or write files by way of another work tree.
func (k gitKey) acts() bool { return GitRuns(k.section, k.sub, k.key, k.value) || k.isWorktree() }

func (k gitKey) isWorktree() bool { return k.section == "core" && k.key == "worktree" }

// aside begins each line of a variable that was put aside.
const aside = "# put aside by toolhost: "

// withoutPrograms returns the text with the variables that act made comments, and their names. "" if there are none.
func withoutPrograms(text string) (without string, names []string) {
	return withoutSome(text, gitKey.acts)
}

// withoutSome returns the text with some variables made comments, and their names. "" if there are none.
func withoutSome(text string, some func(gitKey) bool) (without string, names []string) {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	var b strings.Builder
	last := 0
	for _, k := range gitKeys(text) {
		if !some(k) {
			continue
		}
		before := strings.TrimRight(text[last:k.start], " \t")
		if before == "" && last == 0 || strings.HasSuffix(before, "\n") || before == "" && text[last-1] == '\n' {
			k.start = last + len(before) // with the blanks before it
			b.WriteString(before)
		} else {
			b.WriteString(text[last:k.start] + "\n")
		}
		for line := range strings.Lines(strings.TrimSuffix(text[k.start:k.end], "\n")) {
			b.WriteString(aside + line)
		}
		b.WriteByte('\n')
		last = k.end
		if !slices.Contains(names, k.name()) {
			names = append(names, k.name())
		}
	}
	if len(names) == 0 {
		return "", nil
	}
	b.WriteString(text[last:])
	return b.String(), names
}

// withPrograms returns the text with the variables that were put aside in force again, and their names.
func withPrograms(text string) (with string, names []string) {
	var b strings.Builder
	for line := range strings.Lines(text) {
		was, found := strings.CutPrefix(line, aside)
		if found {
			line = was
		}
		b.WriteString(line)
	}
	restored := b.String()
	if restored == text {
		return text, nil
	}
	_, names = withoutPrograms(restored)
	return restored, names
}
