package program

import (
	"fmt"
	"go/ast"
	goparser "go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestWordSet: words at the beginning, at line ends and at the end are words; parts and neighbours are not.
func TestWordSet(t *testing.T) {
	set := WordSet("first second\n\tthird\r\n fourth  last")
	for _, word := range []string{"first", "second", "third", "fourth", "last"} {
		if !set[word] {
			t.Errorf("%q is missing", word)
		}
	}
	for _, word := range []string{"", " ", "fir", "first second", "second\n", "\n", "third\r"} {
		if set[word] {
			t.Errorf("%q is a word", word)
		}
	}
}

// TestWordsAtLineEnds: each word of a table is known, those before a line end too.
func TestWordsAtLineEnds(t *testing.T) {
	for _, option := range []string{"--debug-dump-disasm", "--raw-input", "--version", "--debug-trace"} {
		if _, use := Parse(Lookup("jq"), words("jq "+option+" .")); len(use.Effects) > 0 {
			t.Errorf("jq %s: %v", option, use.Reasons)
		}
	}
	for _, word := range []string{"geq", "leq", "close-wait", "all", "closing", "last-ack"} {
		if !ssPlain(word) {
			t.Errorf("ss: %s is taken for the name of a host", word)
		}
	}
	for word := range awkKeywords {
		if l := (awkLexer{last: awkToken{kind: awkWord, text: word}}); l.slash() != slashUnclear {
			t.Errorf("awk: %s is taken for a variable", word)
		}
	}
}

// textSearches are the calls in this package and in classify that search a text for one which is no constant, and why that is no
// table of words: the text is what a command line says, and what is searched for is one spelling.
var textSearches = []string{
	"classify/extract_text.go script: Contains(text, call)",
	"classify/parse.go splitsBytes: Index(rest[n:], beginning)",
	"classify/parse.go splitsBytes: Index(text, beginning)",
	"classify/listed.go withName: Contains(word.Text, placeholder)",
	"classify/program/archives.go repacked: Contains(name, p.program)",
	"classify/program/jq.go jqImports: Contains(filter.Text, word)",
	"classify/program/parse.go finish: Contains(strings.Fields(p.spec.Operands), \"sub?\")", // split at blanks of any kind
	"classify/program/files.go judgeFdCommand: Contains(w.Text, placeholder)",
	"classify/program/sed.go closeBracket: Index(text[i+2:], text[i+1:i+2]+\"]\")",
	"classify/program/shell.go OnlyBash: Contains(text, form)",
	"classify/program/tool.go signs: Contains(bare, sign)",
}

// TestNoTableIsSearchedAsText fails where a table of words is searched with strings.Contains and its like, which finds parts of words
// and misses those at line ends. It takes every search for a text that is no constant, or in a constant, for one.
func TestNoTableIsSearchedAsText(t *testing.T) {
	var found []string
	for _, dir := range []string{".", ".."} {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil || len(files) < 20 {
			t.Fatalf("%s: %d files, %v", dir, len(files), err)
		}
		for _, file := range files {
			if !strings.HasSuffix(file, "_test.go") {
				src, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				found = append(found, searchesIn(t, map[string]string{".": "classify/program/", "..": "classify/"}[dir]+filepath.Base(file), src)...)
			}
		}
	}
	slices.Sort(found)
	for _, search := range found {
		if !slices.Contains(textSearches, search) {
			t.Errorf("%s: use a WordSet, or name it in textSearches if it searches what a command line says", search)
		}
	}
	for _, search := range textSearches {
		if !slices.Contains(found, search) {
			t.Errorf("%s: there is no such search", search)
		}
	}
}

// TestTextSearchesAreFound: the test above would find a new one, in whatever form.
func TestTextSearchesAreFound(t *testing.T) {
	for _, call := range []string{
		`strings.Contains(list, " "+word+" ")`, `strings.Contains(" a b ", word)`, `strings.Index(list, word) >= 0`,
		`strings.Contains(list, word)`, `strings.Count(list, word) > 0`, `strings.LastIndex(" x y", w.Text) > 0`,
		`bytes.Contains([]byte(list), []byte(word))`, `regexp.MustCompile("a|b").MatchString(word)`, `slices.Contains(strings.Fields(list), word)`,
	} {
		src := "package x\nfunc f(list, word string) bool { return " + call + " }\n"
		if len(searchesIn(t, "x.go", []byte(src))) != 1 {
			t.Errorf("%s is not found", call)
		}
	}
	for _, call := range []string{`strings.Contains(word, "=")`, `strings.Contains(word, agenttool.Unread)`, `set[word]`, `strings.Contains(text, "a"+"b")`} {
		src := "package x\nfunc f(list, word string) bool { return " + call + " }\n"
		if found := searchesIn(t, "x.go", []byte(src)); len(found) > 0 {
			t.Errorf("%s is taken for a table", found)
		}
	}
}

// searchesIn returns the suspicious searches of one source file.
func searchesIn(t *testing.T, name string, src []byte) []string {
	t.Helper()
	tree, err := goparser.ParseFile(token.NewFileSet(), name, src, 0)
	if err != nil {
		t.Fatal(err)
	}
	source := func(n ast.Node) string { return string(src[n.Pos()-tree.FileStart : n.End()-tree.FileStart]) }
	var found []string
	for _, decl := range tree.Decls {
		within := "a variable"
		if f, ok := decl.(*ast.FuncDecl); ok {
			within = f.Name.Name
		}
		ast.Inspect(decl, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) == 0 {
				return true
			}
			if s, ok := call.Fun.(*ast.SelectorExpr); ok && suspicious(source(s.X), s.Sel.Name, call.Args, source) {
				found = append(found, fmt.Sprintf("%s %s: %s(%s)", name, within, s.Sel.Name, argList(call.Args, source)))
			}
			return true
		})
	}
	return found
}

func argList(args []ast.Expr, source func(ast.Node) string) string {
	var list []string
	for _, a := range args {
		list = append(list, source(a))
	}
	return strings.Join(list, ", ")
}

// suspicious reports whether a call may look for a word in a text that holds several.
func suspicious(of, name string, args []ast.Expr, source func(ast.Node) string) bool {
	switch {
	case of == "regexp":
		return true
	case of == "slices" && name == "Contains":
		split, ok := args[0].(*ast.CallExpr)
		return ok && strings.HasPrefix(source(split.Fun), "strings.Fields")
	case of != "strings" && of != "bytes" || len(args) != 2:
		return false
	case name != "Contains" && name != "Index" && name != "LastIndex" && name != "Count":
		return false
	}
	return constant(args[0]) || !constant(args[1])
}

// constant reports whether an expression is a constant text: literals, or a name of another package.
func constant(x ast.Expr) bool {
	switch x := x.(type) {
	case *ast.BasicLit:
		return true
	case *ast.BinaryExpr:
		return constant(x.X) && constant(x.Y)
	case *ast.SelectorExpr:
		pkg, ok := x.X.(*ast.Ident)
		return ok && pkg.Name == "agenttool"
	}
	return false
}
