package confine

import (
	"bufio"
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"toolhost/agenttool/secret"
	"toolhost/cmd/toolhost/internal/dirs"
	"toolhost/permissions/protect/config"
)

// installed are the directories of tool chains, and that of this program.
func installed() []string {
	dirs := toolchains()
	if exe, err := os.Executable(); err == nil {
		dirs = append(dirs, filepath.Dir(exe))
	}
	return dirs
}

// toolchains are the directories that the environment names and that hold nothing else.
func toolchains() []string {
	var dirs []string
	for _, name := range []string{"GOROOT", "VIRTUAL_ENV", "CONDA_PREFIX", "NVM_DIR", "PYENV_ROOT", "RUSTUP_HOME", "JAVA_HOME", "GEM_HOME"} {
		if dir := os.Getenv(name); filepath.IsAbs(dir) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// goSettings are the person's module cache and proxies. Asking go itself takes as long as making a sandbox.
func goSettings(home string) (modCache, proxy string) {
	value := goVariables(home)
	modCache, proxy = value("GOMODCACHE"), value("GOPROXY")
	if modCache == "" {
		modCache = filepath.Join(goPath(home), "pkg", "mod")
	}
	if proxy == "" {
		proxy = distributedProxy()
	}
	if without, cut := secret.Cut([]byte(proxy)); cut { // commands of a sandbox get no logins
		proxy = string(without)
	}
	return modCache, proxy
}

// goPath is the first directory of GOPATH. Below it go keeps what it knows of the checksum database, and finds no other place for that.
func goPath(home string) string {
	path, _, _ := strings.Cut(goVariables(home)("GOPATH"), string(filepath.ListSeparator))
	return cmp.Or(path, filepath.Join(home, "go"))
}

// goCache is the person's build cache.
func goCache(home string) string {
	if dir := goVariables(home)("GOCACHE"); dir != "" {
		return dir
	}
	if dir := os.Getenv("XDG_CACHE_HOME"); dir != "" {
		return filepath.Join(dir, "go-build")
	}
	return filepath.Join(home, ".cache", "go-build")
}

// goVariables returns a lookup in the environment, then in the file that `go env -w` writes.
func goVariables(home string) func(name string) string {
	file := os.Getenv("GOENV")
	if config := dirs.Absolute("XDG_CONFIG_HOME"); file == "" && config != "" {
		file = filepath.Join(config, "go", "env")
	} else if file == "" {
		file = filepath.Join(home, ".config", "go", "env")
	}
	return func(name string) string {
		if value := os.Getenv(name); value != "" || file == "off" {
			return value
		}
		return config.WithoutLogins(goFileVariable(file, name)) // commands do not see those of the file
	}
}

// goFileVariable returns the value of a variable in a configuration file of go. It is empty where the file has none.
func goFileVariable(file, name string) string {
	f, err := os.Open(file)
	if err != nil {
		return ""
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if value, ok := strings.CutPrefix(lines.Text(), name+"="); ok {
			return value
		}
	}
	return ""
}

// distributedProxy is GOPROXY as the installed go sets it.
func distributedProxy() string {
	const otherwise = "direct"
	program, err := exec.LookPath("go")
	if err == nil {
		program, err = filepath.EvalSymlinks(program)
	}
	if err != nil {
		return otherwise
	}
	return cmp.Or(goFileVariable(filepath.Join(filepath.Dir(filepath.Dir(program)), "go.env"), "GOPROXY"), otherwise)
}
