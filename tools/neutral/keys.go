package neutral

import (
	"path/filepath"
	"strings"

	"toolhost/permissions/protect/gitconfig"
	"toolhost/tools/gitindex"
)

// entry handles one setting of a configuration file.
func (l *look) entry(e gitconfig.Setting, file string, depth int) {
	section, sub, name := splitKey(e.Key)
	switch section {
	case "include", "includeif":
		if name == "path" && (section == "includeif") == (sub != "") {
			l.include(e.Value, file, depth)
		}
	case "diff":
		l.diff(e.Key, sub, name)
	case "filter":
		l.filter(e.Key, sub, name)
	case "core":
		l.core(e, name, file)
	case "extensions":
		if name == "objectformat" && strings.EqualFold(e.Value, "sha256") {
			l.hash = gitindex.SHA256
		}
	case "tar":
		if name == "command" && (sub == "zip" || sub == "tar") && l.verb == "archive" {
			l.stop("%s in %s names a program that git archive runs", e.Key, file)
		}
	case "man", "browser", "web", "help":
		if l.verb == "help" && (section != "help" || name != "autocorrect") {
			l.stop("%s in %s says what git help runs", e.Key, file)
		}
	case "remote", "credential", "url", "protocol", "http":
		l.transport(e.Key, name, file)
	case "gpg":
		l.program(e.Key, strings.HasSuffix(name, "program") || name == "defaultkeycommand")
	case "log", "format", "pretty", "branch", "tag":
		l.program(e.Key, strings.Contains(e.Value, "%G") || strings.Contains(e.Value, "signature") || name == "showsignature")
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

func (l *look) core(e gitconfig.Setting, name, file string) {
	switch name {
	case "worktree":
		if l.level != person {
			l.worktree = e.Value
		}
	case "alternaterefscommand":
		l.program(e.Key, true)
		l.set(e.Key, ": ") // the blank makes it a shell builtin
	case "fsmonitor":
		l.program(e.Key, !boolean(e.Value))
	case "sshcommand", "gitproxy", "askpass":
		l.transport(e.Key, name, file)
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
func (l *look) elsewhere(e gitconfig.Setting, section, name string) {
	if l.level == person || e.Value == "" {
		return
	}
	switch section + "." + name {
	case "core.excludesfile", "core.attributesfile", "mailmap.file", "blame.ignorerevsfile", "diff.orderfile", "fsck.skiplist",
		"ssh.allowedsignersfile", "gpg.allowedsignersfile", "gpg.revocationfile":
		if path, ok := l.path(e.Value, "/"); ok && (e.Value[0] == '/' || e.Value[0] == '~' || strings.Contains(e.Value, "..")) {
			if e.Value[0] != '/' && e.Value[0] != '~' {
				path = e.Value // relative to the work tree, which is unknown yet
			}
			l.reads = append(l.reads, path)
		}
	}
}
