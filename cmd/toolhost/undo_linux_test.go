package main

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"toolhost/sandbox"
)

// changers are commands of everyday work that change, move and remove files that git does not have, some by programs of which nothing is known.
var changers = []string{
	"echo new > mine", "echo more >> mine", ": > mine", "cp tracked mine", "cp --remove-destination tracked mine", "install -m 755 tracked mine",
	"mv tracked mine", "mv dir other", "mv mine dir/", "tee mine < tracked", "sed -i s/mine/theirs/ mine", "perl -pi -e s/mine/theirs/ mine",
	"ln -sf tracked mine", "ln -f tracked mine", "tar -xf old.tar", "sort -o mine tracked", "truncate -s 1 mine", "dd if=tracked of=mine conv=notrunc",
	"python3 -c 'f=open(\"mine\",\"r+\"); f.write(\"X\")'", "python3 -c 'import os; os.replace(\"tracked\",\"mine\")'", "patch -s mine < mine.patch",
	"rsync -a --delete dir/ other/", "unzip -qo old.zip", "zip -qm new.zip mine dir/b", "gzip mine", "xz -f dir/b", "shred -u mine", "find dir -type f -delete",
	"find . -name b -exec rm {} +", "rm -rf dir link pipe hard", "rmdir empty", "git checkout -q -- changed", "git stash -qu",
	"git clean -qfd", "git reset -q --hard", "git apply -R changed.patch", "git read-tree --reset -u HEAD", "git rm -q --cached tracked && rm tracked",
	"python3 -c 'import sqlite3; c=sqlite3.connect(\"data.db\"); c.execute(\"delete from t\"); c.commit()'", "bash script.sh", "echo new > hard", "touch new && mkdir -p new.d/e && mv new new.d/e/",
}

// changersTree is what they change, and what they are compared with afterwards: with another program, which sees contents, modes, owners, times of
// files, links and attributes.
const changersTree = `
	git init -q; git config user.name a; git config user.email a@example.com
	for f in tracked changed; do echo $f > $f; done; touch -d 2020-02-02 tracked
	git add tracked changed; git commit -qm one; echo ignored > .gitignore; echo mine > changed; git diff > changed.patch
	echo mine > mine; chmod 640 mine; touch -d 2021-03-04 mine; cp mine hard1; ln hard1 hard; mkdir dir empty other; echo b > dir/b; echo c > dir/c; echo o > other/o
	setfattr -n user.note -v hello dir/b mine; ln -s mine link; mkfifo pipe; echo ignored > ignored; echo other > m2; cp m2 theirs
	mkdir old; echo from-archive > old/mine; tar -cf old.tar -C old mine; (cd old && zip -q ../old.zip mine); rm -r old
	printf -- '--- mine\n+++ mine\n@@ -1 +1 @@\n-mine\n+patched\n' > mine.patch
	sqlite3 data.db 'create table t(a); insert into t values(1)'
	printf 'rm mine\necho s > dir/b\nrm -r other\nmv hard1 hard2\n' > script.sh`

// TestUndo: after each of the commands, run unasked in mode sandboxed, undo puts the tree back as it was.
func TestUndo(t *testing.T) {
	t.Parallel()
	needs(t, "git", "rsync", "setfattr", "sqlite3", "zip", "unzip", "patch", "perl", "python3")
	r := newRig(t)
	for row, level := range watched {
		t.Run(string(level), func(t *testing.T) {
			t.Parallel()
			byTurns(t, row, func(t *testing.T, who account) { r.undoes(t, who, level, changers) })
		})
	}
}

