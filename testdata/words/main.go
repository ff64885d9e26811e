// Words counts, per 1,000 lines of comments and messages of the product, turns of phrase that are hard to read.
// It prints the same figures for five packages that are known for plain English.
//
//	go run ./testdata/words [-list] [-max N] [DIRECTORY...]
//
// Given directories, it counts in those alone. With -list it prints each place. With -max it fails where a figure of the
// product is above N.
package main

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// pattern is one turn of phrase.
type pattern struct {
	name string
	find *regexp.Regexp
}

var patterns = []pattern{
	// "What is not there the shell does not find", "a copy of what is written", "for who waits".
	{"free relatives", regexp.MustCompile(`(?:^|[.;:] |, and |, or |, but )(?:What|Who|what|who|Whatever|whatever)\b|` +
		`\b(?:of|to|from|with|by|for|on|in|at|than|as|like|and|or|but|beside|before|after|over|into|near|below|above|is|are|was|be|that|` +
		`only|even|not|all|also|where|against|except|besides|reads|holds|keeps|takes|gives|writes|has|have|had|removes|sets|puts|makes|` +
		`runs|finds|does|do|counts|returns|ends|starts|sends|leaves|allows|changes) (?:what|who|whatever)\b`)},
	// "the told", "what is said", "is gone".
	{"participles as nouns", regexp.MustCompile(`\b(?:(?:is|are|was|be|were|been|being|and|or|not|only|also) (?:told|said|asked|gone)|` +
		`(?:the|a|an|its|what|all|each|every|no|any|of|in|as) (?:told|said|kept|held|gone|shown|asked))\b`)},
	{"nobody, whoever", regexp.MustCompile(`(?i)\b(?:nobody|somebody|anybody|everybody|whoever|no one|someone)\b`)},
	{"of which", regexp.MustCompile(`\b(?:of|by|to|in|from|with|on|for|at) which\b`)},
}

// count is what one directory holds.
type count struct {
	lines int
	hits  [4]int
}

func main() {
	list := flag.Bool("list", false, "print each place")
	most := flag.Float64("max", 0, "fail above `N` in 1,000 lines")
	flag.Parse()
	if flag.NArg() > 0 {
		for _, dir := range flag.Args() {
			survey(dir, *list).print(dir)
		}
		return
	}
	product := survey(".", *list)
	fmt.Printf("%-38s %7s", "per 1,000 lines", "lines")
	for _, p := range patterns {
		fmt.Printf("  %s", p.name)
	}
	fmt.Println()
	product.print("toolhost")
	for name, dir := range anchors() {
		survey(dir, false).print(name)
	}
	for i, p := range patterns {
		if rate := product.rate(i); *most > 0 && rate > *most {
			fmt.Fprintf(os.Stderr, "words: %.1f %s in 1,000 lines, at most %g: go run ./testdata/words -list . shows them\n", rate, p.name, *most)
			os.Exit(1)
		}
	}
}

func (c count) rate(i int) float64 { return 1000 * float64(c.hits[i]) / float64(max(c.lines, 1)) }

func (c count) print(name string) {
	fmt.Printf("%-38s %7d", name, c.lines)
	for i, p := range patterns {
		fmt.Printf("  %*.1f", len(p.name), c.rate(i))
	}
	fmt.Println()
}

// anchors yields the packages that the product is compared with, as far as this machine has them.
func anchors() iter.Seq2[string, string] {
	return func(yield func(name, dir string) bool) {
		for _, args := range [][]string{
			{"os"}, {"net/http"},
			{"-m", "mvdan.cc/sh/v3"}, {"-m", "github.com/landlock-lsm/go-landlock"}, {"-m", "github.com/modelcontextprotocol/go-sdk"},
		} {
			out, err := exec.Command("go", append([]string{"list", "-f", "{{.Dir}}"}, args...)...).Output()
			if dir := strings.TrimSpace(string(out)); err == nil && dir != "" && !yield(args[len(args)-1], dir) {
				return
			}
		}
	}
}

// survey counts in every file below dir but tests, testdata and packages for tests.
func survey(dir string, list bool) count {
	var c count
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() && path != dir && (name == "testdata" || strings.HasPrefix(name, ".") || strings.HasSuffix(name, "test")) {
			return fs.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		return c.file(path, list)
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, "words:", err)
		os.Exit(1)
	}
	return c
}

func (c *count) file(path string, list bool) error {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, nil, parser.ParseComments)
	if err != nil {
		return err
	}
	for _, group := range file.Comments {
		for _, comment := range group.List {
			c.lines += 1 + strings.Count(comment.Text, "\n")
		}
		c.text(files.Position(group.Pos()), group.Text(), list)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		lit, ok := n.(*ast.BasicLit)
		if !ok || lit.Kind != token.STRING {
			return true
		}
		if text, err := strconv.Unquote(lit.Value); err == nil && len(strings.Fields(text)) >= 4 {
			c.lines += 1 + strings.Count(text, "\n")
			c.text(files.Position(lit.Pos()), text, list)
		}
		return true
	})
	return nil
}

// text counts in one comment or message. A phrase may cross the end of a line; a question is none.
func (c *count) text(at token.Position, text string, list bool) {
	for paragraph := range strings.SplitSeq(text, "\n\n") {
		words := strings.Join(strings.Fields(paragraph), " ")
		for i, p := range patterns {
			for _, m := range p.find.FindAllStringIndex(words, -1) {
				sentence, _, _ := strings.Cut(words[m[1]:], ". ")
				if strings.HasSuffix(sentence, "?") {
					continue
				}
				c.hits[i]++
				if list {
					fmt.Printf("%s:%d: %s: %s\n", at.Filename, at.Line, p.name, words[max(0, m[0]-40):min(len(words), m[1]+40)])
				}
			}
		}
	}
}
