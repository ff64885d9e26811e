package program

import "strings"

// wrapperSpecs describes programs whose operands are the command line of another. That command is judged by itself; wrappers that
// change its rights or its root are never read-only.
func wrapperSpecs() []*Spec {
	return []*Spec{
		{Names: "env genv", Options: `-0,--null -u,--unset:name -C,--chdir:dir -S,--split-string:split -v,--debug
			-i,--ignore-environment!runs_code --block-signal?:text --default-signal?:text --ignore-signal?:text
			--list-signal-handling --help --version`, Operands: "env*", InOrder: true, Abbreviates: true,
			Judge: judgeEnv},
		{Names: "timeout gtimeout", Options: `-k,--kill-after:text -s,--signal:text --preserve-status --foreground
			-v,--verbose --help --version`,
			Operands: "text command", InOrder: true, Abbreviates: true},
		{Names: "nice", Options: "-n,--adjustment:text -num --help --version", Operands: "command", InOrder: true,
			Abbreviates: true},
		{Names: "ionice", Options: "-c,--class:text -n,--classdata:text -t,--ignore -h,--help -V,--version",
			Operands: "command", InOrder: true},
		{Names: "nohup", Options: "--help --version", Operands: "command", InOrder: true, Effects: "writes",
			Judge: reason("nohup writes nohup.out where there is a terminal")},
		{Names: "stdbuf", Options: "-i,--input:text -o,--output:text -e,--error:text --help --version",
			Operands: "command",
			InOrder:  true, Abbreviates: true},
		{Names: "setsid", Options: "-f,--fork!writes -w,--wait -h,--help -V,--version", Operands: "command",
			InOrder: true},
		{Names: "taskset", Options: "-c,--cpu-list -h,--help -V,--version", Operands: "text command", InOrder: true},
		{Names: "chrt", Options: `-b,--batch -f,--fifo -i,--idle -o,--other -r,--rr -R,--reset-on-fork -v,--verbose
			-m,--max`,
			Operands: "text command", InOrder: true, Effects: "writes",
			Judge: reason("chrt may take the processor from everybody else")},
		{Names: "flock", Options: `-s,--shared -x,-e,--exclusive -u,--unlock -n,--nb,--nonblock -w,--wait,--timeout:text
			-o,--close -E,--conflict-exit-code:text -F,--no-fork --verbose -c,--command:own`, Operands: "lock inner*",
			InOrder: true, Judge: judgeFlock},
		{Names: "time gtime", Options: `-o,--output:write -a,--append -f,--format:text -p,--portability -v,--verbose
			-q,--quiet -V,--version --help`,
			Operands: "command", InOrder: true, Abbreviates: true},
		{Names: "watch", Carries: "shell", Options: `-n,--interval:text -d,--differences?:text -t,--no-title -b,--beep -e,--errexit
			-g,--chgexit -c,--color -C,--no-color -x,--exec -p,--precise -q,--equexit:text -r,--no-rerun -w,--no-wrap
			-h,--help -v,--version`,
			Operands: "inner*", InOrder: true, Effects: "long_running interactive", Judge: judgeWatch},
		{Names: "entr", Carries: "shell", Options: "-a -c -d -n -p -r -s -x -z", Operands: "inner*", InOrder: true,
			Effects: "long_running", Judge: judgeEntr},
		{Names: "unbuffer", Options: "-p", Operands: "command", InOrder: true, Effects: "runs_code",
			Judge: reason("gives the program a terminal, so that pagers and editors start")},
		{Names: "busybox toybox", Carries: "shell", Options: "--help --list --list-full", Operands: "command", InOrder: true,
			Judge: func(a *Args, u *Use) {
				u.Unknown("its programs have other options than those of their names", a.Argv[0])
			}},
		{Names: "parallel", Carries: "shell within", Options: `-j,--jobs:text -k,--keep-order -0,--null -n,--max-args:text -N:text -I:text
			-a,--arg-file:read -X -m --bar --progress --dry-run --halt:text --colsep,-C:text -q,--quote
			-r,--no-run-if-empty -t,--verbose --will-cite --joblog:write --timeout:text --tag --line-buffer --pipe`,
			Operands: "inner*", InOrder: true,
			Effects: "writes", Judge: judgeParallel},
		{Names: "script", Carries: "shell", Options: `-c,--command:run -q,--quiet -f,--flush -e,--return -a,--append -O,--log-out:write
			-I,--log-in:write -B,--log-io:write`,
			Operands: "write?", Effects: "writes interactive"},
		{Names: "strace ltrace", Options: `-f,--follow-forks -ff -o,--output:write -e:text
			-p,--attach:text!observes_host -c -C -t -tt -r -T -y -yy -s:text -v -x -xx -q -qq -k -i -S:text -u:text
			-E:text -P:text -a:text -I:text -b:text --trace:text`,
			Operands: "command", InOrder: true, Effects: "writes",
			Judge: reason("a tracer can change what the program does")},
		{Names: "xvfb-run dbus-run-session fakeroot", Options: `-a,--auto-servernum -s,--server-args:text
			-n,--server-num:text -e,--error-file:write -f,--auth-file:write -l,--listen-tcp -w,--wait:text`,
			Operands: "command", InOrder: true, Effects: "writes"},
	}
}