// undoes runs commands in a tree, each unasked, and undoes each.
func (r *escapeTools) undoes(t *testing.T, who account, level sandbox.Level, commands []string) {
	t.Helper()
	a := r.approvalsArena(t, who, level)
	if out, code := a.said(a.command("bash", "-ec", changersTree)); code != 0 {
		t.Fatalf("the tree: %s", out)
	}
	before := a.path("before")
	same := func(from, to string) string {
		out, err := exec.Command("rsync", "-aHAXnic", "--omit-dir-times", "--delete", "--exclude=/.git/index", from+"/", to+"/").CombinedOutput()
		if err != nil {
			t.Fatalf("rsync: %v %s", err, out)
		}
		return string(out)
	}
	if out, err := exec.Command("rsync", "-aHAX", a.ws+"/", before+"/").CombinedOutput(); err != nil {
		t.Fatalf("rsync: %v %s", err, out)
	}
	flags := []string{"--mode", "sandboxed"}
	if level != sandbox.Full { // the mode lets commands run unasked at level full alone
		flags = append(flags, "--allow", "Shell")
	}
	h := a.serving(true, flags...).confinedBy()
	for _, command := range commands {
		reply := h.shell(command).result()
		if h.asked() > 0 {
			t.Fatalf("%s: it asked", command)
		}
		if same(before, a.ws) == "" {
			t.Errorf("%s: it changes nothing: %s", command, reply.says())
			continue
		}
		if out, code := a.said(a.command(a.toolhost, "undo", reply.Invocation.InvocationID)); code != 0 {
			t.Errorf("%s: undo: %s", command, out)
		}
		if left := same(before, a.ws); left != "" {
			t.Errorf("%s: after undo this differs:\n%s%s", command, left, reply.says())
			if out, err := exec.Command("rsync", "-aHAX", "--delete", before+"/", a.ws+"/").CombinedOutput(); err != nil {
				t.Fatalf("rsync: %v %s", err, out)
			}
		}
	}
	h.close()
}

// TestUndoLists: undo without a call lists what is kept, and a name that fits none says so.
func TestUndoLists(t *testing.T) {
	t.Parallel()
	a := approvals(t)
	a.write("ws/mine", "mine\n")
	if out, _ := a.said(a.command(a.toolhost, "undo")); !strings.Contains(out, "nothing is kept") {
		t.Errorf("before any call: %s", out)
	}
	h := a.serving(true, "--mode", "sandboxed").confinedBy()
	reply := h.shell("rm mine").worked()
	id := reply.Invocation.InvocationID
	if !strings.Contains(reply.says(), "toolhost undo "+id) {
		t.Errorf("the result does not say how to take it back: %s", reply.says())
	}
	if out, _ := a.said(a.command(a.toolhost, "undo")); !strings.Contains(out, id) || !strings.Contains(out, a.path("ws/mine")) {
		t.Errorf("the list: %s", out)
	}
	if out, code := a.said(a.command(a.toolhost, "undo", "inv_none")); code != exitUsage || !strings.Contains(out, "toolhost undo lists") {
		t.Errorf("of another call: %d %s", code, out)
	}
	a.write("ws/mine", "since\n")
	out, code := a.said(a.command(a.toolhost, "undo", id))
	if code != 0 || a.read("ws/mine") != "mine\n" {
		t.Fatalf("undo: %d %s", code, out)
	}
	_, as, _ := strings.Cut(out, "toolhost undo ")
	as, _, _ = strings.Cut(as, " ")
	if out, code := a.said(a.command(a.toolhost, "undo", as)); code != 0 || a.read("ws/mine") != "since\n" {
		t.Errorf("undo of undo: %d %s: %s", code, out, a.read("ws/mine"))
	}
	h.close()
}

// TestLossesThatWait: what cannot be kept waits for a user while the command runs, and is refused where none is.
func TestLossesThatWait(t *testing.T) {
	t.Parallel()
	a := approvals(t)
	a.write("ws/large", "mine\n")
	a.write("ws/larger", "mine\n")
	for _, name := range []string{"ws/large", "ws/larger"} { // written in place, each is more than one call copies
		if err := os.Truncate(a.path(name), 300<<20); err != nil {
			t.Fatal(err)
		}
	}
	if !copies(t, a.path("ws")) {
		t.Skip("the file system shares blocks, and nothing is too large")
	}
	h := a.serving(true, "--mode", "sandboxed").confinedBy()
	m := h.shell("echo x > large")
	h.decide(h.prompt("large", 1), "deny")
	m.failed("blocked")
	if !strings.HasPrefix(a.read("ws/large"), "mine\n") {
		t.Error("a user refused, and the file is lost")
	}
	m = h.shell("bash -c 'echo x > large; echo y > larger'")
	h.decide(h.prompt("large", 2), "allow")
	m.worked()
	if a.read("ws/larger") != "y\n" || h.asked() != 2 {
		t.Errorf("one yes is for the command: asked %d times, %q", h.asked(), a.read("ws/larger")[:2])
	}
	h.close()
}

