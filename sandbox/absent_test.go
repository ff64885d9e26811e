package sandbox

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestAbsences: failures as programs word them are recognised by the row that they belong to, and say what to do in its words. Ordinary failures
// are not.
func TestAbsences(t *testing.T) {
	home := t.TempDir()
	ours := filepath.Join(home, "x.log") // in /tmp, as every temporary directory of a test
	for path, mode := range map[string]os.FileMode{
		".nvm/versions/node/v9.11.2/bin/node": 0o755, ".nvm/versions/node/v20.1.0/bin/node": 0o755, ".nvm/versions/node/v20.1.0/bin/npm": 0o755,
		".pyenv/shims/python3.13": 0o755, ".rbenv/shims/rake": 0o755, ".sdkman/candidates/java/current/bin/java": 0o755, ".volta/bin/yarn": 0o755,
		".volta/bin/notes": 0o644, ".asdf/shims/elixir": 0o755, ".local/share/mise/shims/zig": 0o755, "x.log": 0o644,
	} {
		err := os.MkdirAll(filepath.Dir(filepath.Join(home, path)), 0o755)
		if err == nil {
			err = os.WriteFile(filepath.Join(home, path), []byte("#!/bin/sh\n"), mode)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	inTmp := strings.HasPrefix(ours, "/tmp/")
	for _, tt := range []struct {
		row, name, line, stderr string
		want                    string // a part of the sentence; "": no row
	}{
		{"toolchains", "bash", "node -v", "bash: line 1: node: command not found\n", "node is in " + home + "/.nvm/versions/node/v20.1.0/bin, a place of nvm"},
		{"toolchains", "dash", "make", "/bin/sh: 1: npm: not found\nmake: *** [Makefile:2: all] Error 127\n", "npm is in "},
		{"toolchains", "a first line", "./x.py", "/usr/bin/env: ‘python3.13’: No such file or directory\n", "a place of pyenv"},
		{"toolchains", "timeout", "timeout 5 rake", "timeout: failed to run command ‘rake’: No such file or directory\n", "a place of rbenv"},
		{"toolchains", "Go", "go generate", `x.go:3: running "java": exec: "java": executable file not found in $PATH`, "a place of sdkman"},
		{"toolchains", "Node", "npm test", "Error: spawn yarn ENOENT\n", "a place of volta"},
		{"toolchains", "Python", "python3 x", "FileNotFoundError: [Errno 2] No such file or directory: 'elixir'\n", "a place of asdf"},
		{"toolchains", "make", "make", "make: zig: No such file or directory\n", "a place of mise"},
		{"", "a program that nobody has", "nodd", "bash: line 1: nodd: command not found\n", ""},
		{"", "no program", "notes", "bash: line 1: notes: command not found\n", ""},
		{"", "a pattern", "x", "bash: line 1: n*: command not found\n", ""},
		{"tmp", "cat", "cat x", "cat: " + ours + ": No such file or directory\n", "is in the user's /tmp"},
		{"tmp", "Python", "python3 x", "FileNotFoundError: [Errno 2] No such file or directory: '" + ours + "'\n", "is in the user's /tmp"},
		{"", "a file that nobody has", "cat x", "cat: " + ours + "x: No such file or directory\n", ""},
		{"loopback", "curl", "curl http://localhost:3000", "curl: (7) Failed to connect to localhost port 3000", "the session's own"},
		{"loopback", "Python", "python3 get.py", "ConnectionRefusedError: [Errno 111] Connection refused: ('127.0.0.1', 8123)", "the session's own"},
		{"loopback", "Node", "node get.js", "Error: connect ECONNREFUSED ::1:3000", "the session's own"},
		{"", "another machine", "curl http://example.com", "curl: (7) Failed to connect to example.com port 80", ""},
		{"", "another error", "curl http://localhost:3000/x", "curl: (22) The requested URL returned error: 404", ""},
		{"sockets", "ssh-add", "ssh-add -l", "Could not open a connection to your authentication agent.\n", "SSH_AUTH_SOCK of the user's environment"},
		{"sockets", "ssh", "git push", "git@example.com: Permission denied (publickey).\nfatal: Could not read from remote repository.\n", "SSH_AUTH_SOCK of"},
		{"sockets", "bash", "set -u; echo $SSH_AUTH_SOCK", "bash: line 1: SSH_AUTH_SOCK: unbound variable\n", "SSH_AUTH_SOCK of"},
		{"sockets", "systemctl", "systemctl --user status", "Failed to connect to bus: No medium found\n", "DBUS_SESSION_BUS_ADDRESS of"},
		{"sockets", "X11", "xclip", "Error: Can't open display: (null)\n", "DISPLAY of"},
		{"", "a variable that the user has not", "kubectl get pods", "The connection to the server localhost:8080 was refused - did you specify the right host or port?\n", ""},
		{"signing", "git with ssh-keygen", "git commit -m x", "error: No private key found for public key \"/home/u/.ssh/id.pub\"?\n\nfatal: failed to write commit object\n", "SSH_AUTH_SOCK"},
		{"signing", "git with a key of its own words", "git tag -s v1 -m x", "error: No private key found for \"/tmp/.git_signing_key_tmp1\"?\n\n", "makes nothing without it"},
		{"signing", "git with gpg", "git commit -m x", "error: gpg failed to sign the data\nfatal: failed to write commit object\n", "makes nothing without it"},
		{"", "a commit without an author", "git commit -m x", "fatal: unable to auto-detect email address (got 'u@h.(none)')\n", ""},
		{"namespaces", "unshare", "unshare -r true", "unshare: unshare failed: Operation not permitted\n", "namespaces or mounts"},
		{"namespaces", "bwrap", "bwrap", "bwrap: Creating new namespace failed: Operation not permitted\n", "namespaces or mounts"},
		{"namespaces", "bwrap of an ordinary user", "bwrap", "bwrap: No permissions to create new namespace, likely because the kernel does not allow non-privileged user namespaces.\n", "namespaces or mounts"},
		{"toolchains", "a directory of PATH that cannot be read", "env node", "env: 'node': Permission denied\n", "a place of nvm"},
		{"namespaces", "Chromium", "npx playwright test", "[0101/000000.1:FATAL:zygote_host_impl_linux.cc(128)] No usable sandbox! If this is a Debian system\n", "--no-sandbox"},
		{"namespaces", "Chromium, in a user namespace", "chromium", "Failed to move to new namespace: PID namespaces supported, Network namespace supported, but failed: errno = Operation not permitted\n", "--no-sandbox"},
		{"namespaces", "nix", "nix build", "error: cloning builder process: Operation not permitted\nerror: unable to start build process: clone: Operation not permitted\n", "sandbox false"},
		{"namespaces", "mount", "mount x", "mount: /mnt: permission denied.\n", "namespaces or mounts"},
		{"", "a mode", "chmod 777 /x", "chmod: changing permissions of '/x': Operation not permitted\n", ""},
		{"", "a directory called mount", "mkdir /mount", "mkdir: cannot create directory '/mount': Permission denied\n", ""},
		{"", "a clone", "git clone x", "fatal: could not create work tree dir 'clone': Permission denied\n", ""},
		{"", "a test", "go test", "--- FAIL: TestX\nFAIL\n", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.row == "tmp" && !inTmp {
				t.Skip("temporary directories are not below /tmp")
			}
			f := &Failure{Line: tt.line, Stderr: "first line\n" + tt.stderr, Dir: "/w", Environ: []string{"SSH_AUTH_SOCK=/run/x", "DISPLAY=:0", "KUBECONFIG=", "DBUS_SESSION_BUS_ADDRESS=x"},
				level: Full, home: home, replaced: func(path string) bool { return strings.HasPrefix(path, "/tmp/") }}
			got, do := remarks(f), ""
			for _, a := range Absences() {
				if a.ID == tt.row {
					do = a.Do
				}
			}
			switch {
			case tt.want == "" && got != nil:
				t.Errorf("%q", got)
			case tt.want != "" && (len(got) != 1 || !strings.HasPrefix(got[0], "likely: ") || !strings.HasSuffix(got[0], ": "+do) || !strings.Contains(got[0], tt.want)):
				t.Errorf("%q, want %q and %q", got, tt.want, do)
			}
		})
	}
	f := &Failure{Stderr: "error: Signing x failed: agent refused operation\n", Environ: []string{"SSH_AUTH_SOCK=/run/x"}, Given: []string{"SSH_AUTH_SOCK=/run/x"}, level: Full}
	if got := remarks(f); got != nil {
		t.Errorf("a command that got the variable is told that it did not: %q", got)
	}
	f = &Failure{Stderr: "curl: (6) Could not resolve host: example.com\n", level: Landlock}
	if got := remarks(f); len(got) != 1 || !strings.Contains(got[0], "at level landlock commands have no network") {
		t.Errorf("%q", got)
	}
	if f.level = Full; remarks(f) != nil {
		t.Errorf("%q", remarks(f))
	}
}

func TestHints(t *testing.T) {
	tests := []struct {
		name, stderr string
		wall         Wall
		path, host   string
		grant        string
	}{
		{"touch", "touch: cannot touch '/usr/x': Read-only file system\n", FileSystem, "/usr/x", "", "write:/usr/x"},
		{"curly quotes", "mkdir: cannot create directory ‘/opt/a b’: Read-only file system", FileSystem, "/opt/a b", "", "write:/opt/a b"},
		{"bash", "bash: line 1: /etc/passwd: Read-only file system", FileSystem, "/etc/passwd", "", "write:/etc/passwd"},
		{"relative", "bash: line 1: ../x: Read-only file system", FileSystem, "/w/x", "", ""},
		{"go", "mkdir /usr/.cache/x: read-only file system", FileSystem, "/usr/.cache/x", "", "write:/usr/.cache/x"},
		{"node", "Error: EROFS: read-only file system, mkdir '/usr/.npm'", FileSystem, "/usr/.npm", "", "write:/usr/.npm"},
		{"dash", "sh: 1: can't create /opt/x: Read-only file system, don't ask", FileSystem, "/opt/x", "", "write:/opt/x"},
		{"seen", "go: copying /tmp/go-build1/a.out: open tool: read-only file system", FileSystem, "/usr/bin/tool", "", "write:/usr/bin/tool"},
		{"seen as a whole", "cp: cannot create '/usr/lib/tool': Read-only file system", FileSystem, "/usr/lib/tool", "", "write:/usr/lib/tool"},
		{"no path", "sed: write error: Read-only file system", FileSystem, "", "", ""},
		{"curl", "curl: (6) Could not resolve host: Example.com", NoNetwork, "", "example.com", "host:example.com"},
		{"npm", "npm ERR! request failed, reason: getaddrinfo EAI_AGAIN registry.example.org", NoNetwork, "", "registry.example.org", "host:registry.example.org"},
		{"go get", "dial tcp: lookup example.org: no such host", NoNetwork, "", "example.org", "host:example.org"},
		{"unreachable", "connect: Network is unreachable", NoNetwork, "", "", ""},
	}
	kept := &refusedPaths{}
	for _, path := range []string{"/usr/lib/tool", "/home/other/writer", "/usr/bin/tool"} {
		kept.add(path)
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := hintsOf("first line\n"+tt.stderr+"\n", "/w/d/..", kept)
			if tt.name == "relative" {
				got = hintsOf(tt.stderr, "/w/d", kept)
			}
			if len(got) != 1 {
				t.Fatalf("%v", got)
			}
			v := got[0]
			if v.Wall != tt.wall || v.Path != tt.path || v.Host != tt.host || v.Grant != tt.grant || v.Certain {
				t.Errorf("%+v", v)
			}
		})
	}
	if got := hintsOf("all is well\nPermission denied\n", "/", kept); got != nil {
		t.Errorf("%v", got)
	}
}
