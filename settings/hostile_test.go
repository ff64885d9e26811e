package settings

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"toolhost/agenttool"
	"toolhost/agenttool/visible"
)

// TestHostileFiles puts what is no file of settings where one should be.
func TestHostileFiles(t *testing.T) {
	big := "{}" + strings.Repeat(" ", maxSize)
	for _, c := range []struct {
		name, want string
		make       func(p place, file string)
	}{
		{"pipe", "it is not a regular file", func(p place, file string) { p.must(unix.Mkfifo(file, 0o600)) }},
		{"directory", "it is not a regular file", func(p place, file string) { p.mkdir(file) }},
		{"device", "it is ", func(p place, file string) { p.must(os.Symlink("/dev/zero", file)) }},
		{"too large", "it is larger than 1024 KiB", func(p place, file string) { p.write(file, big) }},
		{"too large by a hole", "it is larger than 1024 KiB", func(p place, file string) { p.write(file, "{}"); p.must(os.Truncate(file, 1<<40)) }},
	} {
		for _, layer := range []string{"user", "project", "local", "flag", "managed"} {
			t.Run(c.name+" "+layer, func(t *testing.T) {
				p := newPlace(t)
				p.Flag = filepath.Join(p.Workspace, "flag.json")
				p.write(p.Flag, "{}")
				file := map[string]string{"user": p.User, "project": p.Project, "local": p.Local, "flag": p.Flag, "managed": p.Managed}[layer]
				_ = os.Remove(file)
				p.mkdir(filepath.Dir(file))
				c.make(p, file)
				done := make(chan error, 1)
				go func() { _, err := Load(p.Options); done <- err }()
				select {
				case err := <-done:
					if err == nil || !strings.Contains(err.Error(), file+": cannot be used: "+c.want) {
						t.Errorf("Load: %v, want %q", err, c.want)
					}
				case <-time.After(time.Minute):
					t.Fatal("Load waits")
				}
			})
		}
	}
}

func TestLinks(t *testing.T) {
	p := newPlace(t)
	elsewhere := filepath.Join(filepath.Dir(p.Workspace), "elsewhere.json")
	p.write(elsewhere, `{"mode": "plan"}`)
	p.mkdir(filepath.Dir(p.User))
	p.must(os.Symlink(elsewhere, p.User))
	if s := p.load(); s.Mode.V != "plan" {
		t.Errorf("the person's own file may be a link: %+v", s.Mode)
	}
	for _, file := range []string{p.Project, p.Local} {
		p.mkdir(filepath.Dir(file))
		p.must(os.Symlink(elsewhere, file))
		if _, err := Load(p.Options); err == nil || !strings.Contains(err.Error(), "symbolic link") {
			t.Errorf("%s: %v", file, err)
		}
		p.must(os.Remove(file))
	}
}

// TestLinkedDirectory has .toolhost lead to another place, where the person has rules of their own.
func TestLinkedDirectory(t *testing.T) {
	p := newPlace(t)
	elsewhere := filepath.Join(filepath.Dir(p.Workspace), "elsewhere")
	p.write(filepath.Join(elsewhere, "settings.local.json"), `{"permissions": {"allow": ["Shell"], "deny": ["Read"]}}`)
	p.must(os.Symlink(elsewhere, filepath.Dir(p.Local)))
	s := p.load()
	same(t, "allow", texts(s, agenttool.Allow))
	same(t, "deny", texts(s, agenttool.Deny), "Read")
	if l := s.Layers[2]; !l.Supplied || l.Trusted || !strings.Contains(l.Why, "lies in the workspace") {
		t.Errorf("layer: %+v", l)
	}
	if err := AddRule(p.Local, agenttool.Allow, "Shell(x)", time.Time{}); err == nil || !strings.Contains(err.Error(), "symbolic link") {
		t.Errorf("AddRule: %v", err)
	}
	if err := Remember(p.Options, p.Local, agenttool.Allow, "Shell(x)"); err == nil {
		t.Error("Remember went through the link")
	}
	if left, _ := os.ReadDir(elsewhere); len(left) != 1 {
		t.Errorf("something was made behind the link: %v", left)
	}
}

func TestWhoMayWrite(t *testing.T) {
	byGroup := "others can write it (mode 0664): run chmod go-w "
	if own := os.Geteuid(); own != 0 && own == os.Getegid() { // a group of one's own, where umask 002 is usual
		byGroup = ""
	}
	for _, c := range []struct {
		name string
		mode os.FileMode
		uid  int // -1: mine
		gid  int // -1: mine
		want string
	}{
		{"private", 0o600, -1, -1, ""},
		{"read by all", 0o644, -1, -1, ""},
		{"written by my group", 0o664, -1, -1, byGroup},
		{"written by another group", 0o664, -1, 12345, "others can write it (mode 0664): run chmod go-w "},
		{"written by all", 0o602, -1, -1, "others can write it (mode 0602)"},
		{"somebody else's", 0o600, 12345, -1, "it belongs to user 12345"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if max(c.uid, c.gid) >= 0 && os.Geteuid() != 0 {
				t.Skip("only root can give files away")
			}
			for _, layer := range []string{"user", "flag", "managed", "project", "local"} {
				p := newPlace(t)
				p.Flag = filepath.Join(p.Workspace, "flag.json")
				p.write(p.Flag, "{}")
				file := map[string]string{"user": p.User, "project": p.Project, "local": p.Local, "flag": p.Flag, "managed": p.Managed}[layer]
				p.write(file, `{"permissions": {"deny": ["d"], "allow": ["a"]}}`)
				p.must(os.Chmod(file, c.mode))
				p.must(os.Chown(file, c.uid, c.gid))
				s, err := Load(p.Options)
				switch layer {
				case "project", "local": // they lie in the workspace, where others write
					if err != nil || slices.Contains(texts(s, agenttool.Allow), "a") {
						t.Errorf("%s: %v, %v", layer, err, s)
					}
				default:
					if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), file+": cannot be used: "+c.want) {
						t.Errorf("%s: %v, want %q", layer, err, c.want)
					}
				}
			}
		})
	}
}

func TestMissingFiles(t *testing.T) {
	p := newPlace(t)
	p.write(filepath.Join(p.Workspace, projectDir), "a file, no directory")
	p.load()
	p.Flag = filepath.Join(p.Workspace, "nope.json")
	if _, err := Load(p.Options); err == nil || !strings.Contains(err.Error(), "nope.json: cannot be used: no such file") {
		t.Errorf("Load: %v", err)
	}
}

// TestNamesInMessages shows that what a stranger wrote cannot act on a terminal.
func TestNamesInMessages(t *testing.T) {
	p := newPlace(t)
	p.write(p.Project, "{\"\u202e\u200b\u3164key\\u001b[2J\": {}, \"mode\": \"\\u009b\"}")
	_, err := Load(p.Options)
	if err == nil {
		t.Fatal("no error")
	}
	for _, r := range err.Error() {
		if r != '\n' && !visible.Shows(r) {
			t.Errorf("%q is in %q", r, err)
		}
	}
}
