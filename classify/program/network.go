package program

import "strings"

// removesKeys finds the commands of Redis that remove keys.
var removesKeys = judgeWords("removes keys", "flushall", "flushdb", "del", "unlink", "getdel")

// removesDatabase finds the command of mysqladmin that does.
var removesDatabase = judgeWords("removes a database", "drop")

// judgeWget: without a name for it, what is got replaces no file.
func judgeWget(a *Args, u *Use) {
	u.Reasons = append(u.Reasons, because("writes the host's answer to a file"))
	if !a.Has("--output-document", "--output-file", "--continue", "--recursive", "-N", "-nc", "--no-clobber") {
		u.Effects = append(u.Effects, Adds)
	}
}

// judgeCurl judges methods, and values that name a file: @FILE of data, the name of a cookie jar.
func judgeCurl(a *Args, u *Use) {
	for _, w := range a.Values("method") {
		switch {
		case w.Static && (w.Text == "GET" || w.Text == "HEAD" || w.Text == "OPTIONS"):
		case w.Text == "DELETE":
			u.Add(Destroys, "deletes data at the host")
			u.Effects = append(u.Effects, Writes)
		default:
			u.Add(Writes, "may change data at the host: its method is "+spelled(w))
		}
	}
	for _, w := range a.Values("data") {
		if at := strings.IndexByte(w.Text, '@'); at >= 0 {
			u.Reads = append(u.Reads, part(w, at+1))
		} else if at := strings.Index(w.Text, "=<"); at >= 0 {
			u.Reads = append(u.Reads, part(w, at+2))
		} else if !w.Static && w.Text == "" {
			u.Unknown("this may name a file to send", w)
		}
	}
	for _, w := range a.Values("format") {
		if !w.Static || strings.HasPrefix(w.Text, "@") || strings.Contains(w.Text, "%output") {
			u.Unknown("this format may write a file, or be read from one", w)
		}
	}
	for _, w := range a.Values("cookie") {
		if !strings.Contains(w.Text, "=") {
			u.Reads = append(u.Reads, w)
		}
	}
	for _, w := range a.Values("host") {
		if strings.HasPrefix(strings.ToLower(w.Text), "file:") {
			u.Unknown("this URL reads a file", w)
		}
	}
}

// judgeSSH adds the command that the other machine runs, as a shell there does.
func judgeSSH(a *Args, u *Use) {
	if a.Has("-V") && len(a.Argv) == 2 {
		return
	}
	for _, e := range []Effect{Reaches, Writes, RunsCode} {
		u.Add(e, "runs a command on another machine")
	}
	inner := a.Values("inner")
	if len(inner) > 0 && inner[0].Static && inner[0].Text == "--" {
		inner = inner[1:]
	}
	if len(inner) > 0 {
		u.Runs = append(u.Runs, Command{Shell: joined(inner), Joined: true, Away: true})
		return
	}
	u.Add(Interactive, "opens a shell on another machine")
}

// judgeCopies tells hosts from paths: HOST:PATH, HOST::MODULE and scheme://HOST. The last word is written. Without a host rsync
// copies on this machine.
func judgeCopies(a *Args, u *Use) {
	if name := a.Argv[0].Text; name != "rsync" && a.Has("-S") || name == "sftp" && a.Has("-D") {
		u.Add(RunsCode, name+" runs the program that the option names")
	}
	for i, w := range a.Operands {
		colon := strings.IndexByte(w.Text, ':')
		slash := strings.IndexByte(w.Text, '/')
		switch {
		case colon > 0 && (slash < 0 || colon < slash), a.Argv[0].Text == "sftp":
			if colon > 0 && !strings.HasPrefix(w.Text[colon:], "://") {
				w.Text, w.Static = w.Text[:colon], true
			}
			u.Hosts = append(u.Hosts, w)
			u.Add(Reaches, "copies from or to another machine: "+spelled(w))
		case !w.Static && slash != 0 && a.Argv[0].Text == "rsync":
			u.Add(Reaches, "may copy from or to another machine")
		case i == len(a.Operands)-1:
			u.Writes = append(u.Writes, w)
		default:
			u.Reads = append(u.Reads, w)
		}
	}
}

// judgeNetcat finds options that listen and options that run a program. It does not parse socat's addresses.
func judgeNetcat(a *Args, u *Use) {
	u.Add(Writes, "sends the files that it reads to another machine")
	for _, w := range a.Operands {
		text := strings.ToLower(w.Text)
		switch {
		case !strings.HasPrefix(text, "-"):
			if strings.HasPrefix(text, "exec:") || strings.HasPrefix(text, "system:") {
				u.Add(RunsCode, "runs a program for another machine")
			}
		case strings.ContainsAny(text, "ec") && !strings.HasPrefix(text, "--"):
			u.Add(RunsCode, "may run a program for another machine: "+spelled(w))
		}
		if strings.HasPrefix(text, "-") && strings.Contains(text, "l") {
			u.Add(LongRunning, "listens")
		}
	}
	hostsAmongWords(a, u)
}

// hostsAmongWords finds the words that look like the name or the address of a host: those with a dot or an @ that are no option
// and no path.
func hostsAmongWords(a *Args, u *Use) {
	for _, w := range a.Operands {
		if strings.ContainsAny(w.Text, ".@") && !strings.ContainsAny(w.Text, "/,=") && w.Text[0] != '-' && w.Text[0] != '+' && w.Text[0] != '.' {
			w.Text = strings.TrimPrefix(w.Text, "@")
			u.Hosts = append(u.Hosts, w)
		}
	}
}

func judgePing(a *Args, u *Use) {
	if !a.Has("-c", "-w") {
		u.Add(LongRunning, "ping goes on until it is stopped")
	}
}

// judgeDig judges the words of dig: @SERVER, +OPTION, names and types. Options with a dash take files.
// digFlags are the options of dig without a value that only shape the question.
var digFlags = WordSet("-x -4 -6 -t -q -u -v")

func judgeDig(a *Args, u *Use) {
	hostsAmongWords(a, u)
	for i, w := range a.Operands {
		switch {
		case !w.Static && (w.Text == "" || w.Text[0] == '-'):
			u.Unknown("this may be an option of dig", w)
		case strings.HasPrefix(w.Text, "@") && !strings.Contains(w.Text, "."):
			u.Hosts = append(u.Hosts, part(w, 1))
		case w.Text == "-f" || w.Text == "-k":
			u.Unknown("dig takes words from a file", w)
			if i+1 < len(a.Operands) {
				u.Reads = append(u.Reads, a.Operands[i+1])
			}
		case digFlags[w.Text]:
		case strings.HasPrefix(w.Text, "-"):
			u.Unknown("dig: the option "+w.Text+" is not known", w)
		}
	}
}