// judgeEnv judges the assignments before the command, and options that change its directory or its environment.
func judgeEnv(a *Args, u *Use) {
	words := a.Values("env")
	for _, w := range a.Values("split") {
		u.Unknown("env -S splits this into words by rules of its own", w)
	}
	for _, w := range a.Values("dir") {
		u.Dir = &w
		if !w.Static || w.Text != "." {
			u.Unknown("env -C: the program may read the configuration of the other directory", w)
		}
	}
	for _, w := range a.Values("name") {
		if !w.Static || !HarmlessEnvironment(w.Text, Lit("x")) && !unsetVariables[w.Text] && !meansNothing(w.Text) {
			u.Add(RunsCode, "without this variable a program may do something else: "+w.Text)
		}
	}
	for len(words) > 0 {
		name, value, ok := strings.Cut(words[0].Text, "=")
		if !ok {
			break
		}
		given := words[0]
		given.Text = value
		if !HarmlessEnvironment(name, given) {
			u.Add(RunsCode, "this variable may change what the program does: "+name)
		}
		words = words[1:]
	}
	if len(words) > 0 && words[0].Static && words[0].Text == "-" {
		u.Add(RunsCode, "env - takes all variables away")
		words = words[1:]
	}
	if len(words) > 0 {
		u.Runs = append(u.Runs, Command{Argv: words})
	}
}

// ownShell adds text that the shell of the person runs, whichever that is.
func ownShell(u *Use, text Word) {
	u.Runs = append(u.Runs, Command{Shell: &text})
	u.Unknown("this runs in the shell of the person, which may have a language of its own", text)
}

// judgeFlock judges the lock file, which flock creates if it is missing, and the command; with -c that is text for the shell.
func judgeFlock(a *Args, u *Use) {
	for _, w := range a.Values("lock") {
		if !w.Static || !digits(w.Text) {
			u.Writes = append(u.Writes, w)
		}
	}
	inner := a.Values("inner")
	if len(inner) > 1 && (inner[0].Text == "-c" || inner[0].Text == "--command") {
		ownShell(u, inner[1])
		return
	}
	for _, w := range a.Values("own") {
		ownShell(u, w)
	}
	if len(inner) > 0 {
		u.Runs = append(u.Runs, Command{Argv: inner})
	}
}

// judgeWatch judges the command, which watch gives to the shell as one text unless -x was given.
func judgeWatch(a *Args, u *Use) {
	inner := a.Values("inner")
	switch {
	case len(inner) == 0:
	case a.Has("--exec"):
		u.Runs = append(u.Runs, Command{Argv: inner})
	default:
		u.Runs = append(u.Runs, Command{Shell: joined(inner), Joined: true})
	}
}

func judgeEntr(a *Args, u *Use) {
	inner := a.Values("inner")
	if a.Has("-s") && len(inner) > 0 {
		ownShell(u, inner[0])
	} else if len(inner) > 0 {
		argv := make([]Word, len(inner))
		for i, w := range inner {
			argv[i] = replaced(w, "/_", Word{})
		}
		u.Runs = append(u.Runs, Command{Argv: argv})
	}
}

// judgeParallel adds the command up to the first list of arguments.
func judgeParallel(a *Args, u *Use) {
	var argv []Word
	for _, w := range a.Values("inner") {
		if strings.HasPrefix(w.Text, ":::") {
			break
		}
		argv = append(argv, w)
	}
	switch {
	case len(argv) == 0:
		u.Add(RunsCode, "parallel runs the lines that it reads")
	case len(argv) == 1 && strings.ContainsAny(argv[0].Text, " ;|&"):
		u.Runs = append(u.Runs, Command{Shell: &argv[0]})
	default:
		for i, w := range argv {
			argv[i] = replaced(w, "{}", Word{})
		}
		u.Runs = append(u.Runs, Command{Argv: argv, More: true})
	}
}
