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

// TestSigningAsksForTheAgent: where git signs, a commit asks for the socket of the user's ssh-agent when it connects, and is signed after a
// yes. Without agent, and after a no, there is no commit, and the result says why. Nothing else learns of the agent.
func TestSigningAsksForTheAgent(t *testing.T) {
	t.Parallel()
	needs(t, "git", "ssh-agent", "ssh-add", "ssh-keygen")
	for _, place := range []string{"the home", "an include", "the repository"} {
		t.Run(place, func(t *testing.T) {
			t.Parallel()
			signingAsks(t, place)
		})
	}
}

func signingAsks(t *testing.T, place string) {
	a := approvals(t)
	a.write("ws/kept.txt", "kept\n")
	a.repository()
	socket, key := a.path("home/agent.sock"), a.path("home/.ssh/id")
	agent := exec.Command("ssh-agent", "-D", "-a", socket)
	if err := agent.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = agent.Process.Kill(); _ = agent.Wait() })
	eventually(t, "the agent listens", func() bool { return exists(a, "home/agent.sock") })
	outside := func(line string, more ...string) string {
		t.Helper()
		cmd := exec.Command("sh", append([]string{"-ec", line, "-"}, more...)...)
		cmd.Dir, cmd.Env = a.path("ws"), append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + a.path("home")},
			"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v: %s", line, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	outside(`mkdir -p ~/.ssh; ssh-keygen -q -t ed25519 -N '' -f "$1"; SSH_AUTH_SOCK="$2" ssh-add -q "$1"
		echo "a@example.com $(cat "$1.pub")" > ~/.ssh/signers`, key, socket)
	signed := "[gpg]\n\tformat = ssh\n[commit]\n\tgpgsign = true\n[tag]\n\tgpgsign = true\n[user]\n\tsigningkey = ~/.ssh/id.pub\n"
	switch place {
	case "the home":
		a.write("home/.gitconfig", signed)
	case "an include":
		a.write("home/.gitconfig", "[includeIf \"gitdir:/**\"]\n\tpath = .gitconfig-work\n")
		a.write("home/.gitconfig-work", signed)
	case "the repository":
		outside(`git config gpg.format ssh; git config commit.gpgsign true; git config tag.gpgsign true; git config user.signingkey "key::$(cat "$1.pub")"`, key)
	}
	const verify = "git -c gpg.ssh.allowedSignersFile=$HOME/.ssh/signers verify-"
	first := outside("git rev-parse HEAD")

	h := a.serving(true, "--mode", "sandboxed").confinedBy()
	r := h.shell("git commit --allow-empty -qm x").result()
	if said := r.says(); strings.Count(said, "git signs here with a key that commands do not see") != 1 || strings.Count(said, "likely: ") != 1 {
		t.Errorf("without an agent it says %s", said)
	}
	if r.Result.Status == "succeeded" || h.asked() != 0 || outside("git rev-parse HEAD") != first {
		t.Errorf("without an agent: %s, asked %d times, at %s", r.Result.Status, h.asked(), outside("git log --oneline"))
	}
	a.env = append(a.env, "SSH_AUTH_SOCK="+socket)
	h = a.serving(true, "--mode", "sandboxed").confinedBy()
	if said := h.shell("echo sock=$SSH_AUTH_SOCK; git log -1 --format=%h; touch x").worked().says(); strings.Contains(said, socket) {
		t.Errorf("a command that signs nothing is told of the agent: %s", said)
	}
	asked := 0
	for _, step := range []struct{ command, answer, verify string }{
		{"git commit --allow-empty -qm denied", "deny", ""},
		{"git commit --allow-empty -qm one && git commit --allow-empty -qm two", "allow", "commit HEAD HEAD~"},
		{"cd . && git -c core.pager=cat tag -m v1 v1", "allow", "tag v1"},
		{"git commit --amend --allow-empty -qm three", "allow", "commit HEAD"},
	} {
		before := outside("git rev-parse HEAD")
		m := h.shell(step.command)
		asked++
		p := h.prompt(step.command, 1)
		if !strings.Contains(p.Decision.Reason.Detail, "connect to the socket "+socket+" (ssh-keygen)") || len(p.Grants) != 1 || p.Grants[0] != "socket:"+socket {
			t.Errorf("%s: the prompt is %s", step.command, p)
		}
		h.decide(p, step.answer)
		if step.answer == "deny" {
			if r := m.result(); r.Result.Status == "succeeded" || outside("git rev-parse HEAD") != before {
				t.Errorf("a commit without the agent: %s", r.says())
			}
			continue
		}
		m.worked()
		if h.asked() != asked {
			t.Errorf("%s: asked %d times, want %d", step.command, h.asked(), asked)
		}
		if said := outside(verify + step.verify); strings.Count(said, `Good "git" signature for a@example.com`) != len(strings.Fields(step.verify))-1 {
			t.Errorf("%s: %s", step.command, said)
		}
	}
}