// copies reports whether a file system has no blocks that two files share.
func copies(t *testing.T, dir string) bool {
	t.Helper()
	out, err := exec.Command("cp", "--reflink=always", dir+"/large", dir+"/cloned").CombinedOutput()
	_ = os.Remove(dir + "/cloned")
	return err != nil && len(out) > 0
}

// TestUndoObjects: git's objects are kept whoever removes them, also a program that has git's name.
func TestUndoObjects(t *testing.T) {
	t.Parallel()
	needs(t, "git")
	r := newRig(t)
	for row, level := range watched {
		t.Run(string(level), func(t *testing.T) {
			t.Parallel()
			byTurns(t, row, func(t *testing.T, who account) {
				a := r.approvalsArena(t, who, level)
				const made = `git init -q; echo f > f; git add f; git -c user.name=a -c user.email=a@example.com commit -qm one; cp "$(which rm)" gitrm`
				if out, code := a.said(a.command("bash", "-ec", made)); code != 0 {
					t.Fatalf("the repositories: %s", out)
				}
				const check = "find . -type f -path '*/objects/*' | sort | xargs sha256sum; git fsck --full"
				before, code := a.said(a.command("bash", "-ec", check))
				if code != 0 {
					t.Fatal(before)
				}
				h := a.serving(true, "--mode", "sandboxed", "--allow", "Shell").confinedBy()
				for _, command := range []string{
					"./gitrm -rf .git/objects", "cp gitrm $TMPDIR/git && $TMPDIR/git -rf .git/objects", "git repack -qad && git prune-packed",
				} {
					reply := h.shell(command).result()
					if after, _ := a.said(a.command("bash", "-c", check)); after == before {
						t.Errorf("%s: it removes nothing: %s", command, reply.says())
					}
					if out, code := a.said(a.command(a.toolhost, "undo", reply.Invocation.InvocationID)); code != 0 {
						t.Errorf("%s: undo: %s", command, out)
					}
					if after, _ := a.said(a.command("bash", "-c", check)); after != before {
						t.Errorf("%s: after undo it is\n%s\nand was\n%s", command, after, before)
					}
				}
				h.close()
			})
		})
	}
}

// TestUndoOfRaces: a thread opens a name for writing while another one gives it to one file after the other. Each is kept before it is cut.
func TestUndoOfRaces(t *testing.T) {
	t.Parallel()
	needs(t, "python3")
	a := approvals(t)
	for i := range 40 {
		a.write("ws/d/v"+strconv.Itoa(i), "mine\n")
	}
	a.write("ws/race.py", `import os, threading, time
end = time.time() + 2
def opener():
    while time.time() < end:
        try: os.close(os.open("x", os.O_WRONLY | os.O_TRUNC))
        except OSError: pass
threads = [threading.Thread(target=opener) for _ in range(3)]
for t in threads: t.start()
while time.time() < end:
    for i in range(40):
        try:
            os.rename("d/v%d" % i, "x")
            os.rename("x", "d/v%d" % i)
        except OSError: pass
for t in threads: t.join()
`)
	h := a.serving(true, "--mode", "sandboxed").confinedBy()
	reply := h.shell("python3 race.py").worked()
	cut := 0
	for i := range 40 {
		if a.read("ws/d/v"+strconv.Itoa(i)) == "" {
			cut++
		}
	}
	if cut == 0 {
		t.Skip("no open met a file")
	}
	if out, code := a.said(a.command(a.toolhost, "undo", reply.Invocation.InvocationID)); code != 0 {
		t.Errorf("undo: %s", out)
	}
	for i := range 40 {
		if got := a.read("ws/d/v" + strconv.Itoa(i)); got != "mine\n" {
			t.Errorf("v%d is %q", i, got)
		}
	}
	h.close()
}

