package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"toolhost/sandbox/notify"
)

// starts judges the programs that a command starts, where files alone cannot hold what rules deny.
type starts struct {
	denied Denied
	git    func(GitStart) (why string, refused bool)
	files  map[inode]DeniedProgram // of the programs that are denied whole
	report func(Violation)
}

// judgesStarts is whether the kernel lets programs be judged that start.
var judgesStarts = sync.OnceValue(notify.JudgesStarts)

// judgeStarts says what of the programs that a command starts is judged, once what is hidden is known: whole says that this holds all rules
// about whole programs.
func (p *plan) judgeStarts(files map[inode]DeniedProgram, whole bool) {
	denied, git := p.c.Profile.Denied, p.c.Profile.Git
	if denied.Denies == nil || whole && !denied.Arguments {
		denied = Denied{}
	}
	if denied.Denies == nil && git == nil || !p.s.JudgesStarts() {
		return
	}
	p.starts = &starts{denied: denied, git: git, files: files}
}

// JudgesStarts reports whether the programs that commands start can be judged.
func (s *Session) JudgesStarts() bool {
	return (s.level == Full || s.level == LandlockNotify) && judgesStarts()
}

// judge judges a program that is to start, or that has begun.
func (s *starts) judge(n notify.Start) notify.Verdict {
	v := Violation{Wall: DeniedCommand, Call: "execve", Certain: true}
	var denied bool
	if v.Path, v.Rule, denied = s.find(n); !denied {
		if v.Path, v.Rule, denied = s.printsSecrets(n); !denied {
			return notify.Allow
		}
		v.Wall = History
	}
	if n.Began {
		v.Detail = "its arguments or its file had changed since the call was judged, and it was ended before it ran"
	}
	s.report(v)
	return notify.Verdict(syscall.EACCES)
}

// printsSecrets asks about a git that starts.
func (s *starts) printsSecrets(n notify.Start) (program, why string, refused bool) {
	if s.git == nil {
		return "", "", false
	}
	candidates := candidatesOf(n)
	at := slices.IndexFunc(candidates, func(argv []string) bool {
		name := filepath.Base(argv[0])
		return name == "git" || strings.HasPrefix(name, "git-")
	})
	if at < 0 {
		return "", "", false
	}
	argv := candidates[at]
	dir, err := os.Readlink("/proc/" + strconv.Itoa(n.PID) + "/cwd")
	if err != nil {
		return argv[0], "it cannot be told where it runs", true
	}
	why, refused = s.git(GitStart{Argv: argv, Dir: dir, Environ: n.Environ("GIT_")})
	return strings.Join(argv[:min(len(argv), 4)], " "), why, refused
}

// find returns the program that a rule denies, and the rule.
func (s *starts) find(n notify.Start) (program, rule string, denied bool) {
	if s.denied.Denies == nil {
		return "", "", false
	}
	if d, found := s.files[inode{n.Dev, n.Ino}]; found && n.Ino != 0 {
		return d.Name, d.Rule, true
	}
	for _, argv := range candidatesOf(n) {
		name := filepath.Base(argv[0])
		if startsOthers(name) {
			continue
		}
		if rule, denied := s.denied.Denies(argv); denied {
			return name, rule, true
		}
	}
	return "", "", false
}

// candidatesOf returns the argvs that a start may stand for.
func candidatesOf(n notify.Start) (all [][]string) {
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
		all = append(all, meanings(argv)...)
	}
	return all
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
