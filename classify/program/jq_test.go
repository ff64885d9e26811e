package program

import "testing"

func TestJq(t *testing.T) {
	checkText(t, []textCase{
		{"jq .a f", "r:f"},
		{"jq -r .a f g", "r:f,g"},
		{"jq -nr 1", ""},
		{"jq --tab --indent 2 . f", "r:f"},
		{"jq --arg x 1 .a f", "r:f"},
		{`jq --arg x "$y" .a f`, "r:f"},
		{"jq --argjson x 1 --slurpfile y g .a f", "r:g,f"},
		{`jq --rawfile y "$g" .a f`, "r:…,f"},
		{"jq -n --args .a f g", ""},
		{"jq .a --args f g", ""},
		{"jq -L d .a f", "reads_elsewhere r:f"},
		{"jq -f prog f", "reads_elsewhere r:prog,f"},
		{"jq --from-file prog f", "reads_elsewhere r:prog,f"},
		{"jq -x . f", "reads_elsewhere r:f"},
		{`jq 'import "a" as a; .' f`, "reads_elsewhere r:f"},
		{`jq "$x" f`, "reads_elsewhere r:f"},
		{`jq .a"$x" f`, "r:f"},
		{`jq i"$x" f`, "reads_elsewhere r:f"},
		{"jq $x", "reads_elsewhere"},
	})
}

func TestYq(t *testing.T) {
	checkText(t, []textCase{
		{"yq .a f", "r:.a,f"},
		{"yq e .a f", "r:.a,f"},
		{"yq f.yml", "r:f.yml"},
		{"yq -o json -P f", "r:f"},
		{"yq 'load(\"x\")' f", "?"},
		{`yq 'eval("lo"+"ad_str(\"x\")")' f`, "?"},
		{"yq '.a|load_xml(.b)' f", "?"},
		{"yq 'strload(\"x\")' f", "?"},
		{"yq 'load.yaml' f", "?"},
		{"yq '.a = env(HOME)' f", "?"},
		{"yq 'strenv(HOME)' f", "?"},
		{"yq '.a|envsubst' f", "?"},
		{"yq 'system(\"rm\";\"x\")' f", "?"},
		{"yq '.a|not_known_yet' f", "?"},
		{`yq '"a\(load("x"))"' f`, "?"},
		{"yq --expression 'load(\"x\")' f", "?"},
		{"yq --from-file e f", "?"},
		{"yq '.load.eval[0]|select(.env==\"load\")|keys' f", "r:.load.eval[0]|select(.env==\"load\")|keys,f"},
		{"yq '.a[]|to_entries|map(.key)|join(\",\")' f", "r:.a[]|to_entries|map(.key)|join(\",\"),f"},
		{"yq --expression .a f", "r:f"},
		{"yq sub/dir/f.json", "r:sub/dir/f.json"},
		{"yq a.yml b.yml", "r:a.yml,b.yml"},
		{"yq -i .a f", "writes w:.a,f"},
		{"yq --inplace .a f", "writes w:.a,f"},
		{"yq -yi .a f", "writes w:.a,f"},
		{"yq -s .a f", "writes r:.a,f"},
		{"yq w f a b", "?"},
		{"yq -f x f", "?"},
		{"yq --enable-system-operator .a f", "?"},
	})
}

func TestFilterThatImports(t *testing.T) {
	for _, test := range []struct {
		name   string
		filter Word
		want   bool
	}{
		{"plain", Lit(".a | .b"), false},
		{"later", Lit(".a | import"), true},
		{"import", Lit(`import "a" as a; .`), true},
		{"include", Lit(`include "a"; .`), true},
		{"module", Lit(`module {}; import "a" as a; .`), true},
		{"after a comment", Lit("# a\n \t# b\ninclude \"a\"; ."), true},
		{"comment alone", Lit("# a"), false},
		{"after a comment that may go on", Lit("# x \\\n1\nimport \"a\" as $a; ."), true},
		{"unknown", Word{}, true},
		{"unknown after a comment", Word{Text: "# a"}, true},
		{"unknown after a beginning", Word{Text: "inc"}, true},
		{"unknown after another beginning", Word{Text: ".a"}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := jqImports(test.filter); got != test.want {
				t.Errorf("got %v", got)
			}
		})
	}
}
