package sandbox

import (
	"os"
	"path/filepath"
	"testing"
)

// TestReadersSeeTheSystem: besides the workspace a ReadOnly command reads the system, tool chains and what its decision named, and no other
// place of the machine. A Workspace command reads those, too.
func TestReadersSeeTheSystem(t *testing.T) {
	top, err := os.MkdirTemp("/srv", "toolhost-test-")
	if err != nil {
		t.Skipf("a directory in /srv is needed: %v", err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(top) })
	if err := os.Chmod(top, 0o755); err != nil {
		t.Fatal(err)
	}
	plantIn(t, top, "other/file", "ws/file", "tools/bin/file", "tools/lib/file", "real/file", "beside/file")
	if err := os.Symlink(top+"/real", top+"/named"); err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(top, "other")
	for _, level := range []Level{Full, LandlockNotify, Landlock} {
		b := newBench(t, func(o *Options) {
			o.Level = level
			o.Roots, o.Beside = append(o.Roots, top+"/ws"), []string{top + "/beside"}
			o.Readable, o.Show = []string{"/usr", "/bin", "/lib", "/lib64", "/lib32", "/libx32", "/var/lib/dpkg"}, []string{top + "/tools/bin"}
		})
		for _, tt := range []struct {
			name    string
			path    string
			profile Profile
			want    bool
		}{
			{"another repository", other, Profile{Access: ReadOnly}, false},
			{"one that the decision named", other, Profile{Access: ReadOnly, Read: []string{other}}, true},
			{"one below a directory that it named", other, Profile{Access: ReadOnly, Read: []string{"/srv"}}, true},
			{"one beside a file that it named", other, Profile{Access: ReadOnly, Read: []string{top + "/real/file"}}, false},
			{"where the decision said that not all is named", other, Profile{Access: ReadOnly, Elsewhere: true}, true},
			{"to a command that may write", other, Profile{Access: Workspace}, true},
			{"a root", top + "/ws", Profile{Access: ReadOnly}, true},
			{"the rest of the root's repository", top + "/beside", Profile{Access: ReadOnly}, true},
			{"a directory of PATH", top + "/tools/bin", Profile{Access: ReadOnly}, true},
			{"what lies beside it", top + "/tools/lib", Profile{Access: ReadOnly}, true},
			{"behind a link", top + "/named", Profile{Access: ReadOnly}, false},
		} {
			if r := b.runProfile(t, tt.profile, "cat "+tt.path+"/file"); (r.exit == 0) != tt.want || r.err != nil {
				t.Errorf("%s: %s: %v, %s", level, tt.name, r.err, r.out)
			}
		}
		for _, line := range []string{
			"test -x /usr/bin/env", "echo x > /dev/null", "cat /proc/self/status > /dev/null", "cat /etc/passwd > /dev/null", "ls /var/lib > /dev/null", "ls -d /var/tmp > /dev/null", "cd /srv",
			"! test -d /var/lib/dpkg || ls /var/lib/dpkg > /dev/null",
		} {
			if r := b.run(t, ReadOnly, line); r.exit != 0 || r.err != nil {
				t.Errorf("%s: %s: %v, %s", level, line, r.err, r.out)
			}
		}
		if r := b.run(t, ReadOnly, "ls "+top); level == Full && (r.exit != 0 || r.out != "beside\ntools\nws") {
			t.Errorf("beside the root there is %q", r.out)
		}
	}
}

// TestReadersInAHomeElsewhere: where the home lies in a directory that readers do not see, they see the rest of a root's repository in it, and the
// program that go starts for its cache, as commands that write do.
func TestReadersInAHomeElsewhere(t *testing.T) {
	for _, in := range []string{"/srv", "/var/tmp", "/tmp"} {
		top, err := os.MkdirTemp(in, "toolhost-test-")
		if err != nil {
			t.Logf("no home in %s is tried: %v", in, err)
			continue
		}
		t.Cleanup(func() { _ = os.RemoveAll(top) })
		if err := os.Chmod(top, 0o755); err != nil {
			t.Fatal(err)
		}
		plantIn(t, top, "home/mono/root/file", "home/mono/beside", "bin/program")
		b := newBench(t, func(o *Options) {
			o.Roots, o.Beside, o.Home = append(o.Roots, top+"/home/mono/root"), []string{top + "/home/mono"}, top+"/home"
			o.Readable, o.Program = []string{"/usr", "/bin", "/lib", "/lib64", "/lib32", "/libx32"}, top+"/bin/program"
		})
		names := []string{"home/mono/root/file", "home/mono/beside"}
		if in == "/srv" { // commands have directories of their own in the others
			names = append(names, "bin/program")
		}
		for _, access := range []Access{ReadOnly, Workspace} {
			for _, name := range names {
				if r := b.run(t, access, "cat "+top+"/"+name); r.exit != 0 || r.err != nil {
					t.Errorf("%s: %s/%s: %v, %s", access, top, name, r.err, r.out)
				}
			}
		}
	}
}
