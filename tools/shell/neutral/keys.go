package neutral

import (
	"path/filepath"
	"strings"
)

// entry handles one setting of a configuration file.
func (l *look) entry(e entry, file string, depth int) {
	section, sub, name := splitKey(e.key)
	switch section {
	case "include", "includeif":
		if name == "path" && (section == "includeif") == (sub != "") {
			l.include(e.value, file, depth)
		}
	case "diff":
		l.diff(e.key, sub, name)
	case "filter":
		l.filter(e.key, sub, name)
	case "core":
		l.core(e, name, file)
	case "extensions":
		if name == "objectformat" && strings.EqualFold(e.value, "sha256") {
			l.hash = 32
		}
	case "tar":
		if name == "command" && (sub == "zip" || sub == "tar") && l.verb == "archive" {
			l.stop("%s in %s names a program that git archive runs", e.key, file)
		}
	case "man", "browser", "web", "help":
		if l.verb == "help" && (section != "help" || name != "autocorrect") {
			l.stop("%s in %s says what git help runs", e.key, file)
		}
	case "remote", "credential", "url", "protocol", "http":
		l.transport(e.key, name, file)
	case "gpg":
		l.program(e.key, strings.HasSuffix(name, "program") || name == "defaultkeycommand")
	case "log", "format", "pretty", "branch", "tag":
		l.program(e.key, strings.Contains(e.value, "%G") || strings.Contains(e.value, "signature") || name == "showsignature")
	}
	l.elsewhere(e, section, name)
}

// include reads an included file, whatever the condition.
func (l *look) include(value, file string, depth int) {
	value = strings.TrimPrefix(value, ":(optional)")
	path, ok := l.path(value, filepath.Dir(file))
	switch {
	case value == "" || strings.HasPrefix(value, "%(prefix)"):
		return
	case !ok:
		l.stop("%s includes %s, and which file that is is not known", file, value)
		return
	}
	if l.level != person {
		l.reads = append(l.reads, path)
	}
	l.file(path, depth+1)
}

// path resolves a value of git's path type.
func (l *look) path(value, dir string) (string, bool) {
	switch rest, home := strings.CutPrefix(value, "~"); {
	case !home:
		return l.absolute(value, dir), true
	case l.host.Home == "":
		return "", false
	case rest == "" || rest[0] == '/':
		return l.absolute(l.host.Home+rest, dir), true
	}
	return "", false // of another user
}

func (l *look) diff(key, sub, name string) {
	switch {
	case sub == "" && name == "external", sub != "" && name == "command":
		l.program(key, true)
		l.instead(key, plainDiff(l.host.Diff), l.host.Diff)
	case sub != "" && name == "textconv":
		l.program(key, true)
		l.instead(key, l.host.Cat, l.host.Cat)
		l.set("diff."+sub+".cachetextconv", "false")
	}
}

func (l *look) filter(key, sub, name string) {
	switch name {
	case "clean", "smudge", "process":
		l.program(key, true)
		l.set(key, "")
		l.set("filter."+sub+".required", "false")
	}
}

func (l *look) core(e entry, name, file string) {
	switch name {
	case "worktree":
		if l.level != person {
			l.worktree = e.value
		}
	case "alternaterefscommand":
		l.program(e.key, true)
		l.set(e.key, ": ") // the blank makes it a shell builtin
	case "fsmonitor":
		l.program(e.key, !boolean(e.value))
	case "sshcommand", "gitproxy", "askpass":
		l.transport(e.key, name, file)
	}
}

// boolean reports whether a value is a boolean.
func boolean(value string) bool {
	switch strings.ToLower(value) {
	case "", "true", "false", "yes", "no", "on", "off", "1", "0":
		return true
	}
	return false
}

// transport records a program that runs only when git connects to another repository.
func (l *look) transport(key, name, file string) {
	if l.level == person || l.verb != "ls-remote" {
		return
	}
	switch name {
	case "sshcommand", "gitproxy", "askpass", "uploadpack", "receivepack", "vcs", "helper", "insteadof", "pushinsteadof", "allow":
		l.stop("%s in %s can name a program that git runs to reach others", key, file)
	}
}

// program records a key that names a program, if it comes from the repository.
func (l *look) program(key string, is bool) {
	if is && l.level != person {
		l.programs = append(l.programs, key)
	}
}

// elsewhere records files that the repository makes git read, at any path.
func (l *look) elsewhere(e entry, section, name string) {
	if l.level == person || e.value == "" {
		return
	}
	switch section + "." + name {
	case "core.excludesfile", "core.attributesfile", "mailmap.file", "blame.ignorerevsfile", "diff.orderfile", "fsck.skiplist",
		"ssh.allowedsignersfile", "gpg.allowedsignersfile", "gpg.revocationfile":
		if path, ok := l.path(e.value, "/"); ok && (e.value[0] == '/' || e.value[0] == '~' || strings.Contains(e.value, "..")) {
			if e.value[0] != '/' && e.value[0] != '~' {
				path = e.value // relative to the work tree, which is unknown yet
			}
			l.reads = append(l.reads, path)
		}
	}
}
