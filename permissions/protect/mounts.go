package protect

import (
	"path"
	"slices"
	"strings"

	"toolhost/agenttool"
)

// farTypes are the file systems that may never answer: those of other machines, and those that a program serves.
var farTypes = map[string]bool{
	"nfs": true, "nfs4": true, "cifs": true, "smb3": true, "smbfs": true, "afs": true, "ceph": true, "glusterfs": true,
	"lustre": true, "autofs": true, "fuse": true, "coda": true, "gpfs": true, "orangefs": true, "ocfs2": true,
}

// farIn returns the mount points of such file systems in a mountinfo file, proc_pid_mountinfo(5).
func farIn(mountinfo string) []string {
	var far []string
	for line := range strings.Lines(mountinfo) {
		before, after, ok := strings.Cut(line, " - ")
		fields := strings.Fields(before)
		if !ok || len(fields) < 5 {
			continue
		}
		kind, _, _ := strings.Cut(after, " ")
		if family, _, _ := strings.Cut(kind, "."); farTypes[family] {
			far = append(far, unescapeMount(fields[4]))
		}
	}
	return far
}

// mountPoint is one line of mountinfo: a subtree of a device and its mount point.
type mountPoint struct {
	device, root, at string
	writable         bool // through this mount
}

// mountsIn parses mountinfo, in mount order.
func mountsIn(mountinfo string) []mountPoint {
	var all []mountPoint
	for line := range strings.Lines(mountinfo) {
		if fields := strings.Fields(line); len(fields) >= 6 {
			options := strings.Split(fields[5], ",")
			all = append(all, mountPoint{fields[2], unescapeMount(fields[3]), unescapeMount(fields[4]), slices.Contains(options, "rw")})
		}
	}
	return all
}

// placeOf returns the mount through which a path without links leads, and the path on the mount's device.
func placeOf(file string, mounts []mountPoint) (home mountPoint, place string) {
	for _, m := range mounts {
		if agenttool.Within(m.at, file) && len(m.at) >= len(home.at) {
			home = m
		}
	}
	return home, path.Join(home.root, below(home.at, file))
}

// otherNames returns the other paths under which the directories, or parts of them, are mounted.
func otherNames(dirs []string, mounts []mountPoint) []string {
	var found []string
	for _, dir := range dirs {
		home, place := placeOf(dir, mounts)
		for _, m := range mounts {
			other := ""
			switch {
			case m.device != home.device:
			case agenttool.Within(m.root, place):
				other = path.Join(m.at, below(m.root, place))
			case agenttool.Within(place, m.root):
				other = m.at
			}
			if other != "" && !slices.ContainsFunc(dirs, func(dir string) bool { return agenttool.Within(dir, other) }) {
				found = append(found, other)
			}
		}
	}
	return found
}

// unescapeMount undoes the octal escapes of mountinfo.
func unescapeMount(text string) string {
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(text)
}

func within(dir string) func(string) bool {
	return func(file string) bool { return agenttool.Within(dir, file) }
}
