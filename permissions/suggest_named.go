package permissions

import (
	"path/filepath"
	"slices"
	"strings"

	"toolhost/agenttool"
)

// runsNamed returns how many words of a command that runs another one say, by its name, which one: npx PACKAGE, python3 -m MODULE,
// source VENV/bin/activate; 0 if they do not say it, or if it could be any program.
func runsNamed(argv []string) int {
	if len(argv) < 2 {
		return 0
	}
	switch argv[0] {
	case "npx":
		n := 1
		for n < len(argv) && slices.Contains([]string{"-y", "--yes", "--no", "--no-install"}, argv[n]) {
			n++
		}
		if n < len(argv) && argv[n] != "" && !strings.HasPrefix(argv[n], "-") && !slices.Contains(neverSuggested, packageName(argv[n])) && !slices.Contains(runAnything, packageName(argv[n])) {
			return n + 1
		}
	case "source", ".":
		if path := argv[1]; len(argv) == 2 && strings.HasSuffix(path, "/bin/activate") && filepath.IsLocal(path) {
			return 2
		}
	case "python", "python3":
		if len(argv) > 2 && argv[1] == "-m" && slices.Contains(modules, argv[2]) {
			return 3
		}
	}
	return 0
}

// packageName is the last name of a package, without its version: tool of @scope/tool@1.2.
func packageName(spec string) string {
	name := filepath.Base(spec)
	if at := strings.LastIndexByte(name, '@'); at > 0 {
		name = name[:at]
	}
	return name
}

// modules are those that test, check or format the project, and run nothing else.
var modules = []string{"unittest", "pytest", "mypy", "ruff", "black", "flake8", "isort", "pylint", "doctest", "compileall", "py_compile"}

// beforeLines returns how many words stand before a commit's message of several lines, which no later commit has; 0 for any other
// command.
func beforeLines(argv []string) int {
	if len(argv) < 4 || argv[0] != "git" || argv[1] != "commit" {
		return 0
	}
	n := slices.IndexFunc(argv, func(w string) bool { return strings.Contains(w, "\n") })
	if n > 2 && slices.Contains([]string{"-m", "--message", "-am"}, argv[n-1]) {
		return n
	}
	return 0
}

// wholeDirs returns the rules with the directory of each file outside that is read, where that is no large part of the machine, and
// whether there is one.
func (s suggester) wholeDirs(exact []string) (rules []string, wider bool) {
	rules = slices.Clone(exact)
	for _, path := range s.r.Facts.Reads {
		at := slices.Index(rules, "Read("+s.spell(path)+")")
		if dir := filepath.Dir(leadsTo(path)); at >= 0 && !path.Names && leadsTo(path) == filepath.Clean(path.Absolute) && s.narrow(dir) {
			rules[at], wider = "Read("+escapeGlob(dir)+"/**)", true
		}
	}
	var once []string
	for _, rule := range rules {
		if !slices.Contains(once, rule) {
			once = append(once, rule)
		}
	}
	return once, wider
}

// narrow reports whether a directory outside may be offered as a whole: it is not a top of the machine, a home, or hidden, and the
// workspace does not lie in it.
func (s suggester) narrow(dir string) bool {
	names := strings.Split(strings.TrimPrefix(dir, "/"), "/")
	least := 2
	if slices.Contains([]string{"home", "Users", "mnt", "media", "run", "proc", "sys", "dev"}, names[0]) {
		least = 3
	}
	hidden := slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(name, ".") })
	if len(names) < least || hidden || agenttool.Within(dir, s.p.Workspace) {
		return false
	}
	return s.p.Guarded == nil || !s.p.Guarded(filepath.Join(dir, ".bashrc")) // where that is guarded is a home
}