// alterers change what is known of files, and not their contents.
var alterers = []string{
	"chmod -R o-rwx dir && chmod 600 mine && chmod 400 tracked", "touch mine dir/b link", "touch -h -d 2001-01-01 link", "touch -d 2001-01-01 dir/b pipe", "setfattr -n user.note -v other dir/b",
	"setfattr -x user.note dir/b", "setfattr -n user.new -v x mine dir", "chmod 600 mine && echo new > mine && chmod 640 mine", "chmod 600 mine && rm mine",
	"chmod 600 hard && mv hard moved && touch -d 2001-01-01 moved", "python3 -c 'import os; f=open(\"mine\"); os.fchmod(f.fileno(), 0o600); os.utime(f.fileno(), (1, 2))'",
	"chmod 700 dir && rm -r dir", "chgrp $(id -g) mine && chmod g+s mine", "tar -xpf old.tar && chmod 600 mine",
}

// TestUndoAttributes: modes, times and extended attributes that a command changed alone are put back.
func TestUndoAttributes(t *testing.T) {
	t.Parallel()
	needs(t, "git", "rsync", "setfattr", "sqlite3", "zip", "python3")
	r := newRig(t)
	for row, level := range watched {
		t.Run(string(level), func(t *testing.T) {
			t.Parallel()
			byTurns(t, row, func(t *testing.T, who account) { r.undoes(t, who, level, alterers) })
		})
	}
}

// TestUndoFiles: undo puts back what the file tools changed, in each way that they change files.
func TestUndoFiles(t *testing.T) {
	t.Parallel()
	needs(t, "rsync", "setfattr")
	for row, level := range []sandbox.Level{sandbox.Full, sandbox.Landlock} {
		t.Run(string(level), func(t *testing.T) {
			t.Parallel()
			byTurns(t, row, func(t *testing.T, who account) {
				a := newRig(t).approvalsArena(t, who, level)
				const made = `printf 'mine\n' > mine; chmod 640 mine; touch -d 2021-03-04 mine; setfattr -n user.note -v hello mine
					printf 'named\n' > named; ln named again; printf 'moved\n' > moved; printf 'gone\n' > gone`
				if out, code := a.said(a.command("bash", "-ec", made)); code != 0 {
					t.Fatalf("the tree: %s", out)
				}
				before := a.path("before")
				if out, err := exec.Command("rsync", "-aHAX", a.ws+"/", before+"/").CombinedOutput(); err != nil {
					t.Fatalf("rsync: %v %s", err, out)
				}
				h := a.serving(true, "--mode", "accept_edits", "--allow", "Write(**)")
				for _, name := range []string{"mine", "named"} {
					h.make("read", fields{"path": name}).worked()
				}
				for _, c := range []struct {
					tool  string
					input fields
				}{
					{"write", fields{"path": "mine", "content": "theirs\n"}},
					{"edit", fields{"path": "mine", "old_string": "mine", "new_string": "theirs"}},
					{"write", fields{"path": "new/dir/file", "content": "theirs\n"}},
					{"edit", fields{"path": "named", "old_string": "named", "new_string": "theirs"}},
					{"edit", fields{"patch": "*** Begin Patch\n*** Update File: moved\n*** Move to: other/moved\n@@\n-moved\n+theirs\n*** Delete File: gone\n*** Add File: added\n+theirs\n*** End Patch"}},
				} {
					m := h.make(c.tool, c.input).worked()
					differs := func() string {
						out, err := exec.Command("rsync", "-aHAXnic", "--omit-dir-times", "--delete", before+"/", a.ws+"/").CombinedOutput()
						if err != nil {
							t.Fatalf("rsync: %v %s", err, out)
						}
						return string(out)
					}
					if differs() == "" {
						t.Errorf("%s %v: it changes nothing", c.tool, c.input)
					}
					if out, code := a.said(a.command(a.toolhost, "undo", m.Invocation.InvocationID)); code != 0 {
						t.Errorf("%s %v: undo: %s", c.tool, c.input, out)
					}
					if left := differs(); left != "" {
						t.Fatalf("%s %v: after undo this differs:\n%s", c.tool, c.input, left)
					}
				}
				h.close()
			})
		})
	}
}
