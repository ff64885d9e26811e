package notify

import (
	"fmt"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestChanges: calls that succeed report what they changed, under the names that the process sees, and all others report nothing.
func TestChanges(t *testing.T) {
	for _, mode := range []string{shared, separate} {
		t.Run(mode, func(t *testing.T) {
			s := start(t, mode, func(a Attempt) Verdict {
				if strings.HasSuffix(a.Paths[0], "/shut") {
					return Verdict(unix.EPERM)
				}
				return Allow
			})
			defer s.end()
			for _, step := range []struct{ do, want string }{
				{"open new", "0 new"}, {"open new", "1 new"}, {"write file", "1 file"}, {"read file", ""}, {"write missing", ""}, {"write sub", ""},
				{"open shut", ""}, {"openmode file 600 rc", ""}, {"openmode made 600 rc", "0 made"}, {"write absolute/../config", "1 .git/config"},
				{"mkdir dir", "0 dir"}, {"mkdir dir", ""}, {"fifo dir/p", "0 dir/p"}, {"symlink ../new dir/l", "0 dir/l"}, {"open dir/l", "1 new"},
				{"link new hard", "3 new hard"}, {"rename new hard", ""}, {"rename new dir/new", "4 new dir/new"}, {"rename dir/new file", "4 dir/new file over"},
				{"exchange file made", "5 file made over"}, {"rename dir sub/dir", "4 dir sub/dir whole"}, {"rename dir sub/dir", ""},
				{"truncate made", "1 made"}, {"unlink made", "2 made"}, {"unlink made", ""}, {"unlink sub/dir/p", "2 sub/dir/p"}, {"unlink sub/dir/l", "2 sub/dir/l"},
				{"rmdir sub/dir", "2 sub/dir"}, {"rmdir sub", ""}, {"chmod file", ""}, {"nameless sub 644", ""}, {"write /dev/null", ""}, {"pipe", ""},
				{"procfd @file /proc/self/fd", "1 file"},
			} {
				s.mu.Lock()
				s.changes = nil
				s.mu.Unlock()
				errno, _ := s.do(step.do)
				s.mu.Lock()
				got := s.told()
				s.mu.Unlock()
				if got != step.want {
					t.Errorf("%s (%v): %q, want %q", step.do, errno, got, step.want)
				}
			}
		})
	}
}

// told describes the reported changes, with names from the workspace on.
func (s *supervised) told() string {
	var texts []string
	for _, c := range s.changes {
		text := fmt.Sprint(c.Kind, " ", strings.TrimPrefix(c.Path, s.dir+"/"))
		if c.To != "" {
			text += " " + strings.TrimPrefix(c.To, s.dir+"/")
		}
		if c.Replaced {
			text += " over"
		}
		if c.Tree {
			text += " whole"
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, ", ")
}
