package program

import (
	"slices"
	"strings"
)

// VariableNamesCode says why a program that runs with this variable set may run code which the variable names: a program, a file, text or
// options. It is "" if the value can be none of those, or is known not to be. A plain word may still be the name of a program.
func VariableNamesCode(name string, value Word) string {
	if HarmlessEnvironment(name, value) {
		return ""
	}
	switch {
	case !value.Static:
		if value.Number || dataVariable(name) {
			return ""
		}
		return "what the variable " + name + " holds is not known, and may be code"
	case dataVariable(name), value.Text == "", Digits(value.Text), settledValue(name, value.Text):
		return ""
	case codeVariable(name):
		return "the variable " + name + " names code or a program"
	case isAddress(value.Text):
		return ""
	case len(value.Text) == 2 && value.Text[0] == '-' && value.Text[1]|0x20 >= 'a' && value.Text[1]|0x20 <= 'z':
		return "" // one letter, as in ARGS=-v
	case !plainText(value.Text), strings.HasPrefix(value.Text, "-"):
		return "the variable " + name + " may hold code or options: " + value.Text
	case outside(value.Text):
		return "the variable " + name + " holds a path outside the project, which may be code: " + value.Text
	}
	return ""
}

// dataVariables are read as data by all that read them.
var dataVariables = WordSet(`ACCEPT_EULA AWS_DEFAULT_REGION AWS_PROFILE AWS_REGION BABEL_ENV BUILDKIT_PROGRESS CARGO_INCREMENTAL CARGO_TERM_COLOR CI
	CMAKE_BUILD_TYPE CMAKE_INSTALL_PREFIX CMAKE_EXPORT_COMPILE_COMMANDS CMAKE_CXX_STANDARD CMAKE_C_STANDARD CMAKE_VERBOSE_MAKEFILE
	CMAKE_POSITION_INDEPENDENT_CODE CMAKE_PREFIX_PATH COLUMNS PREFIX DEBCONF_NONINTERACTIVE_SEEN DEBIAN_FRONTEND DEBUG DESTDIR DISPLAY DJANGO_DEBUG DOCKER_BUILDKIT ENVIRONMENT FORCE_COLOR FLASK_DEBUG
	FLASK_ENV GIN_MODE GIT_AUTHOR_DATE GIT_AUTHOR_EMAIL GIT_AUTHOR_NAME GIT_COMMITTER_DATE GIT_COMMITTER_EMAIL GIT_COMMITTER_NAME
	GIT_TERMINAL_PROMPT GOARCH GOGC GOMAXPROCS GOMEMLIMIT GOOS GOTRACEBACK HOST LINES LOG_LEVEL LOGLEVEL NODE_ENV NO_COLOR
	NEXT_TELEMETRY_DISABLED PGDATABASE PGHOST PGPASSWORD PGPORT PGUSER PIP_DISABLE_PIP_VERSION_CHECK PORT PYTHONDONTWRITEBYTECODE
	PYTHONHASHSEED PYTHONUNBUFFERED PYTHONUTF8 RAILS_ENV RACK_ENV RUST_BACKTRACE RUST_LOG RUST_TEST_THREADS SECRET_KEY SOURCE_DATE_EPOCH
	TEMP TMP TMPDIR TEST_DATABASE_URL DATABASE_URL REDIS_URL TF_IN_AUTOMATION UPDATE_SNAPSHOTS VERBOSE VERSION XDEBUG_MODE`)

func dataVariable(name string) bool { return dataVariables[name] }

// commandVariables hold a program, or a command line, that runs where they are read.
var commandVariables = WordSet(`AR AS BROWSER CARGO CC COMSPEC CPP CXX FC LD LESSCLOSE LESSOPEN MAKE MAKESHELL NM OBJCOPY PREFIX_CMD
	PS0 PS1 PS2 PS4 RANLIB RUBYSHELL RUSTC RUSTDOC SHELL STRIP VISUAL WINDRES GIT_EXTERNAL_DIFF GIT_SSH`)

