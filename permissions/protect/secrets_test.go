package protect

import "testing"

// TestSecretsByText: a list judges names that do not exist, and what is taken back is not denied.
func TestSecretsByText(t *testing.T) {
	list := append(DefaultReadDeny(), "!/ws/.env", "!~/.aws")
	s, err := CompileSecrets(list, []string{"/ws"}, "/home/me")
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{
		"/ws/.env": false, "/ws/sub/.env": true, "/ws/sub/.ENV": true, "/ws/.env.local": true, "/ws/.env.example": false, "/ws/env": false,
		"/home/me/.ssh": true, "/home/me/.ssh/id": true, "/home/me/.sshx": false, "/home/me/.aws/config": false, "/home/other/.ssh": false,
		"/elsewhere/.env": false, "/": false,
	} {
		if got := s.Denies(path); got != want {
			t.Errorf("%s: denied %v", path, got)
		}
	}
	if _, err := CompileSecrets([]string{"["}, nil, ""); err == nil {
		t.Error("a malformed pattern is taken")
	}
}
