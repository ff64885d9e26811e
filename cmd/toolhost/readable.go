package main

import (
	"path/filepath"
	"slices"

	"toolhost/agenttool"
	"toolhost/cmd/toolhost/internal/dirs"
	"toolhost/protect"
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

// readable returns what may be read unasked besides the roots: what the system and the tool chains came with, and what of the
// home directory commands see.
func readable(home string) []string {
	modules, _ := goSettings(home)
	return slices.Concat(systemReadable, protect.NewHome(home).Shown(), toolchains(), []string{modules})
}

// readableNow returns those that are there, without links. What holds the home directory is left out, and so is what a link below
// it leads to elsewhere.
func readableNow(home string) []string {
	var all []string
	own := protect.NewHome(home)
	for _, dir := range readable(home) {
		real := dirs.Real(dir)
		linked := home != "" && real != dir && agenttool.Within(home, dir)
		if !filepath.IsAbs(dir) || linked || agenttool.Within(real, home) || slices.Contains(all, real) || agenttool.Within(home, real) && !own.Harmless(real) {
			continue
		}
		all = append(all, real)
	}
	return all
}
