package outline

import "strings"

// waiting is a here-document whose body was not read.
type waiting struct {
	operator  int
	delimiter string
	quoted    bool
	tabs      bool // before lines do not count
}

// waits reads the delimiter of a here-document.
func (r *reader) waits(operator int, tabs bool) {
	if r.around.inExpression {
		r.doubt("bash counts the parentheses of this here-document as those of the expression around it")
	}
	w := waiting{operator: operator, tabs: tabs}
	start := r.at
	r.argument()
	if r.outline.Doubt != "" {
		return
	}
	w.delimiter = r.text[start:r.at]
	if c := w.delimiter[0]; c == '\\' {
		w.delimiter, w.quoted = w.delimiter[1:], true
	} else if n := len(w.delimiter); n > 2 && (c == '\'' || c == '"') && w.delimiter[n-1] == c {
		w.delimiter, w.quoted = w.delimiter[1:n-1], true
	}
	for i := range len(w.delimiter) {
		c := w.delimiter[i]
		if c != '_' && c != '-' && c != '.' && c != '!' && (c|0x20 < 'a' || c|0x20 > 'z') && (c < '0' || c > '9') {
			r.doubt("the delimiter of a here-document is not plain")
			return
		}
	}
	if w.delimiter == "" {
		r.doubt("a here-document has no delimiter")
	}
	r.waiting = append(r.waiting, w)
	r.around.hasDocument = r.around.substitutions > 0
}

// bodies reads those of the here-documents that wait, where a line begins.
func (r *reader) bodies() {
	list := r.waiting
	r.waiting = nil
	for _, w := range list {
		r.body(w)
		if r.outline.Doubt != "" {
			return
		}
	}
}

// body reads one, with the line that ends it.
func (r *reader) body(w waiting) {
	d := Document{Operator: w.operator, Begin: r.at, Quoted: w.quoted}
	for {
		if r.at >= r.end {
			r.doubt("a here-document has no last line")
			return
		}
		from := r.at
		last := r.line(w)
		if r.outline.Doubt != "" {
			return
		}
		if last {
			d.End = from
			break
		}
	}
	behind, end := r.at, r.end
	if !w.quoted {
		body := r.text[d.Begin:d.End]
		if strings.Contains(body, "\\\n") && (strings.Contains(body, "$(") || strings.IndexByte(body, '`') >= 0) {
			r.doubt("a here-document joins lines in quotes, too, before it is expanded")
			return
		}
		r.at, r.end = d.Begin, d.End
		for r.more() {
			from := r.at
			r.quoted(r.text[from])
			if w.tabs && strings.Contains(r.text[from:max(from, r.at)], "\n\t") {
				r.doubt("<<- removes tabs in quotes, too, before it expands")
			}
		}
		if r.at > r.end {
			r.doubt("an expansion is not closed")
		}
		r.end = end
	}
	if r.outline.Doubt == "" {
		r.at = behind
	}
	r.outline.Documents = append(r.outline.Documents, d)
}

// line reads one line of a body, joined ones if backslashes join them, and reports whether it is the last. A line that is it only in
// parts, or joined, or with more behind it, is in doubt: in a substitution bash
// may end the document there.
func (r *reader) line(w waiting) (last bool) {
	var whole string
	begun := false
	for joins := true; joins && r.at < r.end; {
		text := r.text[r.at:r.end]
		if n := strings.IndexByte(text, '\n'); n >= 0 {
			text = text[:n]
		}
		r.at = min(r.at+len(text)+1, r.end)
		piece := text
		joins = !w.quoted && backslashes(text)%2 == 1
		if joins {
			piece = text[:len(text)-1]
		}
		if joins || begun {
			begun = true
			if len(strings.TrimLeft(whole, "\t")) <= len(w.delimiter) { // a longer one ends nothing
				whole += piece
			}
			if w.begins(text) || w.begins(piece) || w.begins(whole) {
				r.doubt("a here-document may end at a joined line")
				return false
			}
			continue
		}
		if text == w.delimiter || w.tabs && strings.TrimLeft(text, "\t") == w.delimiter {
			return true
		}
		if w.begins(text) {
			r.doubt("a here-document may end at the beginning of a line")
			return false
		}
	}
	return false
}

// begins reports whether a line begins like the last one of a here-document.
func (w waiting) begins(line string) bool {
	return strings.HasPrefix(strings.TrimLeft(line, "\t"), w.delimiter)
}

// backslashes returns how many a text ends in.
func backslashes(text string) int {
	return len(text) - len(strings.TrimRight(text, "\\"))
}
