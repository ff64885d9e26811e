package program

import "strings"

// editorSpecs describes the editors of terminals. They run code of their configuration and of plugins.
func editorSpecs() []*Spec {
	return []*Spec{{
		Names: "vi vim nvim view gvim nano pico emacs micro hx joe mcedit kak", Raw: true, Carries: "editor", Effects: "writes runs_code",
		Judge: judgeEditor,
	}}
}

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
