package program

import "strings"

// judgeBat: bat cache changes the cache, if there is no file of that name.
func judgeBat(a *Args, u *Use) {
	for i, w := range a.Values("page") {
		if i == 0 && (!w.Static && w.Text == "" || w.Text == "cache") {
			u.Unknown("bat: "+spelled(w)+" may be a subcommand", w)
		}
		if w.Text != "-" {
			u.Reads = append(u.Reads, w)
		}
	}
}

func judgeXMLLint(a *Args, u *Use) {
	for _, w := range a.Values("document") {
		switch {
		case strings.Contains(w.Text, "://"):
			u.Hosts = append(u.Hosts, w)
			u.Add(Reaches, "xmllint fetches "+spelled(w))
		case !w.Static && w.Text == "":
			u.Add(Reaches, "xmllint may fetch what is not known")
		case w.Text != "-":
			u.Reads = append(u.Reads, w)
		}
	}
}

// judgeAr knows two commands, to list and to print; their letters are the first word, with a dash or without.
func judgeAr(a *Args, u *Use) {
	words := a.Operands
	if len(words) == 1 && words[0].Static && (words[0].Text == "--version" || words[0].Text == "--help") {
		return
	}
	for i, w := range words {
		text := w.Text
		switch {
		case i == 0:
			text = strings.TrimPrefix(text, "-")
			if !w.Static || strings.Trim(text, "tpvOP") != "" || !strings.ContainsAny(text, "tp") {
				u.Unknown("ar: "+spelled(w)+" may change the archive", w)
				return
			}
		case !w.Static && text == "", strings.HasPrefix(text, "-"), strings.HasPrefix(text, "@"):
			u.Unknown("ar: "+spelled(w)+" may be an option, or name a file of them", w)
		case i == 1:
			u.Reads = append(u.Reads, w)
		}
	}
}
