package ignore

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
)

// generator makes trees whose names and ignore patterns often meet.
type generator struct{ *rand.Rand }

func (g generator) pick(from ...string) string { return from[g.IntN(len(from))] }

func (g generator) one(in int) bool { return g.IntN(in) == 0 }

func (g generator) name() string {
	return g.pick("a", "b", "ab", "abc", "a.c", "b.c", "foo", "foo.o", "bar", ".x", "a b", "b ", "#c", "!d", "[e]",
		"a-b", "a*b", `a\b`, "é", "É", "7", "]", "A", "B.C", "Foo", "x.tar.gz", "a.b.c", "fOO.O", "a~", "\tx", "a\r", "_")
}

// house makes the files of a house: a repository and what a user has configured.
func (g generator) house() map[string]string {
	files := map[string]string{}
	dirs := []string{""}
	for range 8 {
		if d := g.pick(dirs...) + g.name() + "/"; !slices.Contains(dirs, d) {
			dirs = append(dirs, d)
		}
	}
	for _, d := range dirs {
		if g.one(3) || d == "" {
			files["top/"+d+".gitignore"] = g.ignoreFile()
		}
		if g.one(8) || d == "" {
			g.repository(files, "top/"+d)
		}
	}
	for range 40 {
		name := g.pick(dirs...) + g.name()
		if !slices.Contains(dirs, name+"/") {
			files["top/"+name] = "x"
		}
	}
	g.user(files)
	return files
}

// repository makes a directory a repository of its own, as git wants to see it.
func (g generator) repository(files map[string]string, dir string) {
	git := dir + ".git/"
	if g.one(4) { // a worktree, or a submodule
		away := "away" + strings.ReplaceAll(dir, "/", "-")
		up := strings.Repeat("../", strings.Count(dir, "/"))
		files[dir+".git"] = "gitdir: " + up + away + g.pick("\n", "", "\r\n")
		git = away + "/"
	}
	common := git
	if git != dir+".git/" && g.one(2) {
		files[git+"commondir"] = "../shared" + git[:len(git)-1] + "\n"
		common = "shared" + git
	}
	config := "[core]\n\trepositoryformatversion = 0\n\tbare = false\n"
	if g.one(3) {
		config += g.pick("\tignorecase = true\n", "[CORE]IgnoreCase\n",
			"[core] ignorecase = \"y\"es ; no\n", "ignoreCase=1k\n")
	}
	if g.one(8) {
		config += g.pick("\texcludesfile = .gitignore\n", "excludesFile =\n", "[include]\n\tpath = more\n",
			"excludesfile = \"in here\"\n")
		files[dir+"in here"] = g.ignoreFile()
		files[common+"more"] = "[core]\n" + g.pick("ignorecase", "excludesfile = ~/\\\nother # x\n")
	}
	if g.one(8) {
		config += "[extensions]\n\tworktreeConfig = " + g.pick("true", "false") + "\n"
		files[git+"config.worktree"] = "[core]\nignorecase = " + g.pick("true", "false") + "\n"
	}
	more := map[string]string{git + "HEAD": "ref: refs/heads/main\n", common + "objects/x": "", common + "refs/x": "",
		common + "config": config, common + "info/exclude": g.ignoreFile()}
	if common != git {
		more[common+"HEAD"] = "ref: refs/heads/main\n"
	}
	maps.Copy(files, more)
}

// user makes a user's own files.
func (g generator) user(files map[string]string) {
	files["home/other"], files["xdg/git/ignore"] = g.ignoreFile(), g.ignoreFile()
	files["home/x/y"] = g.ignoreFile()
	files["home/.gitconfig"] = g.pick("", "", "[core]\n\texcludesFile = ~/other\n",
		"[user]\n name = \"a # b\"\n[core]\nexcludesfile = \"~/x/y\"\n",
		"[core \"x\"]\n excludesfile = ~/other\n", "[include]\npath = x/more\n", "[include]\npath = ~/x/more\n[core]\nignorecase = off\n")
	files["home/x/more"] = "[core] excludesfile = ~/x/y\nignorecase = TRUE\n[include] path = more\\\n2\n"
	files["home/x/more2"] = g.pick("", "[core]excludesfile=~/other;x\n",
		"\ufeff# x\r\n[core \"a\\\"]\"]\r\n[core]\r\nignorecase=no\r\n")
	files["xdg/git/config"] = g.pick("", "[core]\nignorecase = 0x10\n", "[core]\nexcludesfile = \\\n  ~/x/y  \n")
}

func (g generator) ignoreFile() string {
	var b strings.Builder
	b.WriteString(g.pick("", "", "", "", "", "\ufeff"))
	for range 1 + g.IntN(6) {
		b.WriteString(g.pattern())
		b.WriteString(g.pick("\n", "\n", "\n", "\n", "\r\n", " \n", "\\ \n", "\t\n", "\x00b\n", "\r\r\n", "  \r\n"))
	}
	b.WriteString(g.pick("", "", "", "a", "*.c", "!*", strings.Repeat("long", 5000)))
	return b.String()
}

func (g generator) pattern() string {
	p := g.pick("", "", "", "!", "/", "**/", "!/", "#", `\`, "//", "!**/", "**/**/")
	for range 1 + g.IntN(3) {
		p += g.element() + g.pick("", "", "/", "/", "/**/", "*", "**", `\/`, "/*/")
	}
	return p + g.pick("", "", "", "/", "/*", "/**", "//", `\`, "***")
}

func (g generator) element() string {
	if g.one(2) {
		return g.name()
	}
	return g.pick("*", "**", "?", "a*", "*.c", "*b", "[ab]*", "[!a]", "[!ab]*", "[a-c]", "[]a]", "[^.]*", "[[:alpha:]]*",
		"[[:digit:]]", "[a", "[!", `\a`, `\*`, `\[e]`, "f??", "***", "[a/b]", "[[:x:]]", `[\]]`, "[a-]", ".*", `\A`, "[A]*",
		"[A-C]*", "[[:upper:]]*", "[[:lower:]]*", "*.O", "*.tar.gz", "*.gz", "*.b.c", "*~", "F*", "[Z-a]", `[\A-\C]`,
		"[[:space:]]*", "[[:punct:]]", "[^[:alnum:]]*", "[--a]", `\é`, "?\xa9", "[\xc3]*")
}