// CommandVariable reports whether what a variable holds is run by programs that read it, or by the shell.
func CommandVariable(name string) bool {
	return commandVariables[name] || strings.HasPrefix(name, "GIT_CONFIG_VALUE_") || endsIn(name, "EDITOR", "PAGER", "COMMAND", "Command", "ASKPASS",
		"_WRAPPER", "_CMD", "_PROGRAM", "_EXE", "_EXEC", "_EXECUTABLE", "_BIN", "_BINARY", "_SHELL", "_BROWSER", "_RSH", "_SSH", "_RUNNER",
		"_LAUNCHER", "_LINKER", "_COMPILER")
}

func endsIn(name string, ends ...string) bool {
	return slices.ContainsFunc(ends, func(end string) bool { return strings.HasSuffix(name, end) })
}

// codeVariables name files with code, directories where code is looked for, or options of programs.
var codeVariables = WordSet(`BASH_ENV BUN_CONFIG BUN_INSTALL CDPATH CLASSPATH DYLD_INSERT_LIBRARIES ENV GCC_EXEC_PREFIX GOENV
	GOROOT GOPATH GOWORK GRADLE_OPTS GRADLE_USER_HOME HOME INPUTRC IFS INIT_FILE JAVA_HOME JDK_JAVA_OPTIONS LESS LESSKEY LESSKEYIN
	LIBTOOL LOCPATH LUA_INIT LUA_PATH LUA_CPATH M4 M4PATH MAIL MAILPATH MAKEFILES MAKEFLAGS MANOPT MAVEN_OPTS MAVEN_ARGS MORE NLSPATH
	NODE_OPTIONS NODE_PATH OPENSSL_CONF OPENSSL_ENGINES PATH PATHEXT PERL5DB PERL5LIB PERL5OPT PERLLIB PHPRC PHP_INI_SCAN_DIR
	PIPENV_PIPFILE POSIXLY_CORRECT PSQLRC PYTEST_ADDOPTS PYTEST_PLUGINS PYTHONBREAKPOINT PYTHONHOME PYTHONINSPECT PYTHONPATH
	PYTHONSTARTUP PYTHONEXECUTABLE PYTHONUSERBASE RIPGREP_CONFIG_PATH RUBYLIB RUBYOPT RUSTFLAGS RUSTDOCFLAGS SHELLOPTS BASHOPTS
	TAR_OPTIONS TCLLIBPATH TERMCAP TERMINFO VIMINIT EXINIT MYVIMRC VIM VIMRUNTIME XDG_CONFIG_DIRS XDG_CONFIG_HOME XDG_DATA_DIRS
	XDG_DATA_HOME XINITRC ZDOTDIR _JAVA_OPTIONS JAVA_TOOL_OPTIONS`)

// codeVariable reports whether a variable is one of those, by its name or by how it begins or ends.
func codeVariable(name string) bool {
	name = strings.ReplaceAll(strings.ToUpper(name), ".", "_")
	if codeVariables[name] || CommandVariable(name) {
		return true
	}
	for _, begins := range []string{"LD_", "DYLD_", "BASH_FUNC", "GIT_", "NPM_CONFIG_", "YARN_", "PNPM_", "PIP_", "UV_", "BUNDLE_", "GEM_", "CARGO_",
		"RUSTC_", "RUSTUP_", "CMAKE_", "GCONV_", "MALLOC_", "OMPI_", "TOX_", "NOX_", "DOCKER_", "KUBE", "HELM_", "TF_CLI", "TF_REATTACH", "ANSIBLE_", "COVERAGE_",
		"PYTHONW", "MIX_", "ERL_", "ELIXIR_", "JULIA_", "R_", "PERL", "QT_", "GTK_", "GIO_", "GST_", "VIM"} {
		if strings.HasPrefix(name, begins) {
			return true
		}
	}
	return endsIn(name, "_PRELOAD", "_STARTUP", "_RC", "_HOOK", "_HOOKS", "_SCRIPT", "_PLUGIN", "_PLUGINS", "_LOADER", "_INIT", "_OPTS", "_OPTIONS",
		"_ADDOPTS", "_ARGS", "_PATH", "_TOOL", "_HELPER", "_PROXY", "FLAGS", "_HOME", "_ENV_FILE", "_CONFIG", "_CONFIG_FILE")
}

