package program

import "strings"

// judgeGoEnv judges go env, which with no names, or one of the compiler's, asks the C compiler and writes the cache.
func judgeGoEnv(a *Args, u *Use) {
	if len(a.Operands) == 0 || a.Has("-json") || a.Has("-changed") {
		u.Add(NotConcurrent, "asks the C compiler for its flags, and keeps the answer in the build cache")
	}
}

func judgeGoList(a *Args, u *Use) {
	for _, w := range a.Values("gomod") {
		if w.Text != "vendor" && w.Text != "readonly" || !w.Static {
			u.Add(Writes, "may change go.mod: -mod="+spelled(w))
		}
	}
	judgeGoPackages(a, u)
}

// judgeGoPackages finds PACKAGE@VERSION: go asks the module proxy for it.
func judgeGoPackages(a *Args, u *Use) {
	for _, w := range a.Values("package") {
		if strings.Contains(w.Text, "@") || !w.Static {
			u.Add(Reaches, "asks the module proxy of go's configuration for "+spelled(w))
			u.Add(Writes, "writes the module cache")
			return
		}
	}
}

func judgeGoModEdit(a *Args, u *Use) {
	if len(a.Operands) == 1 && (a.Operands[0].Text == "-json" || a.Operands[0].Text == "-print") {
		return
	}
	u.Add(Writes, "changes go.mod")
}

func judgeGofmt(a *Args, u *Use) {
	files := a.Values("format")
	u.Reads = append(u.Reads, files...)
	if a.Has("-w") {
		u.Writes = append(u.Writes, files...)
	}
	if len(files) > 0 {
		u.Add(ReadsTree, "gofmt reads below directories")
	}
}
