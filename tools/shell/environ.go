package shell

import (
	"path/filepath"
	"slices"
	"strings"

	"toolhost/agenttool/locale"
)

// passed are the variables of the host that a command sees. It is a list of whole names: a prefix such as LC_ is
// what people smuggle other things through.
//
// What is absent is absent for a reason:
//
//   - secrets: anything like *_KEY, *_TOKEN, *_SECRET, *PASSWORD*, *_CREDENTIALS, and what stands for one, such as
//     SSH_AUTH_SOCK, DBUS_SESSION_BUS_ADDRESS, XDG_RUNTIME_DIR, KUBECONFIG and npm_config_*
//   - what makes a shell or a reader run code: BASH_ENV, ENV, BASH_FUNC_*, PROMPT_COMMAND, PS4, SHELLOPTS, BASHOPTS,
//     GIT_*, LESSOPEN, LD_*, DYLD_*, TAR_OPTIONS, RIPGREP_CONFIG_PATH, GREP_OPTIONS, PYTHONSTARTUP, PERL5OPT, RUBYOPT,
//     NODE_OPTIONS, JAVA_TOOL_OPTIONS, MAKEFLAGS, and names of programs to run: CC, EDITOR, PAGER, BROWSER, …
//   - what changes which code a program loads: PYTHONPATH, NODE_PATH, RUBYLIB, GEM_PATH, PERL5LIB, CLASSPATH. They
//     often hold relative entries, which would be looked up in the workspace. Where a tool chain is installed
//     (VIRTUAL_ENV, JAVA_HOME, …) is passed.
//   - CDPATH, GLOBIGNORE, POSIXLY_CORRECT, IFS: the same command would mean something else
//
// GOFLAGS is passed although it can name programs: it acts on go alone, which is never taken for a reader.
// A proxy's URL may hold a password. It is passed as it is: the person put it where every program reads it, and
// without it nothing reaches the network.
var passed = map[string]bool{
	"PATH": true, "HOME": true, "USER": true, "LOGNAME": true, "SHELL": true, "TZ": true, "TMPDIR": true,

	"LANG": true, "LANGUAGE": true, "LC_ALL": true, "LC_ADDRESS": true, "LC_COLLATE": true, "LC_CTYPE": true,
	"LC_IDENTIFICATION": true, "LC_MEASUREMENT": true, "LC_MESSAGES": true, "LC_MONETARY": true, "LC_NAME": true,
	"LC_NUMERIC": true, "LC_PAPER": true, "LC_TELEPHONE": true, "LC_TIME": true,

	"XDG_CACHE_HOME": true, "XDG_CONFIG_HOME": true, "XDG_DATA_HOME": true, "XDG_STATE_HOME": true,

	"CGO_ENABLED": true, "GO111MODULE": true, "GOARCH": true, "GOBIN": true, "GOCACHE": true, "GOEXPERIMENT": true,
	"GOFLAGS": true, "GOMODCACHE": true, "GONOPROXY": true, "GONOSUMDB": true, "GOOS": true, "GOPATH": true,
	"GOPRIVATE": true, "GOPROXY": true, "GOROOT": true, "GOSUMDB": true, "GOTOOLCHAIN": true, "GOWORK": true,

	"CARGO_HOME": true, "CARGO_TARGET_DIR": true, "RUSTUP_HOME": true, "RUSTUP_TOOLCHAIN": true,

	"ANDROID_HOME": true, "ANDROID_SDK_ROOT": true, "DOTNET_ROOT": true, "GRADLE_USER_HOME": true,
	"JAVA_HOME": true, "M2_HOME": true, "SDKMAN_DIR": true,

	"BUN_INSTALL": true, "DENO_DIR": true, "DENO_INSTALL": true, "FNM_DIR": true, "NVM_BIN": true, "NVM_DIR": true,
	"PNPM_HOME": true, "VOLTA_HOME": true,

	"CONDA_DEFAULT_ENV": true, "CONDA_PREFIX": true, "PIP_CACHE_DIR": true, "PIPX_HOME": true, "POETRY_HOME": true,
	"PYENV_ROOT": true, "PYENV_VERSION": true, "UV_CACHE_DIR": true, "VIRTUAL_ENV": true,

	"ASDF_DATA_DIR": true, "ASDF_DIR": true, "GEM_HOME": true, "MISE_DATA_DIR": true, "RBENV_ROOT": true,
	"HOMEBREW_CELLAR": true, "HOMEBREW_PREFIX": true, "HOMEBREW_REPOSITORY": true,

	"CURL_CA_BUNDLE": true, "NIX_SSL_CERT_FILE": true, "NODE_EXTRA_CA_CERTS": true, "REQUESTS_CA_BUNDLE": true,
	"SSL_CERT_DIR": true, "SSL_CERT_FILE": true,

	"all_proxy": true, "ftp_proxy": true, "http_proxy": true, "https_proxy": true, "no_proxy": true,
	"ALL_PROXY": true, "FTP_PROXY": true, "HTTP_PROXY": true, "HTTPS_PROXY": true, "NO_PROXY": true,
}

