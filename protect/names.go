package protect

import (
	"path"
	"strings"
	"sync"

	"toolhost/agenttool"
)

// Rule says why a name is protected. It is a stable word, fit for records, rules and grants.
type Rule string

// The rules.
const (
	VCSHooks         Rule = "vcs-hooks"         // programs that version control runs
	VCSConfig        Rule = "vcs-config"        // version control's configuration and pointers, which name programs
	ShellStartup     Rule = "shell-startup"     // what shells and sessions run when they start
	EditorConfig     Rule = "editor-config"     // configuration of editors, debuggers and agents
	ToolConfig       Rule = "tool-config"       // configuration of build and package tools
	ToolhostSettings Rule = "toolhost-settings" // toolhost's own settings
	SSH              Rule = "ssh"               // keys, and who may log in
	Credentials      Rule = "credentials"       // programs and keys that prove who the person is
	Secret           Rule = "secret"            // what must not be read
	Denied           Rule = "denied"            // what the person said that nobody writes
)

// Name is one row of the table: the last components of a path, folded, wherever below a root they stand.
type Name struct {
	Path   string // "name" or "directory/name"
	Rule   Rule
	Dir    bool // it is usually a directory, and all below it counts
	Sealed bool // commands cannot write it; otherwise writing it only asks
}

// row spells rows that differ only in their name.
func row(rule Rule, sealed, dir bool, names string) []Name {
	var rows []Name
	for name := range strings.FieldsSeq(names) {
		rows = append(rows, Name{name, rule, dir, sealed})
	}
	return rows
}

const (
	seals, asks = true, false
	dirs, files = true, false
)

// Names returns the table.
func Names() []Name {
	return concat(
		row(VCSConfig, asks, dirs, ".git .hg .svn .jj"),
		row(VCSConfig, asks, files, ".gitmodules .gitattributes"),
		row(VCSConfig, seals, files, ".gitconfig .hgrc .hg/hgrc .hg/hgrc-not-shared .hg/sharedpath .jj/repo/config.toml .jjconfig.toml"),
		row(VCSConfig, seals, dirs, ".config/git .config/hg .config/jj"),

		row(ShellStartup, seals, files, `.bashrc .bash_profile .bash_login .bash_logout .bash_aliases .bash_completion .profile
			.zshrc .zshenv .zprofile .zlogin .zlogout .kshrc .mkshrc .shrc .cshrc .tcshrc .login .logout .xonshrc .inputrc .envrc
			.xprofile .xinitrc .xsession .xsessionrc .pam_environment .screenrc .tmux.conf`),
		row(ShellStartup, seals, dirs, `.config/fish .config/zsh .config/bash .config/nushell .config/powershell .config/elvish
			.config/xonsh .config/autostart .config/systemd .config/environment.d .config/plasma-workspace .config/tmux
			.config/direnv .config/i3 .config/sway .config/hypr .local/bin .oh-my-zsh .bashrc.d`),

		row(EditorConfig, seals, dirs, `.vscode .vscode-server .cursor-server .idea .zed .cursor .windsurf .claude .codex .gemini
			.continue .opencode .devcontainer .vim .nvim .emacs.d .helix .config/nvim .config/emacs .config/zed .config/helix
			.config/code .config/cursor .config/vscodium .config/windsurf .config/opencode .config/kitty .config/alacritty
			.config/wezterm .config/ghostty .config/lazygit`),
		row(EditorConfig, seals, files, `.mcp.json .claude.json .devcontainer.json .vimrc .gvimrc .exrc .nvimrc .nvim.lua .ideavimrc
			.emacs .dir-locals.el .dir-locals-2.el .gdbinit .lldbinit .aider.conf.yml`),
		row(EditorConfig, asks, files, "mcp.json"),

		row(VCSHooks, seals, dirs, ".husky"),
		row(VCSHooks, seals, files, ".pre-commit-config.yaml lefthook.yml .lefthook.yml .overcommit.yml"),

		row(ToolConfig, seals, files, `.npmrc .yarnrc .yarnrc.yml .pnpmfile.cjs .pypirc .pdbrc .rprofile .pythonrc .irbrc .pryrc
			.curlrc .wgetrc .mailcap .cargo/config .cargo/config.toml .bundle/config .pip/pip.conf .docker/config.json .kube/config
			.config/starship.toml`),
		row(ToolConfig, seals, dirs, ".mvn .docker/cli-plugins .config/pip .config/uv .config/mise .config/gh .config/containers"),
		row(ToolConfig, asks, files, ".tool-versions mise.toml .mise.toml"),
		row(ToolConfig, asks, dirs, ".github .config"),

		row(ToolhostSettings, seals, dirs, ".toolhost .config/toolhost"),
		row(SSH, seals, dirs, ".ssh"),
		row(Credentials, seals, dirs, ".gnupg"),
		row(Credentials, seals, files, ".aws/config .aws/credentials"),
		row(Credentials, asks, files, ".netrc"),
	)
}

func concat(parts ...[]Name) []Name {
	var all []Name
	for _, part := range parts {
		all = append(all, part...)
	}
	return all
}

// tail is what is still missing of a name after its first components.
type tail struct {
	name Name
	rest string // folded, "" when the name is complete
}

// table is Names by first component, built at the first question.
var table = sync.OnceValue(func() map[string][]tail {
	index := make(map[string][]tail)
	for _, name := range Names() {
		first, rest, _ := strings.Cut(name.Path, "/")
		index[first] = append(index[first], tail{name, rest})
	}
	return index
})

// advance returns what becomes of the tails, and of the names of the table, at one more component.
func advance(tails []tail, component string) []tail {
	next := table()[component]
	for _, t := range tails {
		if first, rest, _ := strings.Cut(t.rest, "/"); t.rest != "" && first == component {
			next = append(next[:len(next):len(next)], tail{t.name, rest})
		}
	}
	return next
}

// Asks returns the rule by which writing the path needs a person's word, from its text alone: every name of the table
// counts, sealed or not, at any depth below root; that root itself lies in a directory of such a name says nothing of
// what is in it. An empty root judges the whole path.
func Asks(file, root string) (Rule, bool) {
	file = path.Clean(file)
	if root != "" && agenttool.Within(root, file) {
		file = file[len(root):]
	}
	components := strings.Split(fold(file), "/")
	return match(components, func(n Name, _, end int) bool { return n.Dir || end == len(components) })
}

// match returns the rule of the first name of the table that the folded components hold, and that counts: at is the
// index of its first component, end that after its last.
func match(components []string, counts func(n Name, at, end int) bool) (Rule, bool) {
	var open []tail
	for i, component := range components {
		open = advance(open, component)
		for _, t := range open {
			at := i - strings.Count(t.name.Path, "/")
			if t.rest == "" && counts(t.name, at, i+1) {
				return t.name.Rule, true
			}
		}
	}
	return "", false
}
