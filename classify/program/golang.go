package program

import "strings"

// goSpecs describes go 1.26 and gofmt.
//
// Every go command counts its uses below the person's configuration directory, and switches to the toolchain that
// go.mod asks for, which it downloads if need be. list, doc and mod graph write indexes into the build cache and
// download modules that are missing. The sandbox of a read-only command refuses all of this, and they go on without.
func goSpecs() []*Spec {
	return []*Spec{
		{Names: "go", Carries: "command=-exec,-toolexec", Sub: []*Spec{
			{Names: "version", Options: "-m -v -json", Ungrouped: true, InOrder: true, Operands: "read*"},
			{Names: "env", Options: "-json -changed -w!writes -u!writes", Ungrouped: true, InOrder: true,
				Operands: "text*", Judge: judgeGoEnv},
			{Names: "doc", Options: "-C:read -all -c -cmd -short -src -u -ex -http!long_running,runs_code",
				Ungrouped: true,
				InOrder:   true, Operands: "package*", Effects: "not_concurrent", Judge: judgeGoPackages},
			{Names: "list", Options: goListOptions, Ungrouped: true, InOrder: true, Operands: "package*",
				Effects: "reads_tree not_concurrent", Judge: judgeGoList},
			{Names: "help", Operands: "text*", Harmless: true},
			{Names: "mod", Sub: []*Spec{
				{Names: "graph why verify", Options: "-C:read -m -vendor -go:text -x", Ungrouped: true, InOrder: true,
					Operands: "package*", Effects: "not_concurrent", Judge: judgeGoPackages},
				{Names: "edit", Raw: true, Judge: judgeGoModEdit},
				{Names: "init", Raw: true, Effects: "writes adds", Judge: reason("writes go.mod"), Locks: "go.mod"},
				{Names: "download tidy vendor", Raw: true, Effects: "writes reaches adds", Locks: "go.mod",
					Judge: reason("changes go.mod, go.sum or the module cache, and asks the module proxy of go's configuration")},
			}},
			{Names: "tool", Operands: "sub?", Sub: []*Spec{
				{Names: "nm objdump addr2line", Options: "-n -size -sort:text -type -s:text -S -gnu", Ungrouped: true, InOrder: true,
					Operands: "read* ", Effects: "not_concurrent"},
				{Names: "cover", Options: "-func:read -mode:text -html:read!runs_code -o:write!writes", Ungrouped: true, InOrder: true, Operands: "",
					Effects: "not_concurrent reads_tree"},
				{Names: "pprof trace compile link asm cgo vet fix covdata dist buildid pack test2json preprofile doc api distpack", Raw: true, Effects: "writes runs_code",
					Judge: reason("compiles and runs code of the project")},
			}},
			projectCode("vet build test run generate fix"),
			{Names: "install", Raw: true, Effects: "writes runs_code", Judge: judgeGoInstall},
			{Names: "get", Raw: true, Effects: "writes reaches runs_code", Locks: "go.mod",
				Judge: reason("changes go.mod and downloads modules")},
			{Names: "fmt", Raw: true, Effects: "writes", Judge: reason("rewrites files")},
			{Names: "clean", Raw: true, Effects: "writes destroys", Judge: reason("removes files and caches")},
			{Names: "work telemetry bug", Raw: true, Effects: "writes", Judge: reason("changes settings")},
		}},
		{Names: "gofmt", Options: "-l -d -s -e -r:text -w!writes -cpuprofile:write", Ungrouped: true, InOrder: true,
			Operands: "format*", Judge: judgeGofmt},
		projectCode(`goimports gofumpt golangci-lint staticcheck gopls dlv gotestsum mage ginkgo air govulncheck protoc buf
			wire mockgen stringer`),
	}
}

const goListOptions = `-f:text -json?:text -m -u!writes,reaches -versions!writes,reaches -retracted!writes,reaches -e
	-find -deps -test -compiled!writes,runs_code -export!writes,runs_code -C:read -tags:text -mod:gomod -modfile:read
	-overlay:read -v -race -p:text -trimpath -buildvcs?:text`

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
