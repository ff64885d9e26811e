package permissions

import "testing"

// TestProtectedNames holds what has always asked: directories with all below them at any depth, files by their name.
func TestProtectedNames(t *testing.T) {
	for _, dir := range []string{
		".git", ".hg", ".svn", ".jj", ".toolhost", ".vscode", ".idea", ".zed", ".cursor", ".claude", ".codex", ".gemini",
		".husky", ".devcontainer", ".config", ".ssh", ".gnupg", ".github",
	} {
		for _, path := range []string{"/ws/" + dir, "/ws/a/" + dir + "/b/c", "/elsewhere/" + dir + "/x"} {
			if !(Policy{}).at(Request{}).isProtected(path, "/ws") {
				t.Errorf("%s is not protected", path)
			}
		}
		if (Policy{}).at(Request{}).isProtected("/home/"+dir+"/ws/a", "/home/"+dir+"/ws") {
			t.Errorf("all below a root in %s is protected", dir)
		}
	}
	for _, file := range []string{
		".gitconfig", ".gitmodules", ".gitattributes", ".envrc", ".bashrc", ".bash_profile", ".bash_login", ".bash_logout",
		".profile", ".zshrc", ".zshenv", ".zprofile", ".zlogin", ".kshrc", ".inputrc", ".npmrc", ".yarnrc", ".yarnrc.yml",
		".pypirc", ".netrc", ".mcp.json", "mcp.json", ".vimrc", ".exrc", ".nvimrc", ".emacs", ".dir-locals.el", ".gdbinit",
		".lldbinit", ".pre-commit-config.yaml", ".tool-versions", "mise.toml", ".mise.toml",
	} {
		if !(Policy{}).at(Request{}).isProtected("/ws/"+file, "/ws") || !(Policy{}).at(Request{}).isProtected("/ws/a/B/"+file, "/ws") {
			t.Errorf("%s is not protected", file)
		}
		if (Policy{}).at(Request{}).isProtected("/ws/"+file+"/x", "/ws") || (Policy{}).at(Request{}).isProtected("/ws/"+file+"x", "/ws") || (Policy{}).at(Request{}).isProtected("/ws/x"+file, "/ws") {
			t.Errorf("more than %s is protected", file)
		}
	}
}
