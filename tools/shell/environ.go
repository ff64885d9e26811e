package shell

import (
	"path/filepath"
	"slices"
	"strings"

	"toolhost/agenttool/locale"
	"toolhost/agenttool/secret"
)

// passed lists the host's variables that a command gets. It contains whole names: a prefix such as LC_ would let
// other data through.
//
// Variables are left out for a reason:
//
//   - secrets: anything like *_KEY, *_TOKEN, *_SECRET, *PASSWORD*, *_CREDENTIALS, and variables that give access to a
//     secret, such as SSH_AUTH_SOCK (but see withAgent), DBUS_SESSION_BUS_ADDRESS, XDG_RUNTIME_DIR, KUBECONFIG and npm_config_*
//   - variables that make a shell or a reader run code: BASH_ENV, ENV, BASH_FUNC_*, PROMPT_COMMAND, PS4, SHELLOPTS,
//     BASHOPTS, GIT_*, LESSOPEN, LD_*, DYLD_*, TAR_OPTIONS, RIPGREP_CONFIG_PATH, GREP_OPTIONS, PYTHONSTARTUP, PERL5OPT,
//     RUBYOPT, NODE_OPTIONS, JAVA_TOOL_OPTIONS, MAKEFLAGS, and names of programs to run: CC, EDITOR, PAGER, BROWSER, …
//   - variables that change the code that a program loads: PYTHONPATH, NODE_PATH, RUBYLIB, GEM_PATH, PERL5LIB,
//     CLASSPATH. They often contain relative entries, which would be looked up in the workspace. The location of a tool
//     chain (VIRTUAL_ENV, JAVA_HOME, …) is passed.
//   - variables that change the meaning of a command: CDPATH, GLOBIGNORE, POSIXLY_CORRECT, IFS
//
// GOFLAGS is passed although it can name programs: it affects only go, which is never classified as a reader.
//
// Of a value that holds a secret, such as the login in a GOPROXY, a command gets what is left without it, as it does of configuration; a value
// that is a secret itself is left out. The addresses of proxies keep their logins where there is no sandbox, since without them no program
// reaches the network: the sandbox has a proxy of its own, and takes the others away.
var passed = wordsOf(`
	PATH HOME USER LOGNAME SHELL TZ TMPDIR
	LANG LANGUAGE LC_ALL LC_ADDRESS LC_COLLATE LC_CTYPE LC_IDENTIFICATION LC_MEASUREMENT LC_MESSAGES LC_MONETARY LC_NAME
	LC_NUMERIC LC_PAPER LC_TELEPHONE LC_TIME
	XDG_CACHE_HOME XDG_CONFIG_HOME XDG_DATA_HOME XDG_STATE_HOME
	CGO_ENABLED GO111MODULE GOARCH GOBIN GOCACHE GOEXPERIMENT GOFLAGS GOMODCACHE GONOPROXY GONOSUMDB GOOS GOPATH GOPRIVATE GOPROXY
	GOROOT GOSUMDB GOTOOLCHAIN GOWORK
	CARGO_HOME CARGO_TARGET_DIR RUSTUP_HOME RUSTUP_TOOLCHAIN
	ANDROID_HOME ANDROID_SDK_ROOT DOTNET_ROOT GRADLE_USER_HOME JAVA_HOME M2_HOME SDKMAN_DIR
	BUN_INSTALL DENO_DIR DENO_INSTALL FNM_DIR NVM_BIN NVM_DIR PNPM_HOME VOLTA_HOME
	CONDA_DEFAULT_ENV CONDA_PREFIX PIP_CACHE_DIR PIPX_HOME POETRY_HOME PYENV_ROOT PYENV_VERSION UV_CACHE_DIR VIRTUAL_ENV
	ASDF_DATA_DIR ASDF_DIR GEM_HOME MISE_DATA_DIR RBENV_ROOT HOMEBREW_CELLAR HOMEBREW_PREFIX HOMEBREW_REPOSITORY
	CURL_CA_BUNDLE NIX_SSL_CERT_FILE NODE_EXTRA_CA_CERTS REQUESTS_CA_BUNDLE SSL_CERT_DIR SSL_CERT_FILE
	all_proxy ftp_proxy http_proxy https_proxy no_proxy ALL_PROXY FTP_PROXY HTTP_PROXY HTTPS_PROXY NO_PROXY
`)

// wordsOf returns the set of the words of a text.
func wordsOf(text string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(text) {
		set[word] = true
	}
	return set
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
		} else if value, ok = withoutSecrets(name, value); !ok {
			continue
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

// withoutSecrets returns the value of a variable without the logins in its addresses. ok is false if another secret is in it.
func withoutSecrets(name, value string) (clean string, ok bool) {
	if strings.HasSuffix(strings.ToLower(name), "_proxy") || len(secret.All().Find([]byte(value))) == 0 {
		return value, true
	}
	cut, ok := secret.Cut([]byte(value))
	return string(cut), ok && len(cut) > 0
}

// withoutProxyLogins cuts the logins out of the addresses of proxies: a sandbox has a proxy of its own, or no network.
func withoutProxyLogins(env []string) []string {
	for i, entry := range env {
		name, value, _ := strings.Cut(entry, "=")
		if !strings.HasSuffix(strings.ToLower(name), "_proxy") {
			continue
		}
		if cut, ok := secret.Cut([]byte(value)); ok {
			env[i] = name + "=" + string(cut)
		}
	}
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
