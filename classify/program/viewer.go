package program

import "strings"

// judgeLess refuses what less takes for more than it seems: commands that begin with +, letters after a number, and
// letters after the $ that ends a text.
func judgeLess(a *Args, u *Use) {
	for _, w := range a.Values("number") {
		if !w.Static || strings.Trim(w.Text, "0123456789.,-") != "" {
			u.Unknown("less: options may follow the number in "+spelled(w), w)
		}
	}
	for _, w := range a.Values("phrase") {
		if !w.Static || strings.ContainsAny(w.Text, "$\\\n\r") {
			u.Unknown("less: options may follow a $ in "+spelled(w), w)
		}
	}
	u.Writes = append(u.Writes, a.Values("logfile")...)
	for _, w := range a.Values("page") {
		if strings.HasPrefix(w.Text, "+") || w.Text == "" {
			u.Unknown("less: "+spelled(w)+" may be a command", w)
		} else if w.Text != "-" {
			u.Reads = append(u.Reads, w)
		}
	}
}

// judgeMore tells files from +line and +/pattern.
func judgeMore(a *Args, u *Use) {
	for _, w := range a.Values("page") {
		if !strings.HasPrefix(w.Text, "+") {
			u.Reads = append(u.Reads, w)
		}
	}
}

// judgeMan: a topic with a slash is a file, whose text is a program for groff.
func judgeMan(a *Args, u *Use) {
	for _, w := range a.Values("topic") {
		if !w.Static || strings.Contains(w.Text, "/") {
			u.Unknown("man: "+spelled(w)+" may be a file", w)
		}
	}
}

// judgeTput: init and reset run what the terminal's description names.
func judgeTput(a *Args, u *Use) {
	for _, w := range a.Values("capability") {
		if !w.Static || w.Text == "init" || w.Text == "reset" || w.Text == "" {
			u.Unknown("tput: "+spelled(w)+" may change the terminal or run its program", w)
		}
	}
	for _, o := range a.Options {
		if o.Name == "-T" && (!o.Value.Static || strings.Contains(o.Value.Text, "/")) {
			u.Unknown("tput: the terminal "+spelled(o.Value)+" may be described by a file", o.Value)
		}
	}
}
