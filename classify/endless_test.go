package classify

import (
	"slices"
	"strings"
	"testing"

	"toolhost/agenttool"
)

// TestEndlessSources: what reads without end is long-running, and is not proved to be harmless; what stops reading is as before.
func TestEndlessSources(t *testing.T) {
	for _, command := range []string{
		"cat /dev/zero | sort", "sort /dev/urandom", "sort < /dev/zero", "cat /dev/zero", "tac /dev/zero", "md5sum /dev/zero", "cat < /dev/zero",
		"cat /dev/../dev/zero", "cd /dev && cat zero", "cd /dev && sort < zero", "head -n 1 /dev/zero", "cat /dev/zero | sort | head -1",
		"cat /dev/zero | head -n 1", "x=$(cat /dev/zero)", "echo $(cat /dev/urandom)", "x=`yes`", "mapfile a < /dev/zero", "grep x /dev/zero",
		"yes | sort", "yes | tac", "yes | jq -s .", "seq inf | sort", "seq 1 1e99 | shuf", "while :; do echo x; done | sort",
		"for ((;;)); do echo x; done | sort", "shuf -r -e a | sort", "bash -c 'cat /dev/zero' | sort", "bash -c 'cat /dev/zero'", "{ cat /dev/zero; } | sort",
		"(cat /dev/zero) | sort", "cat f /dev/zero | sort", "cat <(cat /dev/zero)", "tail -c 1 /dev/urandom", "jq -n '[range(infinite)]'", "wc -c < /dev/full",
	} {
		if f := Command(command, Context{Dir: "/w", Home: "/h"}); f.LongRunning != agenttool.Yes || f.ReadOnly == agenttool.Yes {
			t.Errorf("%s: long-running %s, read-only %s; %v", command, f.LongRunning, f.ReadOnly, f.Reasons)
		}
	}
	for _, command := range []string{
		"head -c 16 /dev/urandom | xxd", "head -c 16 < /dev/urandom", "cat /dev/urandom | head -c 10", "tr -dc a-z < /dev/urandom | head -c 12",
		"tr -dc a-z < /dev/urandom | fold -w 8 | head -n 1", "od -An -N4 -tu4 /dev/urandom", "dd if=/dev/urandom bs=1 count=8", "timeout 1 cat /dev/zero",
		"x=$(head -c 4 /dev/urandom | od -An -tx1)", "ls -l /dev/zero", "cat f | sort", "seq 1 10 | sort", "shuf -r -n 3 -e a", "for i in $(seq 9); do echo $i; done | sort",
		"cat /dev/null | sort", "while read -r l; do echo x; done < f | sort",
	} {
		if f := Command(command, Context{Dir: "/w", Home: "/h"}); f.LongRunning != agenttool.No || f.ReadOnly != agenttool.Yes {
			t.Errorf("%s: long-running %s, read-only %s; %v", command, f.LongRunning, f.ReadOnly, f.Reasons)
		}
	}
}

// TestImpliedFiles: files that a command makes, or reads, without naming them are named, or the paths are not called complete.
func TestImpliedFiles(t *testing.T) {
	for _, row := range []struct {
		command, reads, writes string
		complete               agenttool.Fact
	}{
		{"sed -i.bak s/a/b/ d/f", "/w/d/f", "/w/d/f /w/d/f.bak", agenttool.Yes},
		{"sed --in-place=~ s/a/b/ f", "/w/f", "/w/f /w/f~", agenttool.Yes},
		{"sed -i'old-*' s/a/b/ d/f", "/w/d/f", "/w/d/f /w/d/old-f", agenttool.Yes},
		{"sed -i'bak/*' s/a/b/ d/f", "/w/d/f", "/w/bak/f /w/d/f", agenttool.Yes},
		{"sed -i s/a/b/ f", "/w/f", "/w/f", agenttool.Yes},
		{"cp -b a b", "/w/a", "/w/b /w/b~", agenttool.Unknown},
		{"cp --backup=numbered a b", "/w/a", "/w/b /w/b~", agenttool.Unknown},
		{"cp -b -S .old a b", "/w/a", "/w/b /w/b.old", agenttool.Unknown},
		{"mv -b a b", "/w/a", "/w/a /w/b /w/b~", agenttool.Unknown},
		{"ln -sfb a b", "/w/a", "/w/b /w/b~", agenttool.Unknown},
		{"install -b a b", "/w/a", "/w/b /w/b~", agenttool.Unknown},
		{"install --backup -t d a", "/w/a", "/w/d", agenttool.Unknown},
		{"cp a b", "/w/a", "/w/b", agenttool.Yes},
		{"npm", "", "", agenttool.Unknown},
		{"npm --silent", "", "", agenttool.Unknown},
		{"getent shadow", "/etc/shadow", "", agenttool.Yes},
		{"getent gshadow x", "/etc/gshadow", "", agenttool.Yes},
		{"getent passwd root", "/etc/passwd", "", agenttool.Yes},
	} {
		f := Command(row.command, Context{Dir: "/w", Home: "/h"})
		if got := pathsNamed(f.Reads); got != row.reads {
			t.Errorf("%s reads %q, want %q", row.command, got, row.reads)
		}
		if got := pathsNamed(f.Writes); got != row.writes {
			t.Errorf("%s writes %q, want %q", row.command, got, row.writes)
		}
		if f.PathsComplete != row.complete {
			t.Errorf("%s: paths complete %s, want %s", row.command, f.PathsComplete, row.complete)
		}
		if row.writes != "" && f.ReadOnly != agenttool.No {
			t.Errorf("%s: read-only %s", row.command, f.ReadOnly)
		}
	}
	if f := Command("npm", Context{Dir: "/w"}); f.ReadOnly != agenttool.No {
		t.Errorf("npm: read-only %s, although it writes a log", f.ReadOnly)
	}
}

func pathsNamed(paths []agenttool.Path) string {
	var list []string
	for _, p := range paths {
		list = append(list, p.Absolute)
	}
	slices.Sort(list)
	return strings.Join(list, " ")
}
