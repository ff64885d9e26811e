package sandbox

import (
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"toolhost/sandbox/notify"
)

// starts judges the programs that a command starts, where files alone cannot hold what rules deny.
type starts struct {
	denied Denied
	files  map[inode]DeniedProgram // of the programs that are denied whole
	report func(Violation)
}

// judgesStarts is whether the kernel lets programs be judged that start.
var judgesStarts = sync.OnceValue(notify.JudgesStarts)

// judgeStarts says what of the programs that a command starts is judged, once what is hidden is known: whole says that this holds all rules
// about whole programs.
func (p *plan) judgeStarts(files map[inode]DeniedProgram, whole bool) {
	denied := p.c.Profile.Denied
	if denied.Denies == nil || p.s.level == Landlock || whole && !denied.Arguments || !judgesStarts() {
		return
	}
	p.starts = &starts{denied: denied, files: files}
}

// judge judges a program that is to start, or that has begun.
func (s *starts) judge(n notify.Start) notify.Verdict {
	program, rule, denied := s.find(n)
	if !denied {
		return notify.Allow
	}
	v := Violation{Wall: DeniedCommand, Path: program, Call: "execve", Rule: rule, Certain: true}
	if n.Began {
		v.Detail = "its arguments or its file had changed since the call was judged, and it was ended before it ran"
	}
	s.report(v)
	return notify.Verdict(syscall.EACCES)
}

// find returns the program that a rule denies, and the rule.
func (s *starts) find(n notify.Start) (program, rule string, denied bool) {
	if d, found := s.files[inode{n.Dev, n.Ino}]; found && n.Ino != 0 {
		return d.Name, d.Rule, true
	}
	var candidates [][]string
	if len(n.Argv) > 0 {
		candidates = append(candidates, n.Argv)
		for _, name := range n.Names {
			candidates = append(candidates, append([]string{name}, n.Argv[1:]...))
		}
	} else {
		for _, name := range n.Names {
			candidates = append(candidates, []string{name})
		}
	}
	for at := 1; at <= n.Scripts && at < len(n.Argv); at++ {
		candidates = append(candidates, n.Argv[at:])
	}
	for _, argv := range candidates {
		for _, meant := range meanings(argv) {
			name := filepath.Base(meant[0])
			if startsOthers(name) {
				continue
			}
			if rule, denied := s.denied.Denies(meant); denied {
				return name, rule, true
			}
		}
	}
	return "", "", false
}

// maxLoaderWords bounds the words of a loader among which its program is.
const maxLoaderWords = 8

// meanings returns an argv, and those of the programs that it stands for: of a multi-call program, of the loader, and of a command of git.
func meanings(argv []string) [][]string {
	all := [][]string{argv}
	name := filepath.Base(argv[0])
	switch command, isGit := strings.CutPrefix(name, "git-"); {
	case isMulticall(name) && len(argv) > 1:
		first := argv[1]
		if program, found := strings.CutPrefix(first, "--coreutils-prog="); found {
			first = program
		}
		all = append(all, append([]string{first}, argv[2:]...))
	case isGit:
		all = append(all, append([]string{"git", command}, argv[1:]...))
	case strings.HasPrefix(name, "ld.so") || strings.HasPrefix(name, "ld-"):
		for at := 1; at < len(argv) && at <= maxLoaderWords; at++ {
			all = append(all, argv[at:])
		}
	}
	return all
}
