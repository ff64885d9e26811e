package sandbox

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// explained runs a line that fails and explains why.
func (b *bench) explained(t testing.TB, line string, environ ...string) (hints []Violation, likely []string, said string) {
	t.Helper()
	r, w, err := os.Pipe()
	must(t, err)
	defer r.Close()
	null, err := os.Open(os.DevNull)
	must(t, err)
	defer null.Close()
	p, err := b.begin(t, Profile{Access: Workspace}, line, [3]*os.File{null, w, w})
	w.Close()
	must(t, err)
	out, _ := io.ReadAll(r)
	<-p.Gone()
	if p.Ended().Status.ExitStatus() == 0 {
		t.Errorf("%s: it does not fail", line)
	}
	hints, likely = p.Explain(Failure{Line: line, Stderr: string(out), Dir: b.ws, Environ: environ})
	return hints, likely, string(out)
}

// TestAbsencesAreMet: what real programs say when they miss something is recognised, at each level where they miss it.
func TestAbsencesAreMet(t *testing.T) {
	const signs = "git init -q signed; git -C signed -c user.name=a -c user.email=a@example.com "
	for _, level := range []Level{Full, LandlockNotify, Landlock} {
		b := homeBench(t, func(o *Options) {
			o.Level = level
			program := filepath.Join(o.Home, ".nvm/versions/node/v20.1.0/bin/of-nvm")
			must(t, os.MkdirAll(filepath.Dir(program), 0o755))
			must(t, os.WriteFile(program, []byte("#!/bin/sh\n"), 0o755))
		})
		file, err := os.CreateTemp("/tmp", "absent") // of the user
		must(t, err)
		file.Close()
		t.Cleanup(func() { os.Remove(file.Name()) })
		for _, tt := range []struct{ program, line, row, want string }{
			{"bash", "of-nvm --version", "toolchains", "a place of nvm"},
			{"env", "env of-nvm", "toolchains", "a place of nvm"},
			{"cat", "cat " + file.Name(), "tmp", file.Name() + " is in the user's /tmp"},
			{"bash", "read x < " + file.Name(), "tmp", file.Name() + " is in the user's /tmp"},
			{"bash", "exec 3<>/dev/tcp/127.0.0.1/9", "loopback", "the session's own"},
			{"ssh-add", "ssh-add -l", "sockets", "SSH_AUTH_SOCK"},
			{"ssh-keygen", signs + "-c gpg.format=ssh -c 'user.signingkey=key::ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIM070hIUtS+KAfH0oLCUQRdshdN1tnDbb6RqzvjxCdo5' commit -qS --allow-empty -m x", "signing", "makes nothing without it"},
			{"gpg", signs + "-c user.signingkey=ABCD1234 commit -qS --allow-empty -m x", "signing", "makes nothing without it"},
			{"unshare", "unshare -r true", "namespaces", "namespaces or mounts"},
			{"bwrap", "bwrap --ro-bind / / true", "namespaces", "namespaces or mounts"},
			{"bash", "nobodys-program", "", ""},
			{"cat", "cat missing", "", ""},
		} {
			if _, err := exec.LookPath(tt.program); err != nil {
				t.Logf("%s is not here", tt.program)
				continue
			}
			want := ""
			for _, a := range Absences() {
				if a.ID == tt.row && slices.Contains(a.Levels, level) {
					want = a.Do
				}
			}
			if want == "" && tt.row != "" {
				continue // not at this level
			}
			_, likely, said := b.explained(t, tt.line, "SSH_AUTH_SOCK=/run/agent")
			got := strings.Join(likely, "\n")
			if (got == "") != (want == "") || !strings.Contains(got, tt.want) || !strings.HasSuffix(got, want) {
				t.Errorf("%s at %s said %q, and we %q, want %q", tt.line, level, said, got, tt.want)
			}
		}
	}
}

// TestSecretsAreNamed: a command that could not read a secret of the workspace is told which, and the grant.
func TestSecretsAreNamed(t *testing.T) {
	b := homeBench(t, nil)
	b.write(t, ".env", "TOKEN=x\n")
	hints, _, said := b.explained(t, "cat .env")
	if len(hints) != 1 || hints[0].Grant != "read:"+filepath.Join(b.ws, ".env") || !strings.Contains(hints[0].String(), "kept the command from reading ") {
		t.Errorf("%v, %s", hints, said)
	}
}

// TestAstrayIsToldOnce: what a command writes in the session's /tmp where the user has that directory, or a file of that name, is told once a
// session. Other temporary files are not, nor are files of a workspace in /tmp.
func TestAstrayIsToldOnce(t *testing.T) {
	b := homeBench(t, nil)
	dir, err := os.MkdirTemp("/tmp", "users") // of the user
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	astray := func(line string) string {
		p := b.start(t, Profile{Access: Workspace}, line)
		<-p.Gone()
		if status := p.Ended().Status.ExitStatus(); status != 0 {
			t.Errorf("%s: exit %d", line, status)
		}
		return p.Astray()
	}
	for _, line := range []string{"mktemp", "echo x > /tmp/new-" + filepath.Base(dir), "echo x > in-the-workspace", "cat /etc/hostname", "echo x > $TMPDIR/x", "ls /tmp"} {
		if got := astray(line); got != "" {
			t.Errorf("%s: %s", line, got)
		}
	}
	line := "mkdir -p " + dir + " && echo x > " + dir + "/result"
	if got := astray(line); got != dir+"/result" && got != dir {
		t.Errorf("told of %q", got)
	}
	if got := astray(line); got != "" {
		t.Errorf("told again of %q", got)
	}
	if _, err := os.Lstat(dir + "/result"); err == nil {
		t.Error("it is in the user's /tmp")
	}
}
