package main

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"toolhost/sandbox"
)

// byEach runs a test as root and as an ordinary user.
func byEach(t *testing.T, test func(*testing.T, account)) {
	byAll(t, accounts(t), test)
}

// byTurns is byEach for the row of a table; the ordinary form takes the accounts in turn.
func byTurns(t *testing.T, row int, test func(*testing.T, account)) {
	all := accounts(t)
	if turn := row % len(all); !long() {
		all = all[turn : turn+1]
	}
	byAll(t, all, test)
}

func byAll(t *testing.T, all []account, test func(*testing.T, account)) {
	for _, who := range all {
		t.Run(who.name, func(t *testing.T) {
			t.Parallel()
			test(t, who)
		})
	}
}

// grantedHome makes a home with files, and starts a host in its workspace.
func grantedHome(t *testing.T, who account, flags ...string) (*escapeAttempt, *approvalsHost) {
	a := jobTools(t).approvalsArena(t, who, sandbox.Full)
	a.write(userSettings, `{"wall": {"wait": "0s"}}`) // what is asked while it runs is for other tests
	a.write("home/.bashrc", "# mine\n")
	a.write("home/other/file", "mine\n")
	a.write("home/secret.txt", "SECRET\n")
	return a, a.serving(true, flags...).confinedBy()
}

// TestGrantedNoWider: a script that was granted one missing path writes, reads and removes nothing beside it.
func TestGrantedNoWider(t *testing.T) {
	t.Parallel()
	byEach(t, grantedNoWider)
}

func grantedNoWider(t *testing.T, who account) {
	a, h := grantedHome(t, who)
	home := a.path("home")
	before := homeTree(t, home)
	for i, attack := range []string{
		"echo x > ~/other/made", "echo x >> ~/other/file", "echo x > ~/neighbour", "mkdir ~/neighbour", "mv ~/other ~/notes/other", "ln ~/other/file ~/notes/hard",
		"rm ~/other/file", "rm -r ~/other", "rmdir ~/other", "chmod 777 ~/other", "touch ~/other", "ln -s x ~/neighbour", "cat ~/secret.txt | grep SECRET",
		"cat ~/other/file | grep mine", "mkfifo ~/neighbour", "truncate -s 0 ~/other/file", "echo x >> ~/.bashrc", "mv ~/notes ~/moved", "chmod 700 ~",
		"umount ~/other && cat ~/other/file", "ln -s ~/other ~/notes/l && echo x > ~/notes/l/made", "cd ~ && echo x > ./notesx", "cat ~/.bashrc | grep mine",
		"chattr +A ~", "python3 -c \"import os; os.fchmod(os.open(os.path.expanduser('~'), 0), 0o700)\"",
		"bash -c 'exec 3<~/other; echo x > /proc/self/fd/3/made'", "python3 -c \"import os; os.setxattr(os.path.expanduser('~'), 'user.x', b'1')\"",
	} {
		a.write("ws/attack.sh", "mkdir -p ~/notes\n"+attack+" 2>/dev/null && echo WORKED\n")
		const command = "mkdir -p ~/notes; bash attack.sh"
		m := h.shell(command)
		p := h.prompt(command, i+1)
		h.decide(p, "allow")
		r := m.result()
		if strings.Contains(r.view().Stdout, "WORKED") {
			t.Errorf("%s: it worked", attack)
		}
		if !exists(a, "home/notes") {
			t.Errorf("%s: nothing was made: %s", attack, r.says())
		}
		if err := os.RemoveAll(home + "/notes"); err != nil {
			t.Fatal(err)
		}
		if after := homeTree(t, home); after != before {
			t.Errorf("%s: the home is\n%s\nand was\n%s", attack, after, before)
			before = after
		}
	}
}

// homeTree lists a directory with modes, sizes and link targets.
func homeTree(t *testing.T, dir string) string {
	t.Helper()
	out, err := exec.Command("find", dir, "-path", "*/.local", "-prune", "-o", "-path", "*/.cache", "-prune", "-o", "-printf", "%M %y %s %l %P\\n").Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(out), "\n")
	for i, line := range lines {
		if strings.Contains(line, " d ") { // whose size differs
			fields := strings.Fields(line)
			lines[i] = fields[0] + " " + fields[len(fields)-1]
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// TestHintsAreTrue: the grant that a result names is that of the path which was refused, however a program words it.
func TestHintsAreTrue(t *testing.T) {
	t.Parallel()
	byEach(t, func(t *testing.T, who account) {
		a := jobTools(t).approvalsArena(t, who, sandbox.Full)
		h := a.serving(false, "--allow", "Shell(sh step.sh)").confinedBy()
		want := "write:" + a.path("home/made")
		for _, step := range []string{
			"echo x > ~/made", "mkdir ~/made", "cd ~ && mkdir made", "mkdir ~/made 2>&1 | sed \"s/.*/can't: .made. from x: Read-only file system, isn't it/\" >&2; false",
		} {
			a.write("ws/step.sh", step+"\n")
			r := h.shell("sh step.sh").result()
			if !strings.Contains(r.says(), "grant "+want+" would") {
				t.Errorf("%s: %s, want %s", step, r.says(), want)
			}
		}
	})
}
