package shell

import (
	"path/filepath"
	"slices"
	"strings"

	"toolhost/agenttool/locale"
)

// passed lists the host's variables that a command gets. It contains whole names: a prefix such as LC_ would let
// other data through.
//
// Variables are left out for a reason:
//
//   - secrets: anything like *_KEY, *_TOKEN, *_SECRET, *PASSWORD*, *_CREDENTIALS, and variables that give access to a
//     secret, such as SSH_AUTH_SOCK, DBUS_SESSION_BUS_ADDRESS, XDG_RUNTIME_DIR, KUBECONFIG and npm_config_*
//   - variables that make a shell or a reader run code: BASH_ENV, ENV, BASH_FUNC_*, PROMPT_COMMAND, PS4, SHELLOPTS,
//     BASHOPTS, GIT_*, LESSOPEN, LD_*, DYLD_*, TAR_OPTIONS, RIPGREP_CONFIG_PATH, GREP_OPTIONS, PYTHONSTARTUP, PERL5OPT,
//     RUBYOPT, NODE_OPTIONS, JAVA_TOOL_OPTIONS, MAKEFLAGS, and names of programs to run: CC, EDITOR, PAGER, BROWSER, …
//   - variables that change the code that a program loads: PYTHONPATH, NODE_PATH, RUBYLIB, GEM_PATH, PERL5LIB,
//     CLASSPATH. They often contain relative entries, which would be looked up in the workspace. The location of a tool
//     chain (VIRTUAL_ENV, JAVA_HOME, …) is passed.
//   - variables that change the meaning of a command: CDPATH, GLOBIGNORE, POSIXLY_CORRECT, IFS
//
// GOFLAGS is passed although it can name programs: it affects only go, which is never classified as a reader. A
// proxy's URL may contain a password. It is passed unchanged: the user put it where every program can read it, and
// without it no program reaches the network.
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

// fixed are the variables that every command gets, because no person is present to page, edit or answer. EDITOR is
// false rather than true, so that a program that needs an editor fails with a message instead of continuing with an
// empty answer. NO_COLOR is not set: colour is stripped from the output for the model, and a program under test
// should behave normally.
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

// readingOnly are further variables of a command that provably only reads, besides those that keep git from running
// programs. Without them go downloads modules and the toolchain of go.mod.
var readingOnly = []string{
	"GOFLAGS=-mod=readonly",
	"GOPROXY=off",
	"GOTOOLCHAIN=local",
}

// defaultPath is the PATH of a command if the host's PATH has no usable entry.
const defaultPath = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin"

// Environ returns the environment of a command that runs in dir, sorted by name. It contains the variables of host
// ("NAME=value") that are in passed, and the fixed ones. The first of several values of a name counts, as for getenv.
// Locales are plain, as [locale.Plain] defines, so that bash parses the command as the classifier did. PATH keeps
// only its absolute entries: with "." in it, a file in the workspace could replace any program.
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
