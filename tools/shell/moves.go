package shell

import (
	"path/filepath"
	"slices"
	"strings"

	"toolhost/agenttool"
)

// sayWhere has bash say on descriptor 3 in which directory it ends, whatever the command is. The descriptor is moved out of
// the way of commands that use small ones; the command stays on its line, so that messages name the right one; and nothing is
// traced. A command with an EXIT trap of its own says nothing, and so moves nothing.
const sayWhere = `exec 187>&3-; trap '{ set +x; builtin pwd -P >&187; } 2>/dev/null' EXIT; `

// moves reports whether the command may end in another directory than it starts in, and somebody waits for that.
func (c *call) moves() bool {
	return !c.input.RunInBackground && slices.ContainsFunc(c.programs, func(name string) bool {
		return name == "cd" || name == "pushd" || name == "popd"
	})
}

// Moves implements agenttool.Mover.
func (t *tool) Moves(c agenttool.Call) bool {
	command, ok := c.(*call)
	return ok && command.moves()
}

// endedIn reads what bash said of the directory in which it ended; "" if it did not. Anything that the command started could
// have said it: it is where the next command starts, if that is in the workspace, and no more.
func endedIn(note string) string {
	dir, whole := strings.CutSuffix(note, "\n")
	if !whole || strings.ContainsRune(dir, '\n') || !filepath.IsAbs(dir) || filepath.Clean(dir) != dir {
		return ""
	}
	return dir
}
