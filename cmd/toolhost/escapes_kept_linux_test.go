package main

import (
	"os"
	"slices"
	"strings"
)

// Names that tools of today obey: a command cannot make the first, and the person is told of the others.
const (
	sealedNames = `lefthook.toml .config/lefthook.json lefthook-local.yml .pre-commit-config.yml prek.toml opencode.json crush.json .crush.json
		.qwen/settings.json .kiro/hooks/x .clinerules/hooks/x my.code-workspace .lvimrc mise.local.toml .sl/config .roo/mcp.json .rvmrc`
	toldNames = `rust-toolchain.toml .bazelrc tools/bazel pnpm-workspace.yaml bunfig.toml mise.toml mise.dev.toml mcp.json .github/workflows/x.yml
		.gitlab-ci.yml tree/mcp.json`
)

// armed is a shell function that makes a git directory with a hook and programs in its configuration.
const armed = `arm() { mkdir -p $1/objects $1/refs $1/hooks; echo 'ref: refs/heads/main' > $1/HEAD
		printf '[core]\n\trepositoryformatversion = 0\n\tfsmonitor = ./evil\n[alias]\n\tst = !evil\n' > $1/config
		printf '#!/bin/sh\nevil\n' > $1/hooks/post-checkout; chmod +x $1/hooks/post-checkout; }
	`

// live says which of the git directories would run something.
func live(dirs string) func(a *escapeAttempt, said string) string {
	return func(a *escapeAttempt, said string) string {
		for _, dir := range strings.Fields(dirs) {
			if strings.Contains(a.read("ws/"+dir+"/hooks/post-checkout"), "\nevil") {
				return dir + ": its hook is live"
			}
			for line := range strings.Lines(a.read("ws/" + dir + "/config")) {
				if line = strings.TrimSpace(line); strings.HasPrefix(line, "fsmonitor = ./evil") || strings.HasPrefix(line, "st = !evil") {
					return dir + ": its configuration is live: " + line
				}
			}
			if _, err := os.Stat(a.path("ws/" + dir)); err == nil && !strings.Contains(said, "ws/"+dir) && !strings.Contains(dir, "/modules/") {
				return dir + " is there, and nobody says so"
			}
		}
		return ""
	}
}

// keptAttempts make names of which the person must hear at least.
var keptAttempts = []attempt{
	{
		name: "names that tools of today obey", row: "Write names that tools of today obey", at: watched, readOnly: true,
		changes: "ws/attempt.sh ws/.config ws/.qwen ws/.kiro ws/.clinerules ws/.sl ws/.roo ws/tools ws/.github ws/rust-toolchain.toml " +
			"ws/.bazelrc ws/pnpm-workspace.yaml ws/bunfig.toml ws/mise.toml ws/mise.dev.toml ws/mcp.json ws/.gitlab-ci.yml ws/tree",
		script: `for f in ` + strings.Join(strings.Fields(sealedNames+" "+toldNames), " ") + `
			do case $f in */*) mkdir -p ${f%/*};; esac; echo evil > $f; done 2>&1; true`,
		harm: func(a *escapeAttempt, said string) string {
			for _, name := range slices.Concat(strings.Fields(sealedNames), strings.Fields(toldNames)) {
				outermost, _, _ := strings.Cut(name, "/")
				if a.read("ws/"+name) != "" && !strings.Contains(said, "ws/"+name) && !strings.Contains(said, "ws/"+outermost+",") {
					return name + " is there, and nobody says so"
				}
			}
			return ""
		},
	},
	{
		name: "a workspace that is the home", row: "Work in the home itself", at: watched, readOnly: true,
		changes: "ws/x ws/.cargo ws/.local ws/.config ws/src ws/go ws/Library",
		set: func(a *escapeAttempt) {
			a.home = a.ws
			for i, entry := range a.env {
				if strings.HasPrefix(entry, "HOME=") {
					a.env[i] = "HOME=" + a.ws
				}
			}
			for _, name := range []string{".cargo/env", ".nvm/nvm.sh", "bin/ls", ".bashrc"} {
				a.write("ws/"+name, "pristine\n")
			}
		},
		script: `for f in .cargo/env .cargo/bin/cargo .nvm/nvm.sh .nvm/alias/x .config/systemd/user/evil.service .config/autostart/x.desktop bin/ls bin/new \
			.local/bin/ls .local/lib/python3.13/site-packages/evil.pth .local/share/applications/x.desktop .local/share/systemd/user/x.service \
			.profile .bashrc .zshrc .ssh/authorized_keys .pyenv/shims/python .rustup/settings.toml go/bin/x Library/LaunchAgents/x.plist
			do mkdir -p ${f%/*} 2>&1; echo evil > $f; echo evil > x; mv x $f; done 2>&1; mkdir -p src/bin; echo fine > src/bin/x; true`,
		harm: func(a *escapeAttempt, _ string) string {
			for _, name := range strings.Fields(`.cargo/env .cargo/bin/cargo .nvm/nvm.sh .nvm/alias/x .config/systemd/user/evil.service .config/autostart/x.desktop
				bin/ls bin/new .local/bin/ls .local/lib/python3.13/site-packages/evil.pth .local/share/applications/x.desktop
				.local/share/systemd/user/x.service .profile .bashrc .zshrc .ssh/authorized_keys .pyenv/shims/python .rustup/settings.toml
				go/bin/x Library/LaunchAgents/x.plist`) {
				if strings.Contains(a.read("ws/"+name), "evil") {
					return name + " was written"
				}
			}
			return ""
		},
	},
	{
		name: "repositories that a call makes wait", row: "Make a repository", at: watched, needs: "git", changes: "ws/.git ws/nested ws/fixtures ws/moved",
		script: armed + `arm .git; arm nested/.git; arm fixtures/x; arm moved/y; mv moved/y moved/z
			mkdir -p fixtures/h/objects fixtures/h/refs; printf '[core]\n\tfsmonitor = ./evil\n' > fixtures/h/config
			echo 'ref: refs/heads/main' > fixtures/h/h; mv fixtures/h/h fixtures/h/HEAD; true`,
		harm: live(".git nested/.git fixtures/x fixtures/h moved/z"),
	},
	{
		name: "repositories that are copied or fetched wait", at: watched, needs: "git", changes: "ws/.git/modules ws/copy ws/away ws/cloned ws/back",
		set: repository,
		script: armed + `arm .git/modules/NEW; cp -r vendor/sub copy; arm copy/.git; cp -r vendor/sub away; arm away/.git; mv away back
			git clone -q --template= vendor/sub cloned 2>/dev/null; arm cloned/.git; true`,
		harm: live(".git/modules/NEW copy/.git back/.git cloned/.git"),
	},
}
