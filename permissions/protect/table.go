package protect

import (
	"slices"
	"strings"
)

// row is several names of one kind: the programs that run or obey them, and how commands are kept from them.
type row struct {
	rule  Rule
	hold  Hold
	shape shape
	runs  string // the programs, and when they run the name
	names string // separated by white space
}

// shape says whether a name is usually a directory or a file.
type shape bool

const (
	dirs  shape = true // all below it counts
	files shape = false
)

// rows is the table. A "*" in the first component of a name stands for any text. Names that ordinary checkouts and package managers write are
// reported and not sealed.
func rows() []row {
	return slices.Concat(versionControl(), shells(), editors(), agents(), hookManagers(), buildTools(), interpreters(), keys())
}

func versionControl() []row {
	return []row{
		{VCSConfig, OnlyAsks, dirs, "version control: hooks, and configuration that names programs", ".git .hg .svn .jj .sl .bzr .pijul"},
		{VCSConfig, Reports, files, "git: which filters and submodules apply", ".gitmodules .gitattributes"},
		{VCSConfig, Seals, files, "version control: aliases, pagers, extensions, shared stores", `.gitconfig .hgrc .hg/hgrc .hg/hgrc-not-shared
			.hg/sharedpath .jj/repo/config.toml .jjconfig.toml .sl/config .sl/hgrc .slrc _darcs/prefs/defaults .darcs/defaults .tigrc`},
		{VCSConfig, Seals, dirs, "version control: aliases, pagers, hooks, plugins", ".config/git .config/hg .config/jj .config/sapling .config/tig .bazaar"},
		{ToolConfig, Reports, dirs, "continuous integration: commands with the repository's secrets", `.github .gitlab .gitea .forgejo .woodpecker
			.circleci .buildkite .semaphore .tekton .azure-pipelines .builds`},
		{ToolConfig, Reports, files, "continuous integration: commands with the repository's secrets", `.gitlab-ci.yml .gitlab-ci.yaml .travis.yml
			.drone.yml .woodpecker.yml .woodpecker.yaml .cirrus.yml .cirrus.star azure-pipelines.yml azure-pipelines.yaml
			bitbucket-pipelines.yml appveyor.yml .appveyor.yml .build.yml cloudbuild.yaml cloudbuild.yml jenkinsfile .arcconfig`},
	}
}

func shells() []row {
	return []row{
		{ShellStartup, Seals, files, "shells, terminals and X sessions, when they start or change directory", `.bashrc .bash_profile .bash_login
			.bash_logout .bash_aliases .bash_completion .bashrc.local .bash_profile.local .profile .profile.local .zshrc .zshenv .zprofile .zlogin
			.zlogout .zshrc.local .zshenv.local .zsh_plugins.txt .zsh_plugins.zsh .zimrc .p10k.zsh .kshrc .mkshrc .shrc .cshrc .tcshrc .login .logout
			.xonshrc .inputrc .envrc .envrc.local .autoenv .autoenv.zsh .autoenv_leave.zsh .autoenv.leave .rvmrc .xprofile .xinitrc .xsession
			.xsessionrc .xserverrc .xbindkeysrc .gnomerc .pam_environment .screenrc .tmux.conf .fzf.bash .fzf.zsh .lessfilter .lesskey`},
		{ShellStartup, Seals, dirs, "shells and sessions, when they start", `.config/fish .config/zsh .config/bash .config/nushell .config/powershell
			.config/elvish .config/xonsh .config/autostart .config/autostart-scripts .config/systemd .config/environment.d .config/plasma-workspace
			.config/tmux .config/direnv .config/i3 .config/sway .config/hypr .config/bspwm .config/openbox .config/awesome .config/qtile
			.config/xmonad .config/sxhkd .config/polybar .config/waybar .config/zellij .local/bin .oh-my-zsh .oh-my-bash .bashrc.d .bash_completion.d
			.zsh .zsh.d .zinit .zplug .antigen .sheldon`},
		{ToolConfig, Reports, files, "tmuxinator, tmuxp: commands of a session", ".tmuxinator.yml .tmuxp.yaml .tmuxp.yml .tmuxp.json"},
	}
}

func editors() []row {
	return []row{
		{EditorConfig, Seals, dirs, "editors: tasks, debuggers, plug-ins, when the directory is opened", `.vscode .vscode-server .vscode-remote .vscode-insiders
			.vscodium .idea .zed .fleet .theia .nova .vim .nvim .emacs.d .doom.d .spacemacs.d .helix .kak .devcontainer .config/nvim .config/vim .config/emacs
			.config/doom .config/zed .config/helix .config/kak .config/micro .config/code .config/vscodium .config/jetbrains .config/sublime-text
			.config/kitty .config/alacritty .config/wezterm .config/ghostty .config/foot .config/lazygit .config/gitui .config/yazi .config/ranger
			.config/lf .config/nnn .config/vifm`},
		{EditorConfig, Seals, files, "editors and debuggers, when the directory or a file in it is opened", `*.code-workspace *.sublime-project .devcontainer.json
			.vimrc .gvimrc .exrc .lvimrc .local.vimrc .vimrc.local .nvimrc .nvim.lua .ideavimrc .emacs .dir-locals.el .dir-locals-2.el .spacemacs
			.nanorc .ycm_extra_conf.py .gdbinit .gdbearlyinit .lldbinit .lldbinit-lldb .radare2rc .cgdbrc .muttrc .mailrc`},
		{EditorConfig, Reports, files, "language servers: the checker or plug-in that they run", "rust-analyzer.toml .rust-analyzer.toml .luarc.json .luarc.jsonc .neoconf.json"},
	}
}

