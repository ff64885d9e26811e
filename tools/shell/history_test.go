package shell

import (
	"strings"
	"testing"
)

// TestPathspecs: what git would leave out is left out, and what it would print is not.
func TestPathspecs(t *testing.T) {
	held := map[string][]string{".env": nil, "a/.env.prod": nil, "deploy/id_rsa": nil}
	for specs, want := range map[string]string{
		"": ".env a/.env.prod deploy/id_rsa", ".": ".env a/.env.prod deploy/id_rsa", "src": "", "a": "a/.env.prod", ".en*": ".env", "*.env*": ".env a/.env.prod",
		"*id_rsa": "deploy/id_rsa", ":(glob)*": ".env", ":(glob)**/.env*": ".env a/.env.prod", ":(glob)**/id_[a-r]sa": "deploy/id_rsa", ":!.env": "a/.env.prod deploy/id_rsa",
		". :(exclude).env* :^deploy": "a/.env.prod", ":(exclude,glob)**/.env* :(exclude)deploy": "", ":(icase)DEPLOY": "deploy/id_rsa", ":(attr:x)src": ".env a/.env.prod deploy/id_rsa",
		":(exclude,attr:x)deploy": ".env a/.env.prod deploy/id_rsa", ":(literal).en*": "", ":/a": "a/.env.prod",
	} {
		if got := strings.Join(selected(held, strings.Fields(specs), "."), " "); got != want {
			t.Errorf("%q selects %q, want %q", specs, got, want)
		}
	}
	if got := selected(held, []string{".env.prod", "../deploy"}, "a"); strings.Join(got, " ") != "a/.env.prod deploy/id_rsa" {
		t.Errorf("below a: %q", got)
	}
}
