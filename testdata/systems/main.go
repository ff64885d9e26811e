// Systems checks that the product builds on other systems: it reads the source files that the go command would compile there, down to the
// standard library, and checks their types. That finds all faults that a build finds but those of the assembler and the linker, and generates no code,
// which takes a tenth of the time where nothing is cached.
//
//	go run ./testdata/systems linux/arm64
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

func main() {
	for _, name := range os.Args[1:] {
		packages, err := check(name)
		if err != nil {
			fmt.Fprintf(os.Stderr, "systems: %s: %v\n", name, err)
			os.Exit(1)
		}
		fmt.Printf("%s: %d packages\n", name, packages)
	}
}

// listed is what the go command says of a package.
type listed struct {
	ImportPath, Dir string
	GoFiles         []string
	ImportMap       map[string]string
	Module          *struct {
		Main      bool
		GoVersion string
	}
	Error *struct{ Err string }
}

// check checks all packages of the product for a system, such as linux/arm64, and returns how many packages that were, with those that they
// import. The go command lists each after those that it imports.
func check(name string) (int, error) {
	system, arch, _ := strings.Cut(name, "/")
	list := exec.Command("go", "list", "-deps", "-json=ImportPath,Dir,GoFiles,ImportMap,Module,Error", "./...")
	list.Env = append(os.Environ(), "GOOS="+system, "GOARCH="+arch, "CGO_ENABLED=0")
	list.Stderr = os.Stderr
	out, err := list.StdoutPipe()
	if err != nil {
		return 0, err
	}
	if err := list.Start(); err != nil {
		return 0, err
	}
	c := checker{files: token.NewFileSet(), done: map[string]*types.Package{"unsafe": types.Unsafe}, arch: arch}
	err = c.all(json.NewDecoder(out))
	return len(c.done), errors.Join(err, list.Wait())
}

type checker struct {
	files *token.FileSet
	done  map[string]*types.Package
	arch  string
}

func (c *checker) all(packages *json.Decoder) error {
	var problems []error
	for {
		var p listed
		switch err := packages.Decode(&p); {
		case err == io.EOF:
			return errors.Join(problems...)
		case err != nil:
			return err
		case p.Error != nil:
			problems = append(problems, errors.New(p.Error.Err))
		case c.done[p.ImportPath] == nil:
			problems = append(problems, c.one(p))
		}
	}
}

// one checks a package. Of those of other modules it takes the declarations.
func (c *checker) one(p listed) error {
	own := p.Module != nil && p.Module.Main
	var files []*ast.File
	for _, name := range p.GoFiles {
		file, err := parser.ParseFile(c.files, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		files = append(files, file)
	}
	var problems []error
	config := types.Config{Importer: imports{c, p.ImportMap}, Sizes: types.SizesFor("gc", c.arch), IgnoreFuncBodies: !own,
		Error: func(err error) { problems = append(problems, err) }}
	if p.Module != nil && p.Module.GoVersion != "" {
		config.GoVersion = "go" + p.Module.GoVersion
	}
	c.done[p.ImportPath], _ = config.Check(p.ImportPath, c.files, files, nil) // its error is among the problems
	return errors.Join(problems...)
}

// imports finds the packages that a package imports.
type imports struct {
	*checker
	names map[string]string // by which the go command knows some of them
}

func (i imports) Import(path string) (*types.Package, error) {
	if name := i.names[path]; name != "" {
		path = name
	}
	if p := i.done[path]; p != nil {
		return p, nil
	}
	return nil, fmt.Errorf("%s is not listed", path)
}
