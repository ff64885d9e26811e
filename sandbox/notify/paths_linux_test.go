package notify

import (
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// pathTests are attempts on names, protected and not. In the steps and paths $ stands for the workspace; PID for the
// number that the process has in the /proc concerned.
var pathTests = []struct {
	name  string
	step  string
	errno unix.Errno
	paths string // of the last attempt; "": the call made none
}{
	{"relative", "open .git/hooks/pre-commit", unix.EPERM, "$/.git/hooks/pre-commit"},
	{"absolute", "open $/.git/hooks/pre-commit", unix.EPERM, "$/.git/hooks/pre-commit"},
	{"slashes and dots", "open .//.git/./hooks///pre-commit", unix.EPERM, "$/.git/hooks/pre-commit"},
	{"through the parent", "open sub/../.git/hooks/pre-commit", unix.EPERM, "$/.git/hooks/pre-commit"},
	{"above the working directory", "open ../seen/.git/hooks/pre-commit", unix.EPERM, "$/.git/hooks/pre-commit"},
	{"parent of a link's target", "open hooks/../hooks/pre-commit", unix.EPERM, "$/.git/hooks/pre-commit"},
	{"through a link", "open hooks/pre-commit", unix.EPERM, "$/.git/hooks/pre-commit"},
	{"through an absolute link", "open absolute/pre-commit", unix.EPERM, "$/.git/hooks/pre-commit"},
	{"through a link that goes up", "open sub/up/hooks/pre-commit", unix.EPERM, "$/.git/hooks/pre-commit"},
	{"from a descriptor", "openat @.git/hooks pre-commit", unix.EPERM, "$/.git/hooks/pre-commit"},
	{"from a descriptor, upwards", "openat @sub/deep ../../hooks/pre-commit", unix.EPERM, "$/.git/hooks/pre-commit"},
	{"upper half of the descriptor set", "highdir .git/hooks/pre-commit", unix.EPERM, "$/.git/hooks/pre-commit"},
	{"a link at the end", "open alias", unix.EPERM, "$/alias $/.git/hooks/pre-commit"},
	{"links at the end", "open chain", unix.EPERM, "$/chain $/sub/middle $/alias $/.git/hooks/pre-commit"},
	{"a link not followed", "nofollow alias", unix.ELOOP, "$/alias"},
	{"a link where a file is to be new", "excl alias", unix.EEXIST, "$/alias"},
	{"from a removed directory", "gone ../../.git/hooks/pre-commit", unix.EPERM, "$/.git/hooks/pre-commit"},
	{"and by its link", "gone /proc/self/cwd/../../hooks/pre-commit", unix.EPERM, "$/.git/hooks/pre-commit"},
	{"at the end of memory", "pageend .git/hooks/pre-commit", unix.EPERM, "$/.git/hooks/pre-commit"},

	{"own directory", "open /proc/self/cwd/.git/hooks/pre-commit", unix.EPERM, "$/.git/hooks/pre-commit"},
	{"own thread's", "open /proc/thread-self/cwd/.git/hooks/pre-commit", unix.EPERM, "$/.git/hooks/pre-commit"},
	{"own root", "open /proc/self/root/$/.git/hooks/pre-commit", unix.EPERM, "$/.git/hooks/pre-commit"},
	{"a link to own directory", "open out/pre-commit", unix.EPERM, "$/.git/hooks/pre-commit"},
	{"below own descriptor", "procfdcreate @.git/hooks /proc/self/fd pre-commit", unix.EPERM, "$/.git/hooks/pre-commit"},
	{"below /dev/fd", "procfdcreate @.git/hooks /dev/fd pre-commit", unix.EPERM, "$/.git/hooks/pre-commit"},
	{"own descriptor again", "procfd @.git/config /proc/self/fd", unix.EPERM, "/proc/PID/fd/N $/.git/config"},
	{"by /dev/fd", "procfd @.git/config /dev/fd", unix.EPERM, "/proc/PID/fd/N $/.git/config"},
	{"by the thread's", "procfd @.git/config /proc/thread-self/fd", unix.EPERM, "/proc/PID/task/PID/fd/N $/.git/config"},
	{"a pipe of one's own", "pipe", 0, "/proc/PID/fd/N"},

	{"move over", "rename file .git/config", unix.EPERM, "$/file $/.git/config"},
	{"move into place", "rename file hooks/pre-commit", unix.EPERM, "$/file $/.git/hooks/pre-commit"},
	{"move away", "rename .git/config sub/x", unix.EPERM, "$/.git/config $/sub/x"},
	{"swap", "exchange file .git/config", unix.EPERM, "$/file $/.git/config"},
	{"link to", "link .git/config sub/x", unix.EPERM, "$/.git/config $/sub/x"},
	{"link as", "link file .git/hooks/pre-commit", unix.EPERM, "$/file $/.git/hooks/pre-commit"},
	{"name for a nameless file", "adopt .git/hooks/pre-commit", unix.EPERM, "/proc/PID/fd/N NAMELESS $/.git/hooks/pre-commit"},
	{"symbolic link", "symlink file .husky", unix.EPERM, "$/.husky"},
	{"directory", "mkdir .husky", unix.EPERM, "$/.husky"},
	{"directory with a slash", "mkdir .husky/", unix.EPERM, "$/.husky"},
	{"pipe", "fifo .husky", unix.EPERM, "$/.husky"},
	{"remove", "unlink .git/config", unix.EPERM, "$/.git/config"},
	{"truncate", "truncate sub/up/config", unix.EPERM, "$/.git/config"},

	{"write", "write file", 0, "$/file"},
	{"read", "read .git/config", 0, ""},
	{"new file", "open sub/new", 0, "$/sub/new"},
	{"new directory", "mkdir sub/dir", 0, "$/sub/dir"},
	{"move", "rename sub/new sub/dir/new", 0, "$/sub/new $/sub/dir/new"},
	{"look-alike", "open .git/hooks/pre-commit.sample", 0, "$/.git/hooks/pre-commit.sample"},
	{"device", "write /dev/null", 0, "/dev/null"},
	{"device by link", "write /proc/self/root/dev/null", 0, "/dev/null"},
	{"root", "mkdir /", unix.EEXIST, "/"},
	{"parent", "mkdir sub/..", unix.EEXIST, "$"},
	{"above the root", "mkdir /../..", unix.EEXIST, "/"},
	{"link with a slash to nothing", "open sub/slash", unix.EPERM, "$/sub/slash $/.husky"},
}

// causeTests are names that cannot be resolved.
var causeTests = []struct {
	name  string
	step  string
	errno unix.Errno
}{
	{"no parent", "open no/such/file", unix.ENOENT},
	{"no parent behind a link", "open nowhere/file", unix.ENOENT},
	{"a file as parent", "open file/x", unix.ENOTDIR},
	{"a file as directory", "openat @file x", unix.ENOTDIR},
	{"links in a ring", "open loop/x", unix.ELOOP},
	{"links in a ring at the end", "open loop", unix.ELOOP},
	{"too long", "long", unix.ENAMETOOLONG},
	{"too long over many pages", "pageopen file", unix.ENAMETOOLONG},
	{"too long a component", "longname", unix.ENAMETOOLONG},
	{"no memory there", "nowhere", unix.EFAULT},
}

// attributeTests need a filter without namespaces.
var attributeTests = []struct {
	name  string
	step  string
	errno unix.Errno
	paths string
}{
	{"mode", "chmod .git/config", unix.EPERM, "$/.git/config"},
	{"mode through a link", "chmod sub/up/config", unix.EPERM, "$/.git/config"},
	{"mode by descriptor", "fchmod @.git/config", unix.EPERM, "$/.git/config"},
	{"mode of another", "chmod file", 0, "$/file"},
	{"owner by descriptor and no name", "fchown @.git/config", unix.EPERM, "$/.git/config"},
	{"times by descriptor", "futimens @.git/config", unix.EPERM, "$/.git/config"},
	{"times of a link", "lutimes alias", 0, "$/alias"},
	{"attribute", "setxattr .git/config", unix.EPERM, "$/.git/config"},
	{"attribute by descriptor", "fsetxattr @.git/config", unix.EPERM, "$/.git/config"},
	{"own directory, own thread", "ownCwd", unix.EPERM, "$/.git/hooks/pre-commit"},
}

func TestPaths(t *testing.T) {
	for _, mode := range []string{shared, separate} {
		t.Run(mode, func(t *testing.T) {
			var s *supervised
			s = start(t, mode, guard(func() string { return s.dir }))
			defer s.end()
			for _, test := range pathTests {
				t.Run(test.name, func(t *testing.T) { s.check(t, test.step, test.errno, test.paths) })
			}
			for _, test := range causeTests {
				t.Run(test.name, func(t *testing.T) {
					errno, attempts := s.do(test.step)
					if errno != test.errno || len(attempts) != 0 {
						t.Errorf("got %v, %+v; want %v, unasked", errno, attempts, test.errno)
					}
				})
			}
			if mode == separate {
				return
			}
			for _, test := range attributeTests {
				t.Run(test.name, func(t *testing.T) { s.check(t, test.step, test.errno, test.paths) })
			}
		})
	}
}

func (s *supervised) check(t *testing.T, step string, want unix.Errno, paths string) {
	t.Helper()
	errno, attempts := s.do(step)
	if errno != want {
		t.Errorf("got error %d (%v), want %d", errno, errno, want)
	}
	if len(attempts) == 0 {
		if paths != "" {
			t.Error("no attempt")
		}
		return
	}
	a := attempts[len(attempts)-1]
	if !s.same(a.Paths, strings.Fields(paths)) {
		t.Errorf("got %s %q; want %s", a.Call, a.Paths, strings.ReplaceAll(paths, "$", s.dir))
	}
}

// same compares paths, with numbers of processes and descriptors left open.
func (s *supervised) same(got, want []string) bool {
	return slices.EqualFunc(got, want, func(g, w string) bool {
		if w == "NAMELESS" {
			return strings.HasPrefix(g, s.dir+"/#") && strings.HasSuffix(g, " (deleted)")
		}
		if !strings.HasPrefix(w, "/proc/") {
			return g == strings.ReplaceAll(w, "$", s.dir)
		}
		return slices.EqualFunc(strings.Split(g, "/"), strings.Split(w, "/"), func(g, w string) bool {
			return g == w || w == "PID" || w == "N"
		})
	})
}
