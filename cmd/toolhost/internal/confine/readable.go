package confine

import (
	"os"
	"path/filepath"
	"slices"

	"toolhost/agenttool"
	"toolhost/cmd/toolhost/internal/dirs"
	"toolhost/permissions/protect"
	"toolhost/permissions/protect/config"
)

// systemReadable are directories and files of the system that say nothing about the person: programs, libraries, headers,
// manuals, and the configuration that every user may read. Files of /etc that hold keys are not among them.
var systemReadable = []string{
	"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix/store", "/snap",
	"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom",
	"/etc/os-release", "/etc/lsb-release", "/etc/debian_version", "/etc/redhat-release", "/etc/issue", "/etc/hostname", "/etc/hosts",
	"/etc/resolv.conf", "/etc/nsswitch.conf", "/etc/protocols", "/etc/services", "/etc/shells", "/etc/localtime", "/etc/timezone",
	"/etc/passwd", "/etc/group", "/etc/networks", "/etc/host.conf", "/etc/gai.conf", "/etc/rpc", "/etc/magic", "/etc/login.defs", "/etc/inputrc",
	"/etc/locale.conf", "/etc/default/locale", "/etc/motd", "/etc/arch-release", "/etc/alpine-release", "/etc/fedora-release", "/etc/system-release",
	"/etc/profile", "/etc/bash.bashrc", "/etc/environment", "/etc/alternatives", "/etc/ssl/certs", "/etc/ca-certificates",
	"/etc/apt/sources.list", "/etc/apt/sources.list.d", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/gitconfig", "/etc/mime.types",
	"/proc/cpuinfo", "/proc/meminfo", "/proc/version", "/proc/loadavg", "/proc/uptime", "/proc/stat", "/proc/filesystems",
	"/proc/swaps", "/proc/diskstats", "/proc/partitions", "/proc/devices", "/proc/vmstat", "/proc/cgroups", "/proc/pressure",
	"/proc/sys/kernel", "/proc/sys/vm", "/proc/sys/fs", "/proc/sys/net", "/sys/devices/system/cpu", "/sys/fs/cgroup",
	"/var/lib/dpkg", "/var/lib/apt", "/var/lib/rpm", "/var/lib/pacman", "/var/lib/extrausers", "/var/lib/usbutils", "/var/lib/locales", "/var/log/wtmp",
	"/var/cache/apt", "/var/cache/man", "/var/cache/fontconfig", "/var/cache/ldconfig",
}

// candidates are the names that Readable chooses from. They may not exist, and may be links.
func candidates(home string, roots []string) []string {
	modules, _ := goSettings(home)
	return slices.Concat(systemReadable, protect.NewHome(home).Shown(), wholeConfig(home, roots), toolchains(), []string{modules})
}

// wholeConfig are the files of configuration in which nothing is left out for commands.
func wholeConfig(home string, roots []string) (files []string) {
	own := protect.NewHome(home)
	for _, f := range configOf(own, roots).Read().Files {
		if f.Whole && own.Harmless(f.Path) {
			files = append(files, f.Path)
		}
	}
	return files
}

// ConfigNotes says what commands do not see of the configuration of this user's home, and what matters to programs.
func ConfigNotes() (notes []string) {
	home, err := os.UserHomeDir()
	if err != nil {
		return nil
	}
	for _, f := range configOf(protect.NewHome(home), nil).Read().Files {
		if note := f.Note(); note != "" {
			notes = append(notes, note)
		}
	}
	return notes
}

// configOf reads the configuration of a home directory for commands that write in roots.
func configOf(home protect.Home, roots []string) config.Reader {
	return config.Reader{Home: home, Config: dirs.Absolute("XDG_CONFIG_HOME"), Writable: roots}
}

// Readable are the files and directories besides the roots that may be read unasked: those of the system and the tool chains, and the
// ones of the home directory that commands see. They exist and have no links. A directory that holds the home directory is left out,
// and so is the target of a link below it.
func Readable(home string, roots []string) []string {
	var all []string
	own := protect.NewHome(home)
	for _, dir := range candidates(home, roots) {
		real := dirs.Real(dir)
		linked := home != "" && real != dir && agenttool.Within(home, dir)
		if !filepath.IsAbs(dir) || linked || agenttool.Within(real, home) || slices.Contains(all, real) || agenttool.Within(home, real) && !own.Harmless(real) {
			continue
		}
		all = append(all, real)
	}
	return all
}
