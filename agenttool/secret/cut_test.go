package secret

import "testing"

// TestCut: a text keeps its lines but for the secrets.
func TestCut(t *testing.T) {
	token := "ghp_" + "q7Kx2mPz9LbV4tRw8NcY1sHd6FgJ3aQe5UiX"
	for _, c := range []struct{ text, want string }{
		{"[remote \"origin\"]\n\turl = https://me:Tr0ub4dor-and-3@h/a.git\n\tfetch = x\n", "[remote \"origin\"]\n\turl = https://h/a.git\n\tfetch = x\n"},
		{"url = https://" + token + "@github.com/a\n", "url = https://github.com/a\n"},
		{"url = https://x-access-token:" + token + "@github.com/a", "url = https://github.com/a"},
		{"registry=https://r/\n//r/:_authToken=" + token + "\nsave-exact=true\n", "registry=https://r/\nsave-exact=true\n"},
		{"a: 1\nnpmAuthToken: " + token, "a: 1\n"},
		{"channels:\n  - https://me:Tr0ub4dor-and-3@h/t/x\n  - defaults\n", "channels:\n  - https://h/t/x\n  - defaults\n"},
		{"url = ssh://git@h/a\npassword = Tr0ub4dor-and-3\n", "url = ssh://git@h/a\n"},
	} {
		if got, ok := Cut([]byte(c.text)); string(got) != c.want || !ok {
			t.Errorf("%q became %q, %v", c.text, got, ok)
		}
	}
	if _, ok := Cut([]byte("nothing = here\n")); ok {
		t.Error("a text without a secret was cut")
	}
}