func agents() []row {
	return []row{
		{EditorConfig, Seals, dirs, "coding agents: hooks, servers of tools, permissions", `.claude .codex .gemini .cursor .cursor-server .windsurf .windsurf-server
			.codeium .continue .opencode .crush .qwen .roo .kilocode .goose .amazonq .augment .trae .junie .factory .openhands .iflow .codebuddy
			.copilot .amp .rovodev .aider .tabnine .antigravity .kiro/hooks .kiro/settings .kiro/agents .clinerules/hooks .cline .config/cursor
			.config/windsurf .config/opencode .config/claude .config/codex .config/gemini .config/goose .config/crush .config/amp .config/mcp
			.config/github-copilot`},
		{EditorConfig, Seals, files, "coding agents: hooks, servers of tools, permissions", `.mcp.json .claude.json opencode.json opencode.jsonc .opencode.json
			.opencode.jsonc crush.json .crush.json .aider.conf.yml .aider.conf.yaml .aider.model.settings.yml gptme.toml`},
		{EditorConfig, Reports, files, "clients of MCP: servers that they start", "mcp.json"},
		{EditorConfig, OnlyAsks, dirs, "coding agents: instructions", ".clinerules .kiro"},
	}
}

func hookManagers() []row {
	var lefthook strings.Builder
	for _, prefix := range []string{"", ".", ".config/"} {
		for _, local := range []string{"", "-local"} {
			for _, format := range []string{"yml", "yaml", "toml", "json", "jsonc"} {
				lefthook.WriteString(prefix + "lefthook" + local + "." + format + " ")
			}
		}
	}
	return []row{
		{VCSHooks, Seals, dirs, "husky, lefthook, overcommit, cargo-husky: at the next commit", ".husky .lefthook .lefthook-local .overcommit .git-hooks .cargo-husky"},
		{VCSHooks, Seals, files, "lefthook: at the next commit", lefthook.String()},
		{VCSHooks, Seals, files, "managers of git hooks: at the next commit", `.pre-commit-config.yaml .pre-commit-config.yml prek.toml .prek.toml .overcommit.yml
			.huskyrc .huskyrc.json .huskyrc.yml .huskyrc.yaml .huskyrc.js .huskyrc.cjs husky.config.js husky.config.cjs .simple-git-hooks.json
			.simple-git-hooks.js .simple-git-hooks.cjs simple-git-hooks.json simple-git-hooks.js simple-git-hooks.cjs captainhook.json
			.captainhook.json hk.pkl .hk.pkl hk.local.pkl .config/hk.pkl`},
		{VCSHooks, Reports, dirs, "git, where core.hooksPath names them: at the next commit", ".githooks"},
		{VCSHooks, Reports, files, "lint-staged, grumphp: at the next commit", `.lintstagedrc .lintstagedrc.json .lintstagedrc.yaml .lintstagedrc.yml
			.lintstagedrc.js .lintstagedrc.cjs .lintstagedrc.mjs lint-staged.config.js lint-staged.config.cjs lint-staged.config.mjs
			grumphp.yml grumphp.yml.dist`},
	}
}

