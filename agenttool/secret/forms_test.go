package secret

import (
	"bytes"
	_ "embed"
	"strings"
	"testing"
)

// passwordForms are the forms in which a password stands in commands and files; @ is the password. A form may have several lines, which \n
// divides.
//
//go:embed testdata/forms.txt
var passwordForms string

// forms of the list, without its comments.
func listedForms(t testing.TB) (all []string) {
	for line := range strings.Lines(passwordForms) {
		if line = strings.TrimRight(line, "\n"); line != "" && !strings.HasPrefix(line, "# ") {
			all = append(all, strings.ReplaceAll(line, `\n`, "\n"))
		}
	}
	if len(all) < 48 {
		t.Fatalf("%d forms", len(all))
	}
	return all
}

// TestPasswordForms: in every form the password is found, and what stands around it stays.
func TestPasswordForms(t *testing.T) {
	for _, password := range []string{"Tr0ub4dor-and-3", "hunter2", "x9!kLm.2pQ"} {
		for _, form := range listedForms(t) {
			text := strings.ReplaceAll(form, "@@", password)
			for _, where := range []string{"%", "one\n%\ntwo"} {
				all := strings.ReplaceAll(where, "%", text)
				left, covered := all, 0
				for _, s := range All().Find([]byte(all)) {
					left = left[:s.Start] + strings.Repeat("\x00", s.End-s.Start) + left[s.End:]
					covered += s.End - s.Start
				}
				if strings.Contains(left, password) {
					t.Errorf("%q stays in %q", password, all)
				} else if most := strings.Count(all, password)*(len(password)+8) + 24; covered > most {
					t.Errorf("%d bytes of %q are covered", covered, all)
				}
			}
		}
	}
}

// TestPasswordsOfLetters: in YAML a password may be of small letters alone, which code and translations do not have there.
func TestPasswordsOfLetters(t *testing.T) {
	for text, want := range map[string]string{
		"password: correcthorse": "correcthorse", "db:\n  user: admin\n  password: swordfish\n  port: 5432\n": "swordfish", "DB_HOST: db\nDB_PASSWORD: swordfish\n": "swordfish",
		"- username: me\n  password: \"swordfish\"\n": "swordfish", "password: swordfish": "", "  username: gebruikersnaam\n  password: wachtwoord": "",
		"user: string\npassword: string\n": "", "  username: name,\n  password: correcthorse\n}": "", "x = {\n  host: h,\n  password: swordfish\n": "", "  email: E-Mail\n  password: Passwort": "",
		"if (a) password: correcthorse": "", "user: me\npassword: required": "", "  login: me\nother:\n  password: swordfish": "",
	} {
		got := ""
		for _, s := range All().Find([]byte(text)) {
			got += text[s.Start:s.End]
		}
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// TestNoPassword: what only looks like one of these forms holds no secret.
func TestNoPassword(t *testing.T) {
	for _, text := range []string{
		"mysql -p db", "mysql -u root -p", "curl -u user https://x", "curl -u user:password https://x", "curl -u $USER:$PASS https://x", "docker run -p 8080:80 nginx",
		"docker login -u me --password-stdin", "ssh -p 2222 host", "psql -p 5432 db", "mkdir -p some/dir1", "cp -p a1 b2", "redis-cli -p 6379", "mongosh --port 27017",
		"password: string", "password: uint8", "password = readPassword(stdin)", "token := lexer.next()", "password: process.env.PASSWORD", "const token = nextToken2()",
		`{"token_type": "bearer"}`, "max_tokens: 4096", "tokens=128000", "password: ${DB_PASSWORD}", "password: {{ password }}", "<password>${env.PW}</password>",
		"openssl req -passin env:PW1", "openssl enc -pass file:secret1", "sudo -S true", "cat x | sudo -S true", "pass: true", "--password <password1>", "bypass: 12ab34cd56",
		"git -c user.name=x1 commit", "the password 123 of it", "password is required", "token: abc", "secret: kubernetes-dashboard-key-holder", "secretName: tls-secret-2",
		"aws s3 cp s3://x1 .", "az group list", "helm install x1 -f y2", "--token=ID", "vault kv get secret/x1", "gh pr view 12 -b", "zip -r a1.zip b2", "net use",
	} {
		if found := All().Find([]byte(text)); len(found) > 0 {
			t.Errorf("%q: %s %q", text, found[0].Kind, text[found[0].Start:found[0].End])
		}
	}
}

// TestArguments: the words of a command are judged as its text is.
func TestArguments(t *testing.T) {
	for _, c := range []struct {
		argv string
		want string
	}{
		{"mysql -ps3cret db", "s3cret"}, {"sudo -u x mysqldump --password=s3cret", "s3cret"}, {"/usr/bin/curl -u me:s3cret x", "s3cret"}, {"curl -ume:s3cret x", "s3cret"},
		{"docker --config c login -u x -p s3cret", "s3cret"}, {"htpasswd -nb x s3cret", "s3cret"}, {"htpasswd -c file x", ""}, {"redis-cli -a s3cret", "s3cret"},
		{"docker run -p 80:8080 x", ""}, {"vault kv put secret/x password=s3cret n=1", "s3cret"}, {"sqlplus me/s3cret@db", "s3cret"},
	} {
		words, got := strings.Fields(c.argv), ""
		for _, a := range Arguments(words) {
			got += words[a.Word][a.Start:a.End]
		}
		if got != c.want {
			t.Errorf("%s: %q", c.argv, got)
		}
	}
}

// TestCommandTable: every row can be read, and a program of two letters has its blank.
func TestCommandTable(t *testing.T) {
	if n := len(commandTable()); n < 100 {
		t.Errorf("%d programs", n)
	}
	for program, rules := range commandTable() {
		for _, rule := range rules {
			if len(rule.holder) == 0 || program == "" || bytes.ContainsAny([]byte(program), ":#~") {
				t.Errorf("%s: %v", program, rule)
			}
		}
	}
}

// FuzzCommands: spans lie in the text, whatever it is.
func FuzzCommands(f *testing.F) {
	for _, form := range listedForms(f) {
		f.Add(strings.ReplaceAll(form, "@@", "hunter2"))
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, s := range All().Find([]byte(text)) {
			if s.Start < 0 || s.End > len(text) || s.Start >= s.End {
				t.Fatalf("%v in %d bytes", s, len(text))
			}
		}
		Arguments(strings.Fields(text))
	})
}

// TestWindowsAreRare: no literal is looked for where records have something else most of the time, such as between two strings.
func TestWindowsAreRare(t *testing.T) {
	for _, often := range []string{`","`, `":"`, `",[`, `":{`, "the", "ing"} {
		for _, a := range all().m.windows[[3]byte([]byte(often))] {
			t.Errorf("%q is looked for at each %q", a.literal, often)
		}
	}
}