// settledValue reports whether a variable that could name code has a value which is known not to.
func settledValue(name, value string) bool {
	words := strings.Fields(value)
	within := func(known Words) bool {
		for _, word := range words {
			if !known[word] {
				return false
			}
		}
		return true
	}
	switch name {
	case "GOFLAGS":
		return within(goHarmlessFlags)
	case "NODE_OPTIONS":
		rest, ok := strings.CutPrefix(value, "--max-old-space-size=")
		return ok && Digits(rest) || within(nodeHarmlessFlags)
	case "RUSTFLAGS", "RUSTDOCFLAGS":
		return within(rustHarmlessFlags)
	case "CC", "CXX", "FC", "LD", "AR", "CPP", "CMAKE_C_COMPILER", "CMAKE_CXX_COMPILER":
		return within(compilers)
	case "CFLAGS", "CXXFLAGS", "CPPFLAGS":
		return within(compilerFlags)
	case "MAKEFLAGS":
		rest, ok := strings.CutPrefix(value, "-j")
		return ok && (rest == "" || Digits(rest))
	case "PYTHONPATH", "NODE_PATH":
		return !outside(value) && plainText(value) // directories of the project
	case "PYTHONWARNINGS":
		return within(pythonWarnings)
	case "PAGER", "GIT_PAGER", "MANPAGER", "GIT_EDITOR":
		return value == "cat" || value == "true" || value == ":"
	case "SHELL":
		return plainShells[strings.TrimPrefix(value, "/bin/")]
	case "CARGO_TARGET_DIR", "CARGO_BUILD_JOBS", "CARGO_NET_OFFLINE", "CARGO_PROFILE_RELEASE_DEBUG":
		return plainText(value) && !outside(value)
	}
	return false
}

var (
	goHarmlessFlags   = WordSet("-mod=mod -mod=vendor -mod=readonly -race -v -count=1 -short -trimpath -buildvcs=false -buildvcs=auto -p=1 -failfast -json")
	nodeHarmlessFlags = WordSet("--experimental-vm-modules --no-warnings --trace-warnings --enable-source-maps --unhandled-rejections=strict --preserve-symlinks")
	rustHarmlessFlags = WordSet("-D -W -A warnings -Dwarnings -Awarnings -C opt-level=0 opt-level=3 debuginfo=0 target-cpu=native unsafe_code")
	compilers         = WordSet(`gcc g++ cc c++ clang clang++ c99 gfortran ld ld.lld lld mold gold bfd ar gcc-ar llvm-ar cpp musl-gcc x86_64-linux-gnu-gcc
		aarch64-linux-gnu-gcc arm-linux-gnueabihf-gcc nvcc icc ccache sccache`)
	compilerFlags  = WordSet("-g -O -O0 -O1 -O2 -O3 -Os -Og -Wall -Wextra -Werror -pedantic -fPIC -fsanitize=address -fsanitize=undefined -std=c99 -std=c11 -std=c17 -std=c++17 -std=c++20 -pipe -DNDEBUG")
	pythonWarnings = WordSet("ignore error always default module once")
)

// isAddress reports whether a text is an address that a program connects to.
func isAddress(text string) bool {
	for _, scheme := range []string{"http://", "https://", "postgres://", "postgresql://", "mysql://", "redis://", "mongodb://", "amqp://", "sqlite://", "nats://"} {
		if strings.HasPrefix(text, scheme) {
			return plainText(strings.NewReplacer("&", "", "!", "", "$", "").Replace(text))
		}
	}
	return false
}
