package program

import "strings"

// processSpecs describes the programs that look at processes, memory, sockets and users, those of procps, psmisc,
// lsof and iproute2, and those that send signals.
func processSpecs() []*Spec {
	return append(signalSpecs(), append(socketSpecs(), hostSpecs()...)...)
}

func hostSpecs() []*Spec {
	return []*Spec{
		// ps takes options in three styles, and none of them does more than show.
		{Names: "ps", Raw: true, Harmless: true, Effects: "observes_host", Judge: anyWords},
		{Names: "pgrep", Operands: "text*", Effects: "observes_host", Harmless: true,
			Options: pgrepOptions + ` -d,--delimiter:text -l,--list-name -a,--list-full -v,--inverse -w,--lightweight
				-c,--count -Q,--quick --signal:text`},
		{Names: "pidof", Operands: "text*", Effects: "observes_host", Harmless: true,
			Options: "-c -d:text -h -n -o:text -q -s -S:text -t -w -x -z -V"},
		{Names: "pstree", Operands: "text*", Effects: "observes_host", Harmless: true,
			Options: `-a,--arguments -A,--ascii -c,--compact-not -C,--color:text -g,--show-pgids -G,--vt100
				-h,--highlight-all -H,--highlight-pid:text -l,--long -n,--numeric-sort -N,--ns-sort:text -p,--show-pids
				-s,--show-parents -S,--ns-changes -t,--thread-names -T,--hide-threads -u,--uid-changes -U,--unicode
				-V,--version -Z,--security-context`},
		{Names: "pmap", Operands: "text*", Effects: "observes_host",
			Options: "-x,--extended -X -d,--device -q,--quiet -p,--show-path -A,--range:text -h,--help -V,--version"},
		{Names: "pwdx", Operands: "text*", Effects: "observes_host", Options: "-h,--help -V,--version", Harmless: true},
		{Names: "free", Operands: "", Effects: "observes_host", Harmless: true, Judge: judgeFree,
			Options: `-b,--bytes --kilo --mega --giga --tera --peta -k,--kibi -m,--mebi -g,--gibi --tebi --pebi -h,--human
				--si -l,--lohi -L,--line -t,--total -v,--committed -s,--seconds:text -c,--count:text -w,--wide --help
				-V,--version`},
		{Names: "vmstat", Operands: "text*", Effects: "observes_host", Harmless: true, Judge: judgeVmstat,
			Options: `-a,--active -f,--forks -m,--slabs -n,--one-header -s,--stats -d,--disk -D,--disk-sum
				-p,--partition:text -S,--unit:text -w,--wide -t,--timestamp -y,--no-first -h,--help -V,--version`},
		{Names: "uptime", Operands: "", Effects: "observes_host", Harmless: true,
			Options: "-p,--pretty -c,--container -r,--raw -h,--help -s,--since -V,--version"},
		{Names: "w", Operands: "text*", Effects: "observes_host", Harmless: true,
			Options: `-h,--no-header -u,--no-current -s,--short -f,--from -o,--old-style -i,--ip-addr -p,--pids
				-c,--container -t,--terminal --help -V,--version`},
		{Names: "who users", Operands: "text*", Effects: "observes_host", Harmless: true, Abbreviates: true,
			Options: `-a,--all -b,--boot -d,--dead -H,--heading --ips -l,--login --lookup!reaches -m -p,--process -q,--count
				-r,--runlevel -s,--short -t,--time -T,-w,--mesg -u,--users --message --writable` + helpVersion},
		{Names: "hostname", Operands: "name*", Judge: judgeHostname,
			Options: `-a,--alias!reaches -A,--all-fqdns!reaches -b,--boot!writes -d,--domain!reaches -f,--fqdn,--long!reaches
				-F,--file:read!writes -i,--ip-address!reaches -I,--all-ip-addresses -s,--short -y,--yp,--nis!reaches
				-v,--verbose -h,--help -V,--version`},
		{Names: "top", Operands: "", Effects: "observes_host writes", Judge: judgeTop, // it makes ~/.config/procps
			Options: `-b,--batch,--batch-mode -c,--cmdline-toggle -d,--delay:text -E,--scale-summary-mem:text
				-e,--scale-task-mem:text -H,--threads-show -i,--idle-toggle -n,--iterations:text -O,--list-fields
				-o,--sort-override:text -p,--pid:text -S,--accum-time-toggle -s,--secure-mode -U,--filter-any-user:text
				-u,--filter-only-euser:text -w,--width?:text -1,--single-cpu-toggle -h,--help -V,--version`},
	}
}

func socketSpecs() []*Spec {
	return []*Spec{
		{Names: "lsof", Operands: "item*", Effects: "observes_host", Judge: judgeLsof,
			// -D of older versions writes a cache.
			Options: `-h -a -b -c:text -d:text -e:text -i?:text -K?:text -l -n -N -o?:text -O -P -Q -R -s?:text -t -T?:text -U -v
				-V -w -X -Z?:text -E -F?:text -p:text -S?:text -g?:text -u:text -x?:text -f?:text -L?:text -M
				-r?:text!long_running`},
		{Names: "ss", Operands: "filter*", Effects: "observes_host", Judge: judgeSS,
			Options: `-h,--help -V,--version -n,--numeric -r,--resolve!reaches -a,--all -l,--listening -B,--bound-inactive
				-o,--options -e,--extended -m,--memory -p,--processes -T,--threads -i,--info --tipcinfo -s,--summary --tos
				--cgroup -b,--bpf -E,--events!long_running -Z,--context -z,--contexts -4,--ipv4 -6,--ipv6 -0,--packet -t,--tcp
				-M,--mptcp -S,--sctp -u,--udp -d,--dccp -w,--raw -x,--unix --tipc --vsock --xdp -f,--family:text
				-K,--kill!writes -H,--no-header -Q,--no-queues -O,--oneline --inet-sockopt -A,--socket,--query:text
				-D,--diag:write -F,--filter:read`},
	}
}

// pgrepOptions are the common options of pgrep and pkill.
const pgrepOptions = `-f,--full -g,--pgroup:text -G,--group:text -i,--ignore-case -n,--newest -o,--oldest -O,--older:text
	-P,--parent:text -s,--session:text -t,--terminal:text -u,--euid:text -U,--uid:text -x,--exact -F,--pidfile:read
	-L,--logpidfile -r,--runstates:text -A,--ignore-ancestors --cgroup:text --env:text --ns:text --nslist:text -h,--help
	-V,--version`

func signalSpecs() []*Spec {
	return []*Spec{
		{Names: "kill", Raw: true, Exact: true, Loses: true, Judge: JudgeKill},
		{Names: "pkill", Operands: "text*", Effects: "observes_host", Judge: judgeSends,
			Options: pgrepOptions + " --signal:text -q,--queue:text -e,--echo -c,--count -m,--mrelease -H,--require-handler"},
		{Names: "killall", Operands: "text*", Judge: judgeSends,
			Options: `-e,--exact -I,--ignore-case -g,--process-group -y,--younger-than:text -o,--older-than:text
				-i,--interactive!interactive -l,--list -q,--quiet -r,--regexp -s,--signal:text -u,--user:text -v,--verbose
				-V,--version -w,--wait -n,--ns:text -Z,--context:text -num`},
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
	if u.Understood && a.oneOf("--list", "--help", "--version") {
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
	if a.oneOf("--help", "--version", "--list-fields") {
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
	numeric := a.oneOf("-n", "-t", "-h", "-v")
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
