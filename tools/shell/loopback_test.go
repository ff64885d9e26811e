package shell

import (
	"testing"

	"toolhost/sandbox"
)

func TestMetLoopback(t *testing.T) {
	for _, tt := range []struct {
		name, command, stderr string
		level                 sandbox.Level
		want                  bool
	}{
		{"curl", "curl http://localhost:3000", "curl: (7) Failed to connect to localhost port 3000", sandbox.Full, true},
		{"python", "python3 get.py", "ConnectionRefusedError: [Errno 111] Connection refused: ('127.0.0.1', 8123)", sandbox.Full, true},
		{"node", "node get.js", "Error: connect ECONNREFUSED ::1:3000", sandbox.Full, true},
		{"another machine", "curl http://example.com", "curl: (7) Failed to connect to example.com port 80", sandbox.Full, false},
		{"another error", "curl http://localhost:3000/x", "curl: (22) The requested URL returned error: 404", sandbox.Full, false},
		{"the machine's own loopback", "curl http://localhost:3000", "curl: (7) Failed to connect to localhost", sandbox.Landlock, false},
	} {
		if got := metLoopback(tt.level, tt.command, tt.stderr); got != tt.want {
			t.Errorf("%s: got %v, want %v", tt.name, got, tt.want)
		}
	}
}
