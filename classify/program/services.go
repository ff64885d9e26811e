package program

import "strings"

// removesKeys finds the commands of Redis that remove keys.
var removesKeys = judgeWords("removes keys", "flushall", "flushdb", "del", "unlink", "getdel")

// removesDatabase finds the command of mysqladmin that does.
var removesDatabase = judgeWords("removes a database", "drop")

// judgeWget: without a name for the download, it replaces no file.
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
		u.Runs = append(u.Runs, Command{Shell: joined(inner), Joined: true, Remote: true})
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
		if strings.ContainsAny(w.Text, ".@") && !strings.ContainsAny(w.Text, "/,=") && !strings.ContainsAny(w.Text[:1], "-+.") {
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

// digFlags are the options of dig without a value that only shape the question.
var digFlags = WordSet("-x -4 -6 -t -q -u -v")

// judgeDig judges the words of dig: @SERVER, +OPTION, names and types. Options with a dash take files.
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

// judgeDockerStats marks stats as endless unless it has --no-stream.
func judgeDockerStats(a *Args, u *Use) {
	if !a.Has("--no-stream") {
		u.Add(LongRunning, "docker stats shows a stream")
	}
}

// judgeInside adds what runs in a container, whose paths are not those of this machine.
func judgeInside(a *Args, u *Use) {
	u.Reasons = append(u.Reasons, because("runs a command in a container, through a service that may reach other machines"))
	inside := a.Values("inside")
	if len(inside) > 0 && inside[0].Static && inside[0].Text == "--" {
		inside = inside[1:]
	}
	if len(inside) > 0 {
		u.Runs = append(u.Runs, Command{Argv: inside, Remote: true})
	}
}

// judgeDockerRun names the directories of this machine that a new container is given, and the host of its image.
func judgeDockerRun(a *Args, u *Use) {
	judgeInside(a, u)
	judgeImages(a, u)
	for _, w := range a.Values("volume") {
		from, rest, _ := strings.Cut(w.Text, ":")
		shares(u, w, from, strings.HasSuffix(rest, ":ro") || strings.Contains(rest, ":ro,"))
	}
	for _, w := range a.Values("mount") {
		from, reads := "", false
		for field := range strings.SplitSeq(w.Text, ",") {
			name, value, _ := strings.Cut(field, "=")
			switch name {
			case "source", "src":
				from = value
			case "readonly", "ro":
				reads = true
			}
		}
		shares(u, w, from, reads)
	}
}

// shares names a path of this machine that a container gets. Names without a slash are volumes of the daemon.
func shares(u *Use, at Word, path string, reads bool) {
	if at.Static && !strings.HasPrefix(path, "/") && !strings.HasPrefix(path, ".") && !strings.HasPrefix(path, "~") {
		return
	}
	at.Text = path
	u.Reads = append(u.Reads, at)
	if !reads {
		u.Writes = append(u.Writes, at)
	}
}

// judgeImages names the hosts of images that spell theirs: HOST/NAME, where HOST has a dot or a port. Only the daemon knows the
// host of the others.
func judgeImages(a *Args, u *Use) {
	for _, w := range a.Values("image") {
		host, _, ok := strings.Cut(w.Text, "/")
		if ok && strings.ContainsAny(host, ".:") {
			w.Text, w.Static = host, true
			u.Hosts = append(u.Hosts, w)
		} else {
			u.Effects = append(u.Effects, HostsUnknown)
		}
	}
}

// judgeContainerCopy tells paths of this machine from those in containers, CONTAINER:PATH. The last word is written; - is a stream.
func judgeContainerCopy(a *Args, u *Use) {
	words := a.Values("copied")
	for i, w := range words {
		colon, slash := strings.IndexByte(w.Text, ':'), strings.IndexByte(w.Text, '/')
		switch {
		case colon > 0 && (slash != 0 && w.Text[0] != '.'), w.Static && w.Text == "-":
		case i == len(words)-1:
			u.Writes = append(u.Writes, w)
		default:
			u.Reads = append(u.Reads, w)
		}
	}
}

// judgeGh names the hosts that gh reaches unless the repository or the configuration is of another server.
func judgeGh(a *Args, u *Use) {
	if u.Has(Reaches) {
		u.Hosts = append(u.Hosts, Lit("github.com"), Lit("api.github.com"))
		u.Effects = append(u.Effects, HostsUnknown)
	}
}

// awsValues are the options of aws itself with a value; others before the service are not understood.
var awsValues = WordSet("--region --profile --output --query --color --ca-bundle --cli-read-timeout --cli-connect-timeout")

// judgeAWS: describe-… and list-… only ask, whatever their parameters are, and so do two more.
func judgeAWS(a *Args, u *Use) {
	words := a.Operands
	for len(words) > 1 && words[0].Static && awsValues[words[0].Text] {
		words = words[2:]
	}
	if len(words) == 1 && words[0].Static && words[0].Text == "--version" {
		return
	}
	for _, w := range words[:min(len(words), 2)] {
		if !w.Static {
			u.Unknown("aws: the request is not known", w)
			awsRemoves(a, u)
			return
		}
	}
	if len(words) > 1 && !strings.HasPrefix(words[0].Text, "-") && awsAsks(words[0].Text, words[1].Text) {
		return
	}
	u.Add(Writes, "works on a service with the person's credentials")
	awsRemoves(a, u)
}

var awsRemoves = judgeWords("removes resources", "rm", "rb", "delete-", "terminate-")

// judgeForge finds commands that remove resources of a service.
func judgeForge(a *Args, u *Use) {
	u.Reasons = append(u.Reasons, because("works on a service with the person's credentials"))
	judgeWords("removes resources", "delete", "destroy", "apps:destroy")(a, u)
}

func awsAsks(service, verb string) bool {
	return strings.HasPrefix(verb, "describe-") || strings.HasPrefix(verb, "list-") || service == "s3" && verb == "ls" ||
		service == "sts" && verb == "get-caller-identity"
}

// judgeGhAPI judges the method: GET unless there are fields.
func judgeGhAPI(a *Args, u *Use) {
	methods := a.Values("method")
	for _, w := range methods {
		if !w.Static || !strings.EqualFold(w.Text, "GET") && !strings.EqualFold(w.Text, "HEAD") {
			u.Add(Writes, "changes data at the host: its method is "+spelled(w))
			if strings.EqualFold(w.Text, "DELETE") {
				u.Add(Destroys, "deletes data at the host")
			}
		}
	}
	if len(a.Values("field")) > 0 && len(methods) == 0 {
		u.Add(Writes, "sends a POST: it has fields")
	}
	for _, w := range a.Operands {
		if strings.HasPrefix(w.Text, "graphql") {
			u.Add(Writes, "may change data at the host: it is a GraphQL query")
		}
	}
}

// judgeOpenSSL: -in takes the address of an object, which may be in the keeping of a library. Without it, req makes a
// request.
func judgeOpenSSL(a *Args, u *Use) {
	for _, w := range a.Values("store") {
		if !w.Static && !strings.HasPrefix(w.Text, "/") && !strings.HasPrefix(w.Text, "./") || strings.Contains(w.Text, ":") {
			u.Unknown("openssl: "+spelled(w)+" may be more than a file", w)
		}
		u.Reads = append(u.Reads, w)
	}
}

func judgeKeygen(a *Args, u *Use) {
	if !a.Has("-l") {
		u.Add(Writes, "ssh-keygen makes a key")
	}
}

func judgeSSHAdd(a *Args, u *Use) {
	if !a.Has("-l", "-L") {
		u.Add(Writes, "ssh-add gives a key to the agent")
	}
}

// Loopback reports whether a word names this machine itself and nothing else: a host, or a URL of it.
func Loopback(w Word) bool {
	text := w.Text
	if !w.Static {
		text = w.Shape().Sample
		if text == "" || !strings.HasPrefix(text, w.Text) {
			return false
		}
	}
	if scheme, rest, ok := strings.Cut(text, "://"); ok {
		if scheme != "http" && scheme != "https" {
			return false
		}
		text = rest
	}
	end := strings.IndexAny(text, "/?#")
	if end < 0 {
		end = len(text)
	}
	host, port, hasPort := strings.Cut(text[:end], ":")
	if strings.HasPrefix(text, "[::1]") {
		host = "[::1]"
		port, hasPort = strings.CutPrefix(text[len(host):end], ":")
		if !hasPort && end > len(host) {
			return false
		}
	}
	if hasPort && !Digits(strings.TrimPrefix(port, "\n")) {
		return false
	}
	switch host {
	case "localhost", "127.0.0.1", "0.0.0.0", "[::1]":
		return true
	}
	return false
}
