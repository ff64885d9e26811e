package shell

import (
	"path/filepath"
	"strings"
)

// sayWhere makes bash write its final directory to descriptor 3, whatever the command is. The descriptor is moved to
// a high number that commands do not use; the command stays on its line, so that error messages have the right line
// number; and tracing does not show it. A command with its own EXIT trap reports nothing, and so does not change the
// session's directory.
const sayWhere = `exec 187>&3-; trap '{ set +x; builtin pwd -P >&187; } 2>/dev/null' EXIT; `

// endedIn parses the directory that bash reported at its end; "" if it reported none. Any process of the command
// could have written it. It is only used as the directory of the next command, and only if it lies in the workspace.
func endedIn(note string) string {
	dir, whole := strings.CutSuffix(note, "\n")
	if !whole || !filepath.IsAbs(dir) || filepath.Clean(dir) != dir {
		return ""
	}
	return dir
}
