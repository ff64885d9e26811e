package program

import "strings"

// judgeEditor: an editor waits for a terminal, unless an option says that a script drives it.
func judgeEditor(a *Args, u *Use) {
	for _, w := range a.Operands {
		switch w.Text {
		case "-e", "-E", "-s", "-es", "-Es", "--headless", "--batch", "-batch", "--version", "--help":
			u.Reasons = append(u.Reasons, because("runs code of its configuration"))
			return
		}
		if strings.HasPrefix(w.Text, "--script") {
			return
		}
	}
	u.Add(Interactive, "waits for a person at a terminal")
}
