package search

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"toolhost/agenttool"
	"toolhost/tools/workspace"
)

// rootPath returns the path that an input names; an empty spelling is the workspace itself.
func rootPath(scope agenttool.Scope, spelling string) (agenttool.Path, error) {
	if spelling == "" && len(scope.Roots) > 0 {
		return agenttool.Path{Spelling: ".", Absolute: scope.Roots[0]}, nil
	}
	spelling = cmp.Or(spelling, ".")
	return workspace.Path(scope, spelling)
}

// readOnly returns the facts of a search.
func (s *selection) readOnly(scope agenttool.Scope) (agenttool.Facts, error) {
	reads, err := s.reads(scope)
	return agenttool.Facts{
		Verdicts: agenttool.Verdicts{ReadOnly: agenttool.Yes,
			ConcurrencySafe: agenttool.Yes,
			PathsComplete:   agenttool.Yes,
			Destructive:     agenttool.No,
			OpenWorld:       agenttool.No,
			Interactive:     agenttool.No,
			LongRunning:     agenttool.No,
			ObservesHost:    agenttool.No},
		Reads: reads,
	}, err
}

// openRoot opens a located search root: a directory, or a regular file. One of the two is not nil.
func openRoot(w *workspace.Workspace, root agenttool.Path) (*workspace.Dir, *os.File, error) {
	dir, err := w.OpenDir(root)
	if err == nil || !errors.Is(err, syscall.ENOTDIR) {
		return dir, nil, w.Suggest(root, err)
	}
	f, err := w.OpenFile(root)
	return nil, f, err
}

// openRootDir opens a located search root that has to be a directory.
func openRootDir(w *workspace.Workspace, root agenttool.Path) (*workspace.Dir, error) {
	dir, f, err := openRoot(w, root)
	if f != nil {
		f.Close()
		return nil, agenttool.Failure(agenttool.InvalidArguments, "not_a_directory",
			fmt.Sprintf(`%s is a file: "path" names the directory to list; read shows a file`, root.Spelling))
	}
	return dir, err
}

// naming spells paths for results: relative to the workspace root when they are inside it, else absolute.
type naming struct{ prefix string }

func newNaming(w *workspace.Workspace, root agenttool.Path) naming {
	roots := w.Roots()
	if len(roots) == 0 || !agenttool.Within(roots[0], root.Resolved) {
		return naming{w.Seen(root.Resolved)}
	}
	rel, err := filepath.Rel(roots[0], root.Resolved)
	if err != nil || rel == "." {
		rel = ""
	}
	return naming{rel}
}

// path returns the spelling of a path below the search root; "" is the root itself. A call that is given the spelling must mean that path:
// a directory of the name ~ is not the home directory.
func (n naming) path(below string) string {
	path := n.prefix + below
	if below != "" && n.prefix != "" && n.prefix != "/" {
		path = n.prefix + "/" + below
	}
	if path == "~" || strings.HasPrefix(path, "~/") || strings.HasPrefix(path, "file:") {
		return "./" + path
	}
	return path
}

// where returns a noun phrase for the searched place.
func (n naming) where() string {
	if n.prefix == "" {
		return "the workspace"
	}
	return agenttool.PrintPath(n.prefix)
}