// fixed are the variables that every command gets: nobody is there to page, edit or answer. An editor is false
// rather than true, so that what needs one fails and says so instead of going on with an empty answer. NO_COLOR is
// not among them: colour is stripped from what the model reads, and a program under test should not notice us.
var fixed = []string{
	"DEBIAN_FRONTEND=noninteractive",
	"EDITOR=false",
	"GCM_INTERACTIVE=never",
	"GIT_EDITOR=false",
	"GIT_OPTIONAL_LOCKS=0",
	"GIT_PAGER=cat",
	"GIT_TERMINAL_PROMPT=0",
	"LESS=FRX",
	"LESSSECURE=1",
	"MANPAGER=cat",
	"PAGER=cat",
	"PIP_DISABLE_PIP_VERSION_CHECK=1",
	"PIP_NO_INPUT=1",
	"SYSTEMD_PAGER=cat",
	"TERM=dumb",
	"VISUAL=false",
}

// readingOnly are the variables of a command that was proved to read only, besides those that keep git from running programs:
// without them go downloads modules and the toolchain that a go.mod asks for.
var readingOnly = []string{
	"GOFLAGS=-mod=readonly",
	"GOPROXY=off",
	"GOTOOLCHAIN=local",
}

// defaultPath is the PATH of a command whose host has none that can be used.
const defaultPath = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin"

// Environ returns the environment of a command that runs in dir, sorted by name. It is built, not inherited: the
// variables of host ("NAME=value") that are on the list, then those that are always the same. Of two values of one
// name the first counts, as it does for getenv. Locales are plain, as [locale.Plain] says, so that bash reads the command that was
// analysed. PATH keeps its absolute entries only: with "." in it, a file of the
// workspace would answer to the name of every program.
func Environ(host []string, dir string) []string {
	env := append(slices.Clone(fixed), "PWD="+dir)
	seen := map[string]bool{}
	for _, entry := range host {
		name, value, ok := strings.Cut(entry, "=")
		if !ok || !passed[name] || seen[name] || strings.ContainsRune(value, 0) {
			continue
		}
		seen[name] = true
		if name == "PATH" {
			value = absolutePath(value)
		}
		env = append(env, name+"="+value)
	}
	if !seen["PATH"] {
		env = append(env, "PATH="+defaultPath)
	}
	env = locale.Environ(env)
	slices.Sort(env)
	return env
}

// absolutePath returns the absolute entries of a PATH, or the default if there are none.
func absolutePath(path string) string {
	entries := slices.DeleteFunc(filepath.SplitList(path), func(dir string) bool { return !filepath.IsAbs(dir) })
	if len(entries) == 0 {
		return defaultPath
	}
	return strings.Join(entries, string(filepath.ListSeparator))
}
