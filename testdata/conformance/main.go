// Conformance builds CONFORMANCE.md from a test run. It runs the tests that call conform.Held and lists each row of rows.tsv with
// the tests that assert it and passed. A row without one reads "not done" or "not applicable", with the reason from rows.tsv.
//
//	go run ./testdata/conformance                   runs the tests and writes CONFORMANCE.md
//	go run ./testdata/conformance -from run.json    takes the output of go test -json instead
//	go run ./testdata/conformance -list             lists rows and tests without running them
package main

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"toolhost/testdata/support/conform"
)

const (
	rowsFile = "testdata/conformance/rows.tsv"
	table    = "CONFORMANCE.md"
)

func main() {
	from := flag.String("from", "", "file with the output of go test -json; empty: run the tests")
	list := flag.Bool("list", false, "list the rows that tests name, and run nothing")
	flag.Parse()
	if err := run(*from, *list); err != nil {
		fmt.Fprintln(os.Stderr, "conformance:", err)
		os.Exit(1)
	}
}

func run(from string, list bool) error {
	rows, err := readRows()
	if err != nil {
		return err
	}
	named, err := namedRows(".")
	if err != nil {
		return err
	}
	if unknown := unknownRows(rows, named); len(unknown) > 0 {
		return fmt.Errorf("tests name rows that are not in %s: %s", rowsFile, strings.Join(unknown, ", "))
	}
	if list {
		for _, t := range named {
			fmt.Printf("%s %s: %s\n", t.pkg, t.name, strings.Join(t.rows, " "))
		}
		return nil
	}
	held := map[string][]string{}
	if from != "" {
		f, err := os.Open(from)
		if err != nil {
			return err
		}
		defer f.Close()
		err = collect(f, held)
		if err != nil {
			return err
		}
	} else if err := runTests(named, held); err != nil {
		return err
	}
	return os.WriteFile(table, document(rows, held), 0o644)
}

// row is a row of the table.
type row struct{ id, section, requirement, why string }

func (r row) notApplicable() bool { return strings.HasPrefix(r.why, "not applicable: ") }

func readRows() (rows []row, err error) {
	b, err := os.ReadFile(rowsFile)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(b)) {
		cells := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if strings.HasPrefix(line, "#") || len(cells) != 4 {
			continue
		}
		r := row{cells[0], cells[1], cells[2], cells[3]}
		if r.why != "" && !r.notApplicable() && !strings.HasPrefix(r.why, "not done: ") {
			return nil, fmt.Errorf("%s: %s: the reason begins with neither \"not applicable: \" nor \"not done: \"", rowsFile, r.id)
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// namedTest is a test function and the rows that its source names.
type namedTest struct {
	pkg, name string
	rows      []string
}

// namedRows finds the calls of conform.Held below dir.
func namedRows(dir string) (tests []namedTest, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, decl := range file.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			if rows := heldIn(f); len(rows) > 0 {
				tests = append(tests, namedTest{"./" + filepath.ToSlash(filepath.Dir(path)), f.Name.Name, rows})
			}
		}
		return nil
	})
	return tests, err
}

// heldIn returns the rows that a function names.
func heldIn(f *ast.FuncDecl) (rows []string) {
	ast.Inspect(f, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		if s, ok := call.Fun.(*ast.SelectorExpr); !ok || s.Sel.Name != "Held" || len(call.Args) < 2 {
			return true
		}
		for _, arg := range call.Args[1:] {
			if lit, ok := arg.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				id, _ := strconv.Unquote(lit.Value)
				rows = append(rows, id)
			}
		}
		return true
	})
	return rows
}

func unknownRows(rows []row, named []namedTest) (unknown []string) {
	for _, t := range named {
		for _, id := range t.rows {
			if !slices.ContainsFunc(rows, func(r row) bool { return r.id == id }) {
				unknown = append(unknown, t.name+" "+id)
			}
		}
	}
	return unknown
}

