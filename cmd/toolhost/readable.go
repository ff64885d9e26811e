package main

import (
	"path/filepath"
	"slices"

	"toolhost/agenttool"
)

// systemReadable are directories and files of the system that say nothing about the person: programs, libraries, headers,
// manuals, and the configuration that every user may read. What of /etc holds keys is not among them.
var systemReadable = []string{
	"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix/store", "/snap",
	"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom",
	"/etc/os-release", "/etc/lsb-release", "/etc/debian_version", "/etc/redhat-release", "/etc/issue", "/etc/hostname", "/etc/hosts",
	"/etc/resolv.conf", "/etc/nsswitch.conf", "/etc/protocols", "/etc/services", "/etc/shells", "/etc/localtime", "/etc/timezone",
	"/etc/profile", "/etc/bash.bashrc", "/etc/environment", "/etc/alternatives", "/etc/ssl/certs", "/etc/ca-certificates",
	"/etc/apt/sources.list", "/etc/apt/sources.list.d", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/gitconfig", "/etc/mime.types",
	"/proc/cpuinfo", "/proc/meminfo", "/proc/version", "/proc/loadavg", "/proc/uptime", "/proc/stat", "/proc/filesystems",
	"/proc/sys/kernel", "/sys/devices/system/cpu", "/sys/fs/cgroup", "/var/lib/dpkg",
}

// homeReadable are directories below the home directory that tool chains and package managers keep what they downloaded in.
var homeReadable = []string{
	"go/pkg/mod", ".cargo/registry", ".cargo/git", ".rustup/toolchains", ".m2/repository", ".gradle/caches", ".nuget/packages", ".npm/_cacache",
	".nvm/versions", ".pyenv/versions", ".rbenv/versions", ".local/lib", ".local/share/pnpm", ".bun/install", ".deno", ".sdkman/candidates",
	".asdf/installs", ".local/share/mise/installs", ".local/share/uv", ".cache/uv", ".cache/pip", ".cache/go-build",
}

// readable returns what may be read unasked besides the roots: what the system and the tool chains came with.
func readable(home string) []string {
	dirs := slices.Clone(systemReadable)
	if home != "" {
		for _, dir := range homeReadable {
			dirs = append(dirs, filepath.Join(home, dir))
		}
	}
	modules, _ := goSettings(home)
	return append(append(dirs, toolchains()...), modules)
}

// readableNow returns those that are there, without links. What holds the home directory is left out, and so is what a link below
// it leads to elsewhere.
func readableNow(home string) []string {
	var dirs []string
	for _, dir := range readable(home) {
		real := realPath(dir)
		linked := home != "" && real != dir && agenttool.Within(home, dir)
		if !filepath.IsAbs(dir) || linked || agenttool.Within(real, home) || slices.Contains(dirs, real) {
			continue
		}
		dirs = append(dirs, real)
	}
	return dirs
}
