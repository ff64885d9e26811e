package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// listed is what the go command says about a package.
type listed struct {
	Dir        string
	ImportPath string
	Export     string // file of its export data
	GoFiles    []string
	Module     *struct{ Main bool }
}

// house is the files of one package, each with the files whose names it uses.
type house struct {
	dir  string
	uses map[string]map[string]bool
}

// list asks the go command for all packages of the module and those that they import.
func list() ([]listed, error) {
	out, err := exec.Command("go", "list", "-export", "-deps", "-json=Dir,ImportPath,Export,GoFiles,Module", "./...").Output()
	if err != nil {
		if failed := (*exec.ExitError)(nil); errors.As(err, &failed) {
			err = fmt.Errorf("go list: %s", failed.Stderr)
		}
		return nil, err
	}
	var all []listed
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := d.Decode(&p); err == io.EOF {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
}

// houses reads which file uses a function, method, type, variable or constant of which other file of its package.
func houses() ([]house, error) {
	all, err := list()
	if err != nil {
		return nil, err
	}
	exports := map[string]string{}
	for _, p := range all {
		exports[p.ImportPath] = p.Export
	}
	files := token.NewFileSet()
	imports := importer.ForCompiler(files, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	var found []house
	for _, p := range all {
		if p.Module == nil || !p.Module.Main || strings.HasSuffix(p.ImportPath, "test") {
			continue
		}
		h, err := p.read(files, imports)
		if err != nil {
			return nil, err
		}
		found = append(found, h)
	}
	return found, nil
}

// read checks the types of a package, and with them whose names each file uses.
func (p listed) read(files *token.FileSet, imports types.Importer) (house, error) {
	dir, err := relative(p.Dir)
	if err != nil {
		return house{}, err
	}
	h := house{dir: dir, uses: map[string]map[string]bool{}}
	var parsed []*ast.File
	for _, name := range p.GoFiles {
		file, err := parser.ParseFile(files, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return house{}, err
		}
		parsed = append(parsed, file)
		h.uses[name] = map[string]bool{}
	}
	info := types.Info{Uses: map[*ast.Ident]types.Object{}}
	check := types.Config{Importer: imports}
	pkg, err := check.Check(p.ImportPath, files, parsed, &info)
	if err != nil {
		return house{}, err
	}
	for at, object := range info.Uses {
		if object.Pkg() == pkg && declares(pkg, object) {
			h.add(files.Position(at.Pos()).Filename, files.Position(object.Pos()).Filename)
		}
	}
	return h, nil
}

// declares reports whether the object is a declaration of the package itself: no field, parameter or local variable.
func declares(pkg *types.Package, object types.Object) bool {
	if f, ok := object.(*types.Func); ok && f.Signature().Recv() != nil {
		return true
	}
	return object.Parent() == pkg.Scope()
}

func (h house) add(from, to string) {
	if from, to = filepath.Base(from), filepath.Base(to); from != to {
		h.uses[from][to] = true
	}
}

func relative(dir string) (string, error) {
	here, err := os.Getwd()
	if err != nil {
		return "", err
	}
	return filepath.Rel(here, dir)
}

// arrow says that a file uses a name of another.
type arrow struct{ from, to string }

// arrows counts them, and lists those that run up: from a file to one on a higher floor.
func (h house) arrows() (all int, up []arrow) {
	floors := h.floors()
	for i, from := range floors {
		all += len(h.uses[from])
		for _, to := range floors[i+1:] {
			if h.uses[from][to] {
				up = append(up, arrow{from, to})
			}
		}
	}
	return all, up
}

// floors orders the files, from the ground up, so that a file stands above the files that it uses. Files that use each other in a circle
// cannot all do so. The next floor is that of the file that uses the fewest files without one: among equals the one that most of them use,
// then the first by name. In the end each file moves to where the fewest arrows run up, as long as that is fewer than before.
func (h house) floors() []string {
	rest := slices.Sorted(maps.Keys(h.uses))
	var order []string
	for len(rest) > 0 {
		lowest := slices.MinFunc(rest, func(a, b string) int {
			return cmp.Or(h.below(a, rest)-h.below(b, rest), h.above(b, rest)-h.above(a, rest))
		})
		order = append(order, lowest)
		rest = slices.DeleteFunc(rest, func(file string) bool { return file == lowest })
	}
	for moved := true; moved; {
		moved = false
		for _, file := range slices.Clone(order) {
			moved = h.sift(order, file) || moved
		}
	}
	return order
}

// below is how many of the others a file uses, above how many of them use it.
func (h house) below(file string, others []string) (n int) {
	for _, other := range others {
		if h.uses[file][other] {
			n++
		}
	}
	return n
}

func (h house) above(file string, others []string) (n int) {
	for _, other := range others {
		if h.uses[other][file] {
			n++
		}
	}
	return n
}

// sift moves a file within the order to where the fewest arrows from and to it run up. It reports whether they are fewer than before.
func (h house) sift(order []string, file string) bool {
	was := slices.Index(order, file)
	rest := slices.Delete(slices.Clone(order), was, was+1)
	best := was
	for at := range order {
		if h.against(file, rest, at) < h.against(file, rest, best) {
			best = at
		}
	}
	copy(order, slices.Insert(rest, best, file))
	return best != was
}

// against is how many arrows from and to a file run up if it stands at a place among the rest.
func (h house) against(file string, rest []string, at int) int {
	return h.above(file, rest[:at]) + h.below(file, rest[at:])
}

// printArrows prints how many arrows between files of one package run up, and in which packages most do.
func (s *survey) printArrows(verbose bool) error {
	all, err := houses()
	if err != nil {
		return err
	}
	var most []sized
	arrows, up := 0, 0
	for _, h := range all {
		n, against := h.arrows()
		arrows += n
		up += len(against)
		most = append(most, sized{h.dir, len(against)})
		for _, a := range against {
			if verbose {
				fmt.Printf("%-24s %s/%s uses %s\n", "arrow up", h.dir, a.from, a.to)
			}
		}
	}
	var worst []string
	for _, h := range largest(most)[:5] {
		worst = append(worst, fmt.Sprintf("%s %d", h.name, h.size))
	}
	fmt.Printf("%-24s %d of %d between files of a package (%.1f%%): %s%s\n",
		"arrows up", up, arrows, 100*float64(up)/float64(arrows), strings.Join(worst, ", "), s.over(100*up > maxUp*arrows))
	return nil
}
