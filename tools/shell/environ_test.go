package shell

import (
	"slices"
	"strings"
	"testing"
)

func TestEnviron(t *testing.T) {
	tests := []struct {
		name string
		host []string
		want []string // present
		not  []string // names that are absent
	}{
		{"the usual", []string{"HOME=/home/a", "LANG=de_DE.UTF-8", "LC_ALL=C", "TZ=UTC", "GOPATH=/go"},
			[]string{"HOME=/home/a", "LANG=de_DE.UTF-8", "LC_ALL=C", "TZ=UTC", "GOPATH=/go"}, nil},
		{"proxies, with what the person put in them", []string{"https_proxy=http://u:p@h:1", "NO_PROXY=localhost"},
			[]string{"https_proxy=http://u:p@h:1", "NO_PROXY=localhost"}, nil},
		{"logins in addresses", []string{"GOPROXY=https://me:Tr0ub4dor-and-3@goproxy.example,direct", "GOFLAGS=-mod=mod", "GOPRIVATE=h.example/*"},
			[]string{"GOPROXY=https://goproxy.example,direct", "GOFLAGS=-mod=mod", "GOPRIVATE=h.example/*"}, nil},
		{"values that are secrets", []string{"GOFLAGS=-ldflags=-X=main.token=ghp_" + "q7Kx2mPz9LbV4tRw8NcY1sHd6FgJ3aQe5UiX"}, nil, []string{"GOFLAGS"}},
		{"secrets", []string{"GITHUB_TOKEN=x", "AWS_SECRET_ACCESS_KEY=x", "API_KEY=x", "DB_PASSWORD=x", "NPM_TOKEN=x",
			"GOOGLE_APPLICATION_CREDENTIALS=x", "LC_API_KEY=x", "XDG_TOKEN=x", "SSH_AUTH_SOCK=x"}, nil,
			[]string{"GITHUB_TOKEN", "AWS_SECRET_ACCESS_KEY", "API_KEY", "DB_PASSWORD", "NPM_TOKEN",
				"GOOGLE_APPLICATION_CREDENTIALS", "LC_API_KEY", "XDG_TOKEN", "SSH_AUTH_SOCK"}},
		{"code that shells and readers run", []string{"BASH_ENV=/x", "ENV=/x", "BASH_FUNC_ls%%=() { x; }", "PS4=$(x)",
			"PROMPT_COMMAND=x", "SHELLOPTS=xtrace", "BASHOPTS=expand_aliases", "GIT_EXTERNAL_DIFF=x", "GIT_SSH_COMMAND=x",
			"LESSOPEN=|x", "LD_PRELOAD=/x", "DYLD_INSERT_LIBRARIES=/x", "TAR_OPTIONS=x", "RIPGREP_CONFIG_PATH=x",
			"GREP_OPTIONS=x", "PYTHONSTARTUP=x", "PERL5OPT=x", "RUBYOPT=x", "NODE_OPTIONS=x", "JAVA_TOOL_OPTIONS=x"}, nil,
			[]string{"BASH_ENV", "ENV", "BASH_FUNC_ls%%", "PS4", "PROMPT_COMMAND", "SHELLOPTS", "BASHOPTS",
				"GIT_EXTERNAL_DIFF", "GIT_SSH_COMMAND", "LESSOPEN", "LD_PRELOAD", "DYLD_INSERT_LIBRARIES", "TAR_OPTIONS",
				"RIPGREP_CONFIG_PATH", "GREP_OPTIONS", "PYTHONSTARTUP", "PERL5OPT", "RUBYOPT", "NODE_OPTIONS",
				"JAVA_TOOL_OPTIONS"}},
		{"search paths of code", []string{"PYTHONPATH=.", "NODE_PATH=.", "CDPATH=..", "CLASSPATH=."}, nil,
			[]string{"PYTHONPATH", "NODE_PATH", "CDPATH", "CLASSPATH"}},
		{"names are exact", []string{"path=/x", "Path=/x", "HOMEX=/x"}, nil, []string{"path", "Path", "HOMEX"}},
		{"nobody pages, edits or answers", []string{"PAGER=less", "EDITOR=vi", "TERM=xterm", "GIT_PAGER=delta", "PWD=/x"},
			[]string{"PAGER=cat", "EDITOR=false", "TERM=dumb", "GIT_PAGER=cat", "GIT_OPTIONAL_LOCKS=0",
				"GIT_TERMINAL_PROMPT=0", "DEBIAN_FRONTEND=noninteractive", "PWD=/ws"}, nil},
		{"the first of two counts", []string{"HOME=/a", "HOME=/b"}, []string{"HOME=/a"}, nil},
		{"relative PATH entries go", []string{"PATH=.:/bin::node_modules/.bin:/usr/bin:"},
			[]string{"PATH=/bin:/usr/bin"}, nil},
		{"a PATH of relative entries is none", []string{"PATH=.:bin"}, []string{"PATH=" + defaultPath}, nil},
		{"no PATH", nil, []string{"PATH=" + defaultPath}, nil},
		{"not a variable", []string{"HOME", "=x", ""}, nil, []string{"HOME", ""}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := Environ(tt.host, "/ws")
			for _, entry := range tt.want {
				if !slices.Contains(got, entry) {
					t.Errorf("%s is missing in %q", entry, got)
				}
			}
			for _, name := range tt.not {
				if slices.ContainsFunc(got, func(e string) bool { return strings.HasPrefix(e, name+"=") }) {
					t.Errorf("%s is in %q", name, got)
				}
			}
		})
	}
}

