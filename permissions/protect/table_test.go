package protect

import (
	"slices"
	"strings"
	"testing"
)

// TestNamesOfTodaysTools holds the names that programs of today run or obey: a command cannot write them, or the person is told.
func TestNamesOfTodaysTools(t *testing.T) {
	for hold, names := range map[Hold]string{
		Seals: `lefthook.yml lefthook.yaml lefthook.toml lefthook.json .lefthook.yml .lefthook.toml lefthook-local.yml .lefthook-local.json
			.config/lefthook.yml .config/lefthook-local.toml .pre-commit-config.yaml .pre-commit-config.yml prek.toml hk.pkl .husky/pre-commit
			.huskyrc.json .simple-git-hooks.json opencode.json opencode.jsonc .opencode/opencode.json crush.json .crush.json .qwen/settings.json
			.kiro/hooks/x.kiro.hook .kiro/settings/mcp.json .clinerules/hooks/PreToolUse my.code-workspace .lvimrc mise.local.toml .mise.local.toml
			mise.dev.local.toml .sl/config .claude/settings.json .codex/config.toml .gemini/settings.json .cursor/mcp.json .windsurf/x .roo/mcp.json
			.aider.conf.yml .continue/config.yaml .goose/config.yaml .kilocode/mcp.json .amazonq/mcp.json .factory/settings.json .exrc .nvim.lua
			.dir-locals.el .vim/vimrc .idea/workspace.xml .zed/tasks.json .helix/languages.toml .devcontainer/devcontainer.json .devcontainer.json
			.cargo/config.toml .mvn/extensions.xml .gradle/init.d/x.gradle .npmrc .yarnrc.yml .envrc .rvmrc .ghci .psqlrc`,
		Reports: `.github/workflows/ci.yml .github/copilot-instructions.md mcp.json .gitlab-ci.yml .gitattributes .gitmodules rust-toolchain rust-toolchain.toml
			.bazelrc tools/bazel pnpm-workspace.yaml bunfig.toml mise.toml .mise.toml mise.prod.toml mise/config.toml .config/mise.toml .mise/tasks/x
			.tool-versions devbox.json flake.nix .pnp.cjs .yarn/releases/yarn.cjs gradle/wrapper/gradle-wrapper.jar .githooks/pre-push .lintstagedrc
			sitecustomize.py`,
		OnlyAsks: ".git/hooks/pre-commit .sl/x .clinerules/a.md .kiro/specs/a.md .config/x",
	} {
		for name := range strings.FieldsSeq(names) {
			if _, asks := Asks("/ws/a/"+name, "/ws"); !asks {
				t.Errorf("%s does not ask", name)
			}
			m := &Map{Roots: []string{"/ws"}, inner: []string{"/ws"}, dirs: map[string]struct{}{}, blind: true}
			_, sealed := m.Judge("/ws/a/" + name)
			_, reported := m.Reports("/ws/a/" + name)
			if sealed != (hold == Seals) || !sealed && reported != (hold == Reports) {
				t.Errorf("%s: sealed %v, reported %v", name, sealed, reported)
			}
			if _, reported := m.Granted([]string{"/ws/a/" + name}, nil).Reports("/ws/a/" + name); reported {
				t.Errorf("%s: granted, and reported", name)
			}
		}
	}
	for name := range strings.FieldsSeq(`package.json Cargo.toml go.mod Makefile mise xmise.toml code-workspace a.code-workspaces .code-workspace toolchain.toml
		tools/x bazel .yarn/cache/x .cargo/registry/x .kirox bunfig.tom x/lefthook.ymls src/main.go README.md node_modules/x/package.json`) {
		if rule, asks := Asks("/ws/"+name, "/ws"); asks {
			t.Errorf("%s asks, as %s", name, rule)
		}
	}
}

// TestRowsSayWhatRuns: each name says which program obeys it.
func TestRowsSayWhatRuns(t *testing.T) {
	for _, n := range slices.Concat(Names(), HomeNames()) {
		if len(strings.Fields(n.Runs)) < 2 {
			t.Errorf("%s: %q does not say what runs it", n.Path, n.Runs)
		}
	}
}

// TestHomeInTheWorkspace: names that only count in a home are sealed where one lies in a root, and nowhere else.
func TestHomeInTheWorkspace(t *testing.T) {
	for _, inside := range []bool{true, false} {
		root := tempDir(t)
		write(t, root, "me/.cargo/env", "me/bin/ls", "me/.nvm/nvm.sh", "me/src/bin/x", "elsewhere/x")
		home := root + "/me"
		if !inside {
			home = tempDir(t)
		}
		m := scanned(t, Options{Roots: []string{root}, Home: home})
		for name := range strings.FieldsSeq(`.cargo/env .nvm/nvm.sh .nvm/new bin/ls bin/new .local/bin/x .local/lib/python3.13/site-packages/evil.pth
			.local/share/applications/x.desktop .pyenv/shims/python Library/LaunchAgents/x.plist`) {
			_, sealed := m.Judge(root + "/me/" + name)
			if _, everywhere := m.Judge(root + "/elsewhere/" + name); sealed != inside && !everywhere {
				t.Errorf("%s: sealed %v where the home is inside: %v", name, sealed, inside)
			}
		}
		if _, sealed := m.Judge(root + "/me/src/bin/x"); sealed {
			t.Error("a bin that is not that of the home is sealed")
		}
	}
}

// TestStartupFilesRead: what a start-up file of the home reads, or runs in another way than by an alias, is protected in the roots, also by way of a file
// between them, and where it is missing.
func TestStartupFilesRead(t *testing.T) {
	root, home := tempDir(t), tempDir(t)
	for _, name := range []string{"read.sh", "dotted.sh", "quoted name.sh", "env", "between.sh", "tool", "aliased.sh", "remarked.sh", "plain.sh", "path/x", "again.sh"} {
		write(t, root, name+" = echo\n")
	}
	write(t, home, ".bashrc = "+strings.ReplaceAll("source ROOT/read.sh\n[ -f ROOT/missing.sh ] && . \"ROOT/missing.sh\"\nif true; then . 'ROOT/dotted.sh'; fi\nexport BASH_ENV=ROOT/env\n"+
		"alias a='sh ROOT/aliased.sh'\n# . ROOT/remarked.sh\nexport PATH=ROOT/path:$PATH\nsource ~/.own\neval \"$(ROOT/tool init)\"\nsource /dev/zero; . ~; . ~/.bashrc\ncd ROOT/gone\n", "ROOT", root),
		".own = . "+root+"/between.sh\n. $HOME/.own\n", ".profile = . ${HOME}/link/again.sh\n", "link -> "+root)
	m := scanned(t, Options{Roots: []string{root}, Home: home})
	same(t, "sealed", spell(root, m.Sealed), "shell-startup again.sh", "shell-startup between.sh", "shell-startup dotted.sh", "shell-startup env", "shell-startup read.sh", "shell-startup tool")
	same(t, "missing", spell(root, slices.DeleteFunc(m.Missing, func(e Entry) bool { return !strings.HasSuffix(e.Path, "missing.sh") })), "shell-startup missing.sh")
}
