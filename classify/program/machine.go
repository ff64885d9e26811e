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
		if file.Text = "/etc/" + w.Text; w.Text == "initgroups" {
			file.Text = "/etc/group"
		}
		u.Reads = append(u.Reads, file)
	}
}
