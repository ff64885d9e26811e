package sandbox

import "testing"

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
