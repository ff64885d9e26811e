package session

import (
	"fmt"
	"slices"

	"toolhost/agenttool"
	"toolhost/agenttool/visible"
	"toolhost/cmd/toolhost/internal/dirs"
)

// homeIn returns the person's home if the workspace is or holds one.
func homeIn(root string) (home string, found bool) {
	i := slices.IndexFunc(dirs.Homes(), func(home string) bool { return home != "/" && agenttool.Within(root, home) })
	if i < 0 {
		return "", false
	}
	return dirs.Homes()[i], true
}

// homeError refuses a workspace that is or holds a home.
func homeError(root, home string) error {
	return fmt.Errorf("the workspace would be %s, which %s: start toolhost in the directory of a project or name one with --workspace DIR. "+
		"To have calls work on all of it, say so with --workspace %s", visible.Text(root), relation(root, home), visible.Text(root))
}

// relation says how a workspace is related to a home in it.
func relation(root, home string) string {
	if root == home {
		return "is your home directory"
	}
	return "holds your home directory " + visible.Text(home)
}

// homeWarning says what is protected in a workspace that is or holds the person's home; "" for another.
func homeWarning(root string) string {
	home, found := homeIn(root)
	if !found {
		return ""
	}
	return "the workspace " + visible.Text(root) + " " + relation(root, home) + ". Calls can change the files in it, unasked where rules or the mode allow it. " +
		"No call writes without asking: start-up files of shells, directories of programs (~/bin, ~/.local/bin, ~/go/bin), tool chains and their scripts (~/.cargo, ~/.nvm, ~/.pyenv, …), " +
		"user services and autostart, modules that interpreters load (*.pth in ~/.local/lib), configuration of editors, agents and git, keys and credentials"
}
