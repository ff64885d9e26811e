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

// unescapeMount undoes the octal escapes of mountinfo.
func unescapeMount(text string) string {
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(text)
}

// isFar says whether asking for the path may wait for somebody else, unless a root lies in the same place: the person
// works there, and waits anyway.
func (b *builder) isFar(file string) bool {
	file = path.Clean(file)
	for _, mount := range b.far {
		if agenttool.Within(mount, file) && !slices.ContainsFunc(b.tree.roots, within(mount)) {
			return true
		}
	}
	return false
}

func within(dir string) func(string) bool {
	return func(file string) bool { return agenttool.Within(dir, file) }
}