func buildTools() []row {
	return []row{
		{ToolConfig, Seals, files, "package managers: registries, scripts, programs", `.npmrc .yarnrc .yarnrc.yml .pnpmfile.cjs .pnpmfile.mjs pnpmfile.js .pypirc
			.gemrc .cargo/config .cargo/config.toml .cargo/env .bundle/config .pip/pip.conf .m2/settings.xml .m2/extensions.xml .gradle/init.gradle
			.gradle/init.gradle.kts .gradle/gradle.properties .terraformrc .ansible.cfg .docker/config.json .kube/config .config/starship.toml
			.lein/profiles.clj .asdfrc`},
		{ToolConfig, Seals, dirs, "package managers and clouds: plug-ins, start-up files", `.mvn .gradle/init.d .docker/cli-plugins .terraform.d .cargo/bin .sbt .config/pip
			.config/uv .config/mise .config/gh .config/containers .config/cargo .config/pnpm .config/yarn .config/go .config/nix .config/nixpkgs
			.config/home-manager`},
		{ToolConfig, Seals, files, "mise: variables, hooks and tasks of this machine", `mise.local.toml .mise.local.toml mise.*.local.toml .mise.*.local.toml .rtx.local.toml
			mise/config.local.toml .mise/config.local.toml .config/mise.local.toml`},
		{ToolConfig, Reports, files, "mise, asdf: variables, hooks, and where tools come from", `.tool-versions mise.toml .mise.toml mise.*.toml .mise.*.toml .rtx.toml
			.miserc.toml mise/config.toml .mise/config.toml .config/mise.toml`},
		{ToolConfig, Reports, dirs, "mise: tasks", "mise-tasks .mise-tasks mise/tasks .mise/tasks mise/conf.d .mise/conf.d"},
		{ToolConfig, Reports, files, "tool chains: which compiler or launcher runs", `rust-toolchain rust-toolchain.toml .bazelrc .bazeliskrc .bazelversion user.bazelrc
			tools/bazel tools/bazel.bat .buckconfig .buckconfig.local .plzconfig .plzconfig.local .pants.rc .jvmopts .sbtopts gradle/wrapper/gradle-wrapper.properties
			gradle/wrapper/gradle-wrapper.jar cabal.project.local pnpm-workspace.yaml bunfig.toml .bunfig.toml .pnp.cjs .pnp.js .pnp.loader.mjs
			uv.toml ansible.cfg .latexmkrc latexmkrc`},
		{ToolConfig, Reports, dirs, "yarn: its own program and plug-ins", ".yarn/releases .yarn/plugins"},
		{ToolConfig, Reports, files, "shells of a project: commands when they are entered", `devbox.json devenv.nix devenv.yaml devenv.local.nix devenv.local.yaml flake.nix
			shell.nix`},
		{ToolConfig, OnlyAsks, dirs, "programs: their configuration", ".config"},
	}
}

func interpreters() []row {
	return []row{
		{ToolConfig, Seals, files, "interpreters and clients, when they start", `.pdbrc .rprofile .renviron .pythonrc .irbrc .pryrc .byebugrc .rdebugrc .perldb .ghci .ocamlinit
			.erlang .iex.exs .octaverc .sqliterc .psqlrc .mongorc.js .mongoshrc.js .guile .sbclrc .gnuplot .tclshrc .wishrc .lftprc .ackrc .curlrc
			.wgetrc .mailcap`},
		{ToolConfig, Seals, dirs, "interpreters, when they start", ".ipython .jupyter .julia/config .config/ipython .config/lftp .lftp"},
		{ToolConfig, Reports, files, "python, when it starts; pylint, rspec: their plug-ins", "sitecustomize.py usercustomize.py .pylintrc pylintrc .rspec"},
	}
}

func keys() []row {
	return []row{
		{ToolhostSettings, Seals, dirs, "toolhost: rules and hooks", ".toolhost .config/toolhost"},
		{SSH, Seals, dirs, "ssh: keys, commands, who may log in", ".ssh"},
		{Credentials, Seals, dirs, "gpg: keys and programs", ".gnupg .aws/cli"},
		{Credentials, Seals, files, "clouds: keys, and programs that make them", ".aws/config .aws/credentials"},
		{Credentials, OnlyAsks, files, "clients: passwords", ".netrc"},
	}
}

// homeNames are names that programs run or obey in a home directory and nowhere else. They are sealed where a home lies in the workspace.
func homeNames() []row {
	return []row{
		{ShellStartup, Seals, dirs, "shells: programs on the search path", "bin .local/bin .local/sbin go/bin .bun/bin .deno/bin .npm-global .dotnet/tools .krew/bin .composer/vendor/bin"},
		{ShellStartup, Seals, dirs, "shells: scripts that start-up files source", `.nvm .fnm .pyenv .rbenv .nodenv .goenv .jenv .tfenv .rvm .asdf .sdkman .volta .jabba .rustup
			.cargo/bin .linuxbrew .nix-profile .nix-defexpr`},
		{ShellStartup, Seals, files, "shells: scripts that start-up files source", ".cargo/env .cargo/env.fish .cargo/env.nu .deno/env .git-completion.bash .git-prompt.sh"},
		{ShellStartup, Seals, dirs, "sessions and desktops: what starts by itself or by a click", `.local/share/systemd .local/share/applications .local/share/autostart
			.local/share/dbus-1 .local/share/kservices5 .local/share/plasma .local/share/gnome-shell .local/share/nautilus .local/share/nemo
			.local/share/xsessions .local/share/mise .local/share/fish .local/share/zsh .local/share/bash-completion .gnome .kde
			library/launchagents library/launchdaemons library/services`},
		{ToolConfig, Seals, dirs, "interpreters and editors: modules that load when they start (*.pth, site plug-ins)", `.local/lib .local/lib64 .local/share/nvim
			.local/share/jupyter .local/share/pipx .local/share/uv .local/share/pnpm .node_modules .node_libraries .julia perl5`},
		{ToolConfig, Seals, files, "cron, at and mail: commands", ".crontab .forward .procmailrc .fetchmailrc .msmtprc .k5login .rhosts .shosts"},
	}
}