// runTests runs the named tests, package by package, and collects the rows that they hold. Helpers, whose names do not begin with
// Test, have all tests of their package run.
func runTests(named []namedTest, held map[string][]string) error {
	byPackage := map[string][]string{}
	for _, t := range named {
		name := "^" + t.name + "$"
		if !strings.HasPrefix(t.name, "Test") {
			name = "."
		}
		byPackage[t.pkg] = append(byPackage[t.pkg], name)
	}
	for _, pkg := range slices.Sorted(maps.Keys(byPackage)) {
		fmt.Fprintf(os.Stderr, "%s: %d tests\n", pkg, len(byPackage[pkg]))
		cmd := exec.Command("go", "test", "-json", "-count=1", "-run", strings.Join(byPackage[pkg], "|"), pkg)
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		var failed *exec.ExitError
		if err != nil && !errors.As(err, &failed) { // tests that failed hold nothing
			return err
		}
		if err := collect(bytes.NewReader(out), held); err != nil {
			return err
		}
	}
	return nil
}

// event is a line of go test -json.
type event struct{ Action, Package, Test, Key, Value string }

// collect adds the rows that passed tests hold, and reports on stderr those that did not pass.
func collect(r io.Reader, held map[string][]string) error {
	open := map[string][]string{}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var e event
		if json.Unmarshal(lines.Bytes(), &e) != nil {
			continue // the compiler's words
		}
		test := strings.TrimPrefix(e.Package, "toolhost/") + " " + e.Test
		switch {
		case e.Action == "attr" && e.Key == conform.Key:
			open[test] = append(open[test], e.Value)
		case e.Test != "" && e.Action == "pass":
			for _, id := range open[test] {
				if !slices.Contains(held[id], test) {
					held[id] = append(held[id], test)
				}
			}
		case e.Test != "" && (e.Action == "fail" || e.Action == "skip") && len(open[test]) > 0:
			fmt.Fprintf(os.Stderr, "%s: %s; it does not hold %s\n", test, e.Action, strings.Join(open[test], " "))
		}
	}
	return lines.Err()
}

// document is CONFORMANCE.md.
func document(rows []row, held map[string][]string) []byte {
	var b bytes.Buffer
	b.WriteString("# Conformance\n\n<!-- go run ./testdata/conformance builds this file from a test run. -->\n\n" +
		"Each row of the standards that toolhost implements, and the tests that assert it. A row is held only if one of its tests passed in the run\n" +
		"that built this page: `go run ./testdata/conformance`. AT is Agent Tool v0.2.0, X a place where its text and its schemas differ, RAP the Reactive\n" +
		"Agent Protocol, ATS the Agent Tool Interop Spec, MCP the Model Context Protocol.\n\n")
	b.WriteString("| standard | rows | held | not applicable | not done |\n|---|---|---|---|---|\n")
	for _, name := range []string{"AT", "X", "RAP", "ATS", "MCP"} {
		n := [4]int{}
		for _, r := range rows {
			if strings.TrimRight(r.id, "-0123456789") == name {
				n[0]++
				n[state(r, held)]++
			}
		}
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d |\n", name, n[0], n[1], n[2], n[3])
	}
	section := ""
	for _, r := range rows {
		if r.section != section {
			section = r.section
			fmt.Fprintf(&b, "\n## %s\n\n| row | requirement | held by |\n|---|---|---|\n", section)
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", r.id, r.requirement, [...]string{1: tests(held[r.id]), 2: r.why, 3: cmp.Or(r.why, "not done")}[state(r, held)])
	}
	return b.Bytes()
}

// state is 1 for a held row, 2 for one that is not applicable, and 3 for one that is not done.
func state(r row, held map[string][]string) int {
	switch {
	case len(held[r.id]) > 0:
		return 1
	case r.notApplicable():
		return 2
	}
	return 3
}

// tests names at most three tests.
func tests(names []string) string {
	slices.SortFunc(names, cmp.Compare)
	var shown []string
	for _, name := range names[:min(len(names), 3)] {
		pkg, test, _ := strings.Cut(name, " ")
		shown = append(shown, pkg+": "+test)
	}
	return strings.Join(shown, ", ")
}
