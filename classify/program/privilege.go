package program

import "strings"

// privilegeSpecs describes programs that run a command as another user, with another root or in namespaces of its own. None of them
// is read-only, but the command is found and judged.
func privilegeSpecs() []*Spec {
	return []*Spec{
		{Names: "sudo", Options: `-A,--askpass!runs_code -b,--background -E,--preserve-env?:text -e,--edit!interactive
			-g,--group:text -H,--set-home -h:text --help -i,--login -K,--remove-timestamp -k,--reset-timestamp -l,--list
			-n,--non-interactive -P,--preserve-groups -p,--prompt:text -C,--close-from:text -D,--chdir:dir
			-R,--chroot:text -r,--role:text -S,--stdin -s,--shell -t,--type:text -T,--command-timeout:text
			-U,--other-user:text -u,--user:text -V,--version -v,--validate`, Operands: "env*", InOrder: true,
			Effects: "writes", Judge: judgeSudo},
		{Names: "doas", Options: "-n -s -u:text -C:read -L -a:text", Operands: "env*", InOrder: true,
			Effects: "writes", Judge: judgeSudo},
		{Names: "pkexec run0", Options: "--user:text --disable-internal-agent --keep-cwd", Operands: "inner*",
			InOrder: true,
			Effects: "writes", Judge: judgeSudo},
		{Names: "su runuser", Carries: "shell", Options: `-c,--command:run --session-command:run -f,--fast -g,--group:text
			-G,--supp-group:text -l,--login -m,-p,--preserve-environment -P,--pty -s,--shell:run -u,--user:text
			-w,--whitelist-environment:text`,
			Operands: "inner*", Effects: "writes interactive", Judge: judgeSu},
		{Names: "chroot", Options: "--groups:text --userspec:text --skip-chdir", Operands: "read command", InOrder: true,
			Effects: "writes runs_code", Abbreviates: true},
		{Names: "unshare", Options: `-m,--mount?:text -u,--uts?:text -i,--ipc?:text -n,--net?:text -p,--pid?:text
			-U,--user?:text -C,--cgroup?:text -T,--time?:text -f,--fork --kill-child?:text --mount-proc?:text
			--map-user:text --map-group:text -r,--map-root-user -c,--map-current-user --map-auto --propagation:text
			-R,--root:text -w,--wd:text -S,--setuid:text -G,--setgid:text --keep-caps`, Operands: "command",
			InOrder: true, Effects: "writes"},
		{Names: "nsenter", Options: `-a,--all -t,--target:text -m,--mount?:text -u,--uts?:text -i,--ipc?:text
			-n,--net?:text -p,--pid?:text -U,--user?:text -C,--cgroup?:text -T,--time?:text -S,--setuid:text
			-G,--setgid:text --preserve-credentials -r,--root?:text -w,--wd?:text -F,--no-fork`, Operands: "command",
			InOrder: true,
			Effects: "writes observes_host"},
		{Names: "systemd-run", Options: `--user --system --scope --unit:text -p,--property:text -t,--pty -P,--pipe
			-q,--quiet --wait -G,--collect -d,--same-dir -E,--setenv:text --on-calendar:text --on-active:text --uid:text
			--gid:text --slice:text`,
			Operands: "command", InOrder: true, Effects: "writes"},
		{Names: "setpriv prlimit setarch linux32 linux64 numactl cpulimit", Operands: "command", InOrder: true,
			Effects: "writes"},
		{Names: "bwrap firejail proot", Raw: true, Carries: "command", Effects: "writes runs_code", Judge: judgeBwrap},
	}
}

// judgeSudo finds the command behind assignments. With -s or -i it is text for a shell.
func judgeSudo(a *Args, u *Use) {
	u.Reasons = append(u.Reasons, because("runs as another user"))
	for _, dir := range a.Values("dir") {
		u.Dir = &dir
	}
	if a.Has("--login") {
		u.Dir = &Word{} // the home of the other user
	}
	words := a.Operands
	for len(words) > 0 && strings.Contains(words[0].Text, "=") {
		words = words[1:]
	}
	switch {
	case len(words) > 0 && len(words) < len(a.Operands) && strings.HasPrefix(words[0].Text, "-"):
		u.Unknown("sudo: options after a variable", words[0])
	case a.Has("--edit"):
		u.Writes = append(u.Writes, words...)
	case len(words) == 0:
	case a.oneOf("--shell", "--login", "-s"):
		u.Runs = append(u.Runs, Command{Shell: joined(words), Joined: true})
	default:
		u.Runs = append(u.Runs, Command{Argv: words})
	}
}

// judgeSu: with -u the operands are a command; else they name a user, and words for a shell.
func judgeSu(a *Args, u *Use) {
	u.Reasons = append(u.Reasons, because("runs as another user"))
	words := a.Values("inner")
	switch {
	case a.Has("--user") && len(words) > 0:
		u.Runs = append(u.Runs, Command{Argv: words})
	case len(words) > 2 || len(words) == 2 && words[0].Text != "-":
		u.Unknown("su gives these words to a shell", words[len(words)-1])
	}
}

// bwrapValues says how many words follow an option of bwrap, for those that have some; a command stands behind all.
var bwrapValues = map[string]int{
	"--args": 1, "--argv0": 1, "--unsetenv": 1, "--setenv": 2, "--userns": 1, "--pidns": 1, "--uid": 1, "--gid": 1,
	"--hostname": 1, "--chdir": 1, "--bind": 2, "--bind-try": 2, "--dev-bind": 2, "--dev-bind-try": 2, "--ro-bind": 2,
	"--ro-bind-try": 2, "--remount-ro": 1, "--exec-label": 1, "--file-label": 1, "--proc": 1, "--dev": 1, "--tmpfs": 1,
	"--mqueue": 1, "--dir": 1, "--file": 2, "--bind-data": 2, "--ro-bind-data": 2, "--symlink": 2, "--seccomp": 1,
	"--block-fd": 1, "--userns-block-fd": 1, "--info-fd": 1, "--sync-fd": 1, "--lock-file": 1, "--cap-add": 1,
	"--cap-drop": 1, "--perms": 1, "--size": 1, "--chmod": 2, "--json-status-fd": 1,
}

func judgeBwrap(a *Args, u *Use) {
	words := a.Operands
	for len(words) > 0 && (!words[0].Static || strings.HasPrefix(words[0].Text, "-")) {
		if !words[0].Static {
			u.Unknown("the command inside is not known", words[0])
		}
		words = words[min(1+bwrapValues[words[0].Text], len(words)):]
	}
	if len(words) > 0 {
		u.Runs = append(u.Runs, Command{Argv: words})
	}
}
