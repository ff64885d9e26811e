package main

import (
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

// keptAttempts make names of which the person must hear at least.
var keptAttempts = []attempt{
	{
		name: "names that tools of today obey", at: watched, readOnly: true,
		changes: "ws/attempt.sh ws/.config ws/.qwen ws/.kiro ws/.clinerules ws/.sl ws/.roo ws/tools ws/.github ws/rust-toolchain.toml " +
			"ws/.bazelrc ws/pnpm-workspace.yaml ws/bunfig.toml ws/mise.toml ws/mise.dev.toml ws/mcp.json ws/.gitlab-ci.yml ws/tree",
		script: `for f in ` + strings.Join(strings.Fields(sealedNames+" "+toldNames), " ") + `
			do case $f in */*) mkdir -p ${f%/*};; esac; echo evil > $f; done 2>&1; true`,
		harm: func(a *arena, said string) string {
			for _, name := range slices.Concat(strings.Fields(sealedNames), strings.Fields(toldNames)) {
				outermost, _, _ := strings.Cut(name, "/")
				if a.read("ws/"+name) != "" && !strings.Contains(said, "ws/"+name) && !strings.Contains(said, "ws/"+outermost+",") {
					return name + " is there, and nobody says so"
				}
			}
			return ""
		},
	},
}
