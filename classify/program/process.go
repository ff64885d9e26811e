package program

import "strings"

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
			if word = strings.Trim(word, "()"); !ssPlain(word) {
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
