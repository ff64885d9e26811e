package program

import "strings"

// judgeSysctl: NAME=VALUE sets, with -w or without.
func judgeSysctl(a *Args, u *Use) {
	for _, w := range a.Values("setting") {
		if strings.Contains(w.Text, "=") {
			u.Add(Writes, "sysctl sets "+spelled(w))
		} else if !w.Static {
			u.Unknown("sysctl: "+spelled(w)+" may set something", w)
		}
	}
}

// judgeCrontab: without -l and with a file, crontab replaces the table.
func judgeCrontab(a *Args, u *Use) {
	if !a.Has("-l") || len(a.Values("table")) > 0 {
		u.Add(Writes, "crontab replaces the table")
	}
}

// localDatabases are those of getent that are answered as id and ls are; the others ask name servers.
var localDatabases = WordSet("passwd group shadow gshadow services protocols rpc ethers networks aliases initgroups")

func judgeGetent(a *Args, u *Use) {
	if len(a.Operands) > 0 && !(a.Operands[0].Static && localDatabases[a.Operands[0].Text]) {
		u.Add(Reaches, "getent asks name servers")
		return
	}
	for _, w := range a.Operands[:min(1, len(a.Operands))] {
		file := w
		file.Text = "/etc/" + w.Text
		if w.Text == "initgroups" {
			file.Text = "/etc/group"
		}
		u.Reads = append(u.Reads, file)
	}
}

// JudgeKill knows the lists of signals; every other use of kill sends one, and to every process if the last word is -1. The shell's
// builtin kill is the same.
func JudgeKill(a *Args, u *Use) {
	if len(a.Operands) > 0 && a.Operands[0].Static {
		switch a.Operands[0].Text {
		case "-l", "-L", "--list", "--table", "--help", "--version":
			return
		}
	}
	u.Add(Writes, "kill sends a signal to a process, with which its work may be lost")
	if last := len(a.Operands) - 1; last > 0 && a.Operands[last].Static && a.Operands[last].Text == "-1" {
		u.Add(Destroys, "ends every process")
	}
}

func judgeSends(a *Args, u *Use) {
	if u.Understood && a.Has("--list", "--help", "--version") {
		return
	}
	u.Add(Writes, a.Argv[0].Text+" sends a signal to processes, with which their work may be lost")
}

func judgeFree(a *Args, u *Use) {
	if a.Has("--seconds") && !a.Has("--count") {
		u.Add(LongRunning, "free -s goes on without -c")
	}
}

func judgeVmstat(a *Args, u *Use) {
	if len(a.Operands) == 1 {
		u.Add(LongRunning, "vmstat goes on unless it is told how often")
	}
}

// judgeHostname: an operand sets the name.
func judgeHostname(a *Args, u *Use) {
	if len(a.Values("name")) > 0 {
		u.Add(Writes, "hostname: an operand sets the name of the host")
	}
}

func judgeTop(a *Args, u *Use) {
	if a.Has("--help", "--version", "--list-fields") {
		return
	}
	if !a.Has("--batch-mode") {
		u.Add(Interactive, "top is for a terminal without -b")
	}
	if !a.Has("--iterations") {
		u.Add(LongRunning, "top goes on without -n")
	}
}

// judgeLsof: addresses become names unless -n or -t is there, and a host in -i becomes an address: both ask name
// servers. Options with + stand among the operands.
func judgeLsof(a *Args, u *Use) {
	numeric := a.Has("-n", "-t", "-h", "-v")
	names := !numeric && (a.Has("-i") || len(a.Operands) == 0)
	for _, o := range a.Options {
		names = names || o.Name == "-i" && (strings.Contains(o.Value.Text, "@") || o.Has && !o.Value.Static)
	}
	for _, w := range a.Values("item") {
		switch {
		case strings.HasPrefix(w.Text, "+r"):
			u.Add(LongRunning, "lsof +r repeats")
		case strings.HasPrefix(w.Text, "+m"):
			u.Unknown("lsof: +m makes a file", w)
		case strings.Contains(w.Text, "@"), !w.Static && a.Has("-i"):
			names = true
		}
	}
	if names {
		u.Add(MayReach, "lsof asks name servers for the names of hosts")
	}
}

