package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestAgentSocketIsGiven: variables and a socket that settings name reach a command that only reads, and one that signs; a command whose rule
// names no socket does not use it.
func TestAgentSocketIsGiven(t *testing.T) {
	t.Parallel()
	needs(t, "git", "ssh-agent", "ssh-add", "ssh-keygen")
	a := approvals(t)
	a.write("ws/kept.txt", "kept\n")
	a.repository()
	socket, key := a.path("agent.sock"), a.path("key")
	agent := exec.Command("ssh-agent", "-D", "-a", socket)
	if err := agent.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = agent.Process.Kill(); _ = agent.Wait() })
	eventually(t, "the agent listens", func() bool { return exists(a, "agent.sock") })
	cmd := exec.Command("sh", "-ec", `ssh-keygen -q -t ed25519 -N '' -f "$1"; SSH_AUTH_SOCK="$2" ssh-add -q "$1"
		git config gpg.format ssh; git config user.signingkey "key::$(cat "$1.pub")"; rm "$1"`, "-", key, socket)
	cmd.Dir, cmd.Env = a.path("ws"), append(os.Environ(), "HOME="+a.path("home"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	a.write(userSettings, `{"env": {"set": {"SSH_AUTH_SOCK": "`+socket+`"}}, "permissions": {"allow": [
		"Shell(ssh-add -l) with socket:`+socket+`", "Shell(git commit -S *) with socket:`+socket+`", "Shell(bash steal.sh)"]}}`)
	a.write("ws/steal.sh", "ssh-add -l; ssh-add -L; true\n")
	h := a.serving(false).confinedBy()
	if said := h.shell("ssh-add -l").worked().says(); !strings.Contains(said, "ED25519") {
		t.Errorf("ssh-add -l says %s", said)
	}
	h.shell("git commit -S --allow-empty -qm signed").worked()
	if out, err := exec.Command("git", "-c", "safe.directory=*", "-C", a.path("ws"), "cat-file", "commit", "HEAD").Output(); err != nil || !strings.Contains(string(out), "gpgsig") {
		t.Errorf("it is not signed: %v %s", err, out)
	}
	if said := h.shell("bash steal.sh").worked().says(); strings.Contains(said, "ED25519") {
		t.Errorf("a command without the grant reached the agent: %s", said)
	}
	h.shell("ssh-add -L").failed("approval_unavailable")
}