// What comes out has every name once and no name but the known ones, whatever goes in.
func FuzzEnviron(f *testing.F) {
	f.Add("PATH=/bin", "HOME=/a", "/ws")
	f.Add("GIT_DIR=/x", "PWD=/x", "/a b")
	f.Add("PATH=", "TERM=x", "/")
	f.Fuzz(func(t *testing.T, a, b, dir string) {
		seen := map[string]bool{}
		for _, entry := range Environ([]string{a, b}, dir) {
			name, _, _ := strings.Cut(entry, "=")
			own := slices.ContainsFunc(fixed, func(e string) bool { return strings.HasPrefix(e, name+"=") })
			if seen[name] || !passed[name] && !own && name != "PWD" {
				t.Errorf("%q from %q, %q", entry, a, b)
			}
			seen[name] = true
		}
	})
}

// The list itself holds no name that looks like a secret or makes programs run code.
func TestPassedNames(t *testing.T) {
	for name := range passed {
		for _, part := range []string{"KEY", "TOKEN", "SECRET", "PASSW", "CREDENTIAL", "AUTH", "GIT_", "LD_", "BASH",
			"OPTIONS"} {
			if strings.Contains(name, part) {
				t.Errorf("%s is passed", name)
			}
		}
		if slices.ContainsFunc(fixed, func(e string) bool { return strings.HasPrefix(e, name+"=") }) {
			t.Errorf("%s is passed and fixed", name)
		}
	}
}

// TestReadingOnlyEnvironment: a command that was proved to read only gets what keeps it so, and no name twice.
func TestReadingOnlyEnvironment(t *testing.T) {
	b := newBench(t, Options{Environ: []string{"PATH=/usr/bin:/bin", "GOTOOLCHAIN=auto", "HOME=/nowhere"}})
	for command, want := range map[string]string{
		`printenv GOTOOLCHAIN GIT_ALLOW_PROTOCOL`: "local\nnone\n",
		`printenv GOTOOLCHAIN; touch made`:        "auto\n",
	} {
		if r := b.run(t, cmd(command)); r.Stdout != want {
			t.Errorf("%s prints %q, want %q", command, r.Stdout, want)
		}
	}
}