// ssWords are the words of an ss filter other than names of hosts and services.
var ssWords = WordSet(`state exclude dst src dport sport dev fwmark cgroup autobound not and or eq ne gt lt ge le neq geq leq
	all connected synchronized bucket big established syn-sent syn-recv fin-wait-1 fin-wait-2 time-wait closed close-wait
	last-ack listening listen closing = == != > < >= <= ! && || & | ( )`)

// judgeSS: the name of a host in a filter is looked up.
func judgeSS(a *Args, u *Use) {
	for _, w := range a.Values("filter") {
		for word := range strings.FieldsSeq(w.Text) {
			word = strings.Trim(word, "()")
			if !ssPlain(word) {
				u.Add(Reaches, "ss looks up "+word)
			}
		}
		if !w.Static {
			u.Add(Reaches, "ss looks up a name that is not known")
		}
	}
}

// ssPlain reports whether a word of a filter is none of a host that has to be looked up.
func ssPlain(word string) bool {
	address := "0123456789.:/*[]%=<>!"
	if strings.Contains(word, "::") {
		address += "abcdefABCDEF"
	}
	return strings.HasPrefix(word, ":") || strings.Trim(word, address) == "" || ssWords[word]
}

// judgeNetstat: netstat asks name servers for the names of addresses unless it has -n; an operand is a name.
func judgeNetstat(a *Args, u *Use) {
	if !a.Has("--numeric", "--version", "--help") || len(a.Operands) > 0 {
		u.Add(Reaches, a.Argv[0].Text+" asks name servers for the names of hosts unless -n is there")
	}
}

// The words of ip that do nothing but ask. It takes abbreviations; only the usual ones are here. -batch and -netns are
// not, which read commands and change the place where they hold.
var (
	ipOptions = WordSet(`-s -stats -statistics -d -details -h -human -human-readable -iec -j -json -p -pretty -4 -6 -M -B -0 -br
		-brief -o -oneline -t -timestamp -ts -tshort -N -Numeric -c -color -V -Version`)
	ipFamilies = WordSet("-f -family")
	ipObjects  = WordSet("a addr address l link r route ru rule n neigh neighbor neighbour maddr maddress")
	ipVerbs    = WordSet("show list lst ls sh")
)

// judgeIP takes ip's words in order: options, the object, the verb, the rest.
func judgeIP(a *Args, u *Use) {
	words := a.Operands
	for len(words) > 0 && strings.HasPrefix(words[0].Text, "-") {
		option := "-" + strings.TrimLeft(words[0].Text, "-")
		name, _, _ := strings.Cut(option, "=")
		switch {
		case !words[0].Static:
			u.Unknown("ip: this may be any option", words[0])
			return
		case ipOptions[option], name == "-color":
			words = words[1:]
		case ipFamilies[option] && len(words) > 1:
			words = words[2:]
		default:
			u.Unknown("ip: the option "+option+" is not known", words[0])
			return
		}
	}
	if len(words) == 0 {
		return
	}
	if !words[0].Static || !ipObjects[words[0].Text] {
		u.Unknown("ip: what is asked of "+spelled(words[0])+" is not known", words[0])
		return
	}
	if object := words[0].Text; len(words) > 1 && !ipAsks(object, words[1]) {
		u.Unknown("ip: "+object+" "+spelled(words[1])+" is not known to be a question", words[1])
	}
}

func ipAsks(object string, verb Word) bool {
	return verb.Static && (ipVerbs[verb.Text] || verb.Text == "get" && (object == "route" || object == "r"))
}

// judgePlutil: -p and -lint only read; every other command may rewrite the file.
func judgePlutil(a *Args, u *Use) {
	for i, w := range a.Operands {
		switch {
		case i == 0 && w.Static && (w.Text == "-p" || w.Text == "-lint"):
		case i == 0, !w.Static && w.Text == "", w.Text != "" && w.Text[0] == '-':
			u.Unknown("plutil: "+spelled(w)+" may change the file", w)
		default:
			u.Reads = append(u.Reads, w)
		}
	}
}

func judgeVMStat(a *Args, u *Use) {
	if len(a.Operands) > 0 {
		u.Add(LongRunning, "vm_stat goes on with an interval")
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
	case a.Has("--shell", "--login", "-s"):
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
