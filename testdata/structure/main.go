// Structure prints how the product's code is built: its size, its largest types, structs and functions, and what it
// depends on. Tests, testdata and packages that only tests import (their names end in test) are left out.
//
//	go run ./testdata/structure [-v]
//
// -v lists the arrows that run up.
package main

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	verbose := flag.Bool("v", false, "list the arrows that run up")
	flag.Parse()
	s := survey{files: token.NewFileSet(), methods: map[string][]string{}, lines: map[string]int{}}
	if err := s.walk("."); err != nil {
		fmt.Fprintln(os.Stderr, "structure:", err)
		os.Exit(1)
	}
	if err := s.print(); err != nil {
		fmt.Fprintln(os.Stderr, "structure:", err)
		os.Exit(1)
	}
	if err := s.printArrows(*verbose); err != nil {
		fmt.Fprintln(os.Stderr, "structure:", err)
		os.Exit(1)
	}
	if s.beyond > 0 {
		fmt.Fprintf(os.Stderr, "structure: %d figures are beyond their bounds, marked with !\n", s.beyond)
		os.Exit(1)
	}
}

// The bounds, beyond which structure fails.
const (
	maxMethods     = 40 // of a type
	maxMethodFiles = 3  // that have methods of a type
	maxFields      = 20 // of a struct; nine in ten have at most 8
	maxFieldsP90   = 8
	maxFunction    = 70 // lines of a function; half of them have at most 10, nine in ten at most 24
	maxMedian      = 10
	maxP90         = 24
	maxProgram     = 4199 // lines of package main, whose commands only command
	maxDirect      = 15   // modules that go.mod requires directly
	maxUp          = 8    // of 100 arrows between files of a package may run up
)

// survey is what was counted.
type survey struct {
	files     *token.FileSet
	lines     map[string]int      // of code, by house
	program   int                 // lines of package main
	methods   map[string][]string // file of each method, by type
	structs   []sized
	functions []sized
	longest   []sized // files
	beyond    int     // figures that exceed their bounds
}

// over marks a figure that exceeds its bound, and counts it.
func (s *survey) over(exceeds bool) string {
	if !exceeds {
		return ""
	}
	s.beyond++
	return "  !"
}

// program is the directory of package main. All but flags, output and exit codes belongs below its internal.
const program = "cmd/toolhost"

// onLinux is the build whose methods are counted.
var onLinux = build.Context{GOOS: "linux", GOARCH: "amd64", CgoEnabled: true, Compiler: "gc"}

// sized is something and its size.
type sized struct {
	name string
	size int
}

// walk reads every file of the product below root.
func (s *survey) walk(root string) error {
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() && (name == "testdata" || path != root && strings.HasPrefix(name, ".") || strings.HasSuffix(name, "test")) {
			return fs.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		return s.read(path)
	})
}

func (s *survey) read(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	file, err := parser.ParseFile(s.files, path, text, 0)
	if err != nil {
		return err
	}
	lines := bytes.Count(text, []byte{'\n'})
	house, _, _ := strings.Cut(path, "/")
	s.lines[house] += lines
	if filepath.Dir(path) == program {
		s.program += lines
	}
	s.longest = append(s.longest, sized{path, lines})
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			s.function(path, n)
		case *ast.TypeSpec:
			if t, ok := n.Type.(*ast.StructType); ok {
				s.structs = append(s.structs, sized{filepath.Dir(path) + "." + n.Name.Name, t.Fields.NumFields()})
			}
		}
		return true
	})
	return nil
}

func (s *survey) function(path string, f *ast.FuncDecl) {
	name := filepath.Dir(path) + "." + f.Name.Name
	s.functions = append(s.functions, sized{name, s.files.Position(f.End()).Line - s.files.Position(f.Pos()).Line + 1})
	if built, err := onLinux.MatchFile(filepath.Split(path)); f.Recv == nil || err == nil && !built {
		return // twins for other systems are no further methods
	}
	t := f.Recv.List[0].Type
	if star, ok := t.(*ast.StarExpr); ok {
		t = star.X
	}
	if generic, ok := t.(*ast.IndexExpr); ok {
		t = generic.X
	}
	if id, ok := t.(*ast.Ident); ok {
		of := filepath.Dir(path) + "." + id.Name
		s.methods[of] = append(s.methods[of], path)
	}
}

func (s *survey) print() error {
	total := 0
	for _, house := range slices.Sorted(maps.Keys(s.lines)) {
		total += s.lines[house]
		fmt.Printf("%-24s %7d lines\n", house, s.lines[house])
	}
	direct, err := directDependencies()
	if err != nil {
		return err
	}
	fmt.Printf("%-24s %7d lines, %d files, %d direct dependencies%s\n", "all", total, len(s.longest), direct, s.over(direct > maxDirect))
	fmt.Printf("%-24s %7d lines%s\n", "package main", s.program, s.over(s.program > maxProgram))
	var types []sized
	files := map[string]int{}
	for of, paths := range s.methods {
		types = append(types, sized{of, len(paths)})
		files[of] = len(slices.Compact(slices.Sorted(slices.Values(paths))))
	}
	for _, t := range largest(types) {
		if t.size > maxMethods || files[t.name] > maxMethodFiles {
			fmt.Printf("%-24s %7d in %d files: %s%s\n", "methods of a type", t.size, files[t.name], t.name, s.over(true))
		}
	}
	for _, t := range largest(s.structs) {
		if t.size > maxFields {
			fmt.Printf("%-24s %7d: %s%s\n", "fields of a struct", t.size, t.name, s.over(true))
		}
	}
	largestType := largest(types)[0]
	fmt.Printf("%-24s largest %d in %d files: %s\n", "methods of a type", largestType.size, files[largestType.name], largestType.name)
	if _, p90, _ := distribution("fields of a struct", s.structs); p90 > maxFieldsP90 {
		fmt.Println("the structs have too many fields" + s.over(true))
	}
	median, p90, longest := distribution("lines of a function", s.functions)
	if mark := s.over(median > maxMedian || p90 > maxP90 || longest > maxFunction); mark != "" {
		fmt.Println("the functions are too long" + mark)
	}
	distribution("lines of a file", s.longest)
	return nil
}

// distribution prints and returns the median, the size that one in ten exceeds, and the largest.
func distribution(what string, all []sized) (median, p90, most int) {
	all = largest(all)
	median, p90, most = all[len(all)/2].size, all[len(all)/10].size, all[0].size
	fmt.Printf("%-24s median %3d, p90 %3d, largest %3d: %s\n", what, median, p90, most, all[0].name)
	return median, p90, most
}

func largest(all []sized) []sized {
	return slices.SortedFunc(slices.Values(all), func(a, b sized) int { return cmp.Or(b.size-a.size, cmp.Compare(a.name, b.name)) })
}

// directDependencies counts the modules that go.mod requires without the mark "indirect".
func directDependencies() (int, error) {
	text, err := os.ReadFile("go.mod")
	n := 0
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "\t") && strings.Contains(line, " v") && !strings.Contains(line, "// indirect") && !strings.HasPrefix(strings.TrimSpace(line), "ignore") {
			n++
		}
	}
	return n, err
}
