package program

import "strings"

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
		u.Runs = append(u.Runs, Command{Argv: inside, Away: true})
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
