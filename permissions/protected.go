package permissions

import (
	"path/filepath"
	"slices"
	"strings"

	"toolhost/agenttool"
)

// Protected names are files that other programs run or obey: version control hooks and configuration, shell start-up
// files, configuration of editors and tools that runs code, toolhost's own settings. Writing one always asks, whatever
// rules and mode allow, and where nobody is asked it is denied.
var (
	protectedDirs = []string{
		".git", ".hg", ".svn", ".jj", ".toolhost", ".vscode", ".idea", ".zed", ".cursor", ".claude", ".codex", ".gemini",
		".husky", ".devcontainer", ".config", ".ssh", ".gnupg", ".github",
	}
	protectedFiles = []string{
		".gitconfig", ".gitmodules", ".gitattributes", ".envrc", ".bashrc", ".bash_profile", ".bash_login", ".bash_logout",
		".profile", ".zshrc", ".zshenv", ".zprofile", ".zlogin", ".kshrc", ".inputrc", ".npmrc", ".yarnrc", ".yarnrc.yml",
		".pypirc", ".netrc", ".mcp.json", "mcp.json", ".vimrc", ".exrc", ".nvimrc", ".emacs", ".dir-locals.el", ".gdbinit",
		".lldbinit", ".pre-commit-config.yaml", ".tool-versions", "mise.toml", ".mise.toml",
	}
)

// protectedWrite returns the first path that the call writes and that is protected, by its spelling or by where it
// leads. Names are compared without case, since some file systems do.
func protectedWrite(f *agenttool.Facts) (string, bool) {
	for _, p := range f.Writes {
		if isProtected(filepath.Clean(p.Absolute), p.Root) || isProtected(p.Resolved, p.Root) {
			return p.Spelling, true
		}
	}
	return "", false
}

// isProtected judges the components below root: that the workspace itself lies in a directory of such a name says
// nothing of what is in it.
func isProtected(path, root string) bool {
	if root != "" && agenttool.Within(root, path) {
		path = path[len(root):]
	}
	parts := strings.Split(strings.ToLower(path), "/")
	if slices.Contains(protectedFiles, parts[len(parts)-1]) {
		return true
	}
	return slices.ContainsFunc(parts, func(part string) bool { return slices.Contains(protectedDirs, part) })
}

// protect decides about a write to a protected path.
func (p Policy) protect(d agenttool.Decision, path string) agenttool.Decision {
	why := path + " is protected: other programs run or obey it"
	if p.Mode == DontAsk {
		return decide(d, agenttool.Deny, "safety_check", why+", and mode dont_ask denies what would ask").blocked(path)
	}
	return decide(d, agenttool.Ask, "safety_check", why+", so that no rule allows it").blocked(path)
}
