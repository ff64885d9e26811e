package classify

import (
	"bytes"
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"toolhost/agenttool"
)

// runPieces make command lines whose programs are markers: m1, m2 and m3 write down that they ran.
var runPieces = []string{"m1 ", "m2 ", "m3", " m1", "\n", "\n", ";", "; ", "|", " && ", "||", "&", "'", `"`, `\`, "\\\n", "#", " # ", "<<E", "<<E",
	"<<'E'", "<<-E", `<<"E"`, "<<\\E", "E", "\nE\n", "\nE\n", "\n\tE\n", "$(", ")", ")", "`", "`", "(", "{ ", "; }", "$", "${x", "${x:-", "}", "((", "))",
	"$((", "[[ ", " ]]", "if ", "; then ", "; fi", "\t", "\v", "\f", "\u00a0", "<<<", "case x in ", "x) ", ";; ", "esac", "! ", "time ", "for i in 1; do ", "; done",
	"until m1; do ", "a=", "x", "1", "$'", `\'`, "f() ", "f", "function f ", "+", "<(", "{m1,", "m2}", "${#", "coproc ", "$\"", "~", "=~ ", "@(", "*", "?"}

// TestBashRunsNothingUnseen runs command lines that are believed, and finds each command that ran among their parts; and lines that are
// not believed, and finds each among what rules that forbid look at. testdata/classify/differential.sh does so for hours:
// TOOLHOST_DIFFERENTIAL is how many lines it makes, TOOLHOST_DIFFERENTIAL_TIME how long it may, TOOLHOST_DIFFERENTIAL_SEED where it begins.
func TestBashRunsNothingUnseen(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("bash is not installed")
	}
	d := differential{bash: bash, dir: t.TempDir(), locale: "C.UTF-8"}
	d.prepare()
	many, limit, seed := 10_000, time.Hour, 1
	if n, err := strconv.Atoi(os.Getenv("TOOLHOST_DIFFERENTIAL")); err == nil {
		many, limit = n, 24*time.Hour
	}
	if length, err := time.ParseDuration(os.Getenv("TOOLHOST_DIFFERENTIAL_TIME")); err == nil {
		many, limit = 1<<40, length
	}
	if n, err := strconv.Atoi(os.Getenv("TOOLHOST_DIFFERENTIAL_SEED")); err == nil {
		seed = n
	}
	l := lines{Rand: rand.New(rand.NewPCG(uint64(seed), 4))}
	for start, next := time.Now(), 100_000; d.made < many && time.Since(start) < limit; {
		if d.add(t, l.line()); d.made == next {
			fmt.Printf("%v: %s\n", time.Since(start).Round(time.Second), d.counts())
			next *= 2
		}
	}
	d.flush(t)
	if t.Logf("seed %d: %s", seed, d.counts()); d.believed < d.made/100 || d.ran < d.believed/10 {
		t.Error("too few of them were compared")
	}
}

// differential compares what lines run with what is known of them.
type differential struct {
	bash, dir, locale string
	seen              map[uint64]bool // lines that ran
	batch             []judged

	made, believable, believed, doubted, ran, endless, differences int
}

type judged struct {
	text  string
	facts agenttool.Facts
}

// believed reports whether a line may run unasked, or be allowed by rules for its parts.
func (j judged) believed() bool {
	return j.facts.ReadOnly == agenttool.Yes || j.facts.PartsComplete == agenttool.Yes
}

func (d *differential) counts() string {
	return fmt.Sprintf("%d lines made, %d of them believed; run: %d believed and %d not, which ran %d commands; %d did not end; %d differences",
		d.made, d.believable, d.believed, d.doubted, d.ran, d.endless, d.differences)
}

const batchLines = 400

// definitions make recorders of all commands: functions of the names of builtins, and the handler of names that are not found.
const definitions = `note() { ((++__C > 10)) && builtin exit; local IFS=$'\x1f' all; all="$*"; builtin printf '%s\x1f%s\x1f\x1e' "$__N" "${all//$'\n'/$'\x1d'}" >&9; }
for f in cat ls wc m1 m2 m3 rm; do eval "$f() { note $f \"\$@\"; }"; done
echo() { note echo "$@"; builtin echo "$@"; }
true() { note true "$@"; }
command_not_found_handle() { note "$@"; return 127; }
`

func (d *differential) prepare() {
	d.seen = map[uint64]bool{}
}

// intricate reports whether a line has what readers of bash trip over.
func intricate(text string) bool {
	return strings.Contains(text, "<<") || strings.ContainsAny(text, "\\`#\r\v\f\u00a0\u3000\u2028\u0085") || strings.Contains(text, "${") ||
		strings.Contains(text, "$(") || strings.Contains(text, "case") || strings.Contains(text, "[[") || strings.Count(text, "'")%2+strings.Count(text, `"`)%2 > 0
}

// hashed is the same in each run, so that a seed says all that a run does.
func hashed(text string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(text))
	return h.Sum64()
}

// add takes a line. Of those that are plain, or not believed, every eighth runs, so that most of the time goes to the others.
func (d *differential) add(t *testing.T, text string) {
	d.made++
	if len(text) > 2000 || strings.ContainsAny(text, "/\x00\x1d\x1e\x1f") { // nothing outside is named
		return
	}
	hash := hashed(text)
	j := judged{text, Command(text, testContext)}
	if j.believed() {
		d.believable++
	}
	if !j.believed() && j.facts.Unmentioned || (!j.believed() || !intricate(text)) && hash%8 != 0 || d.seen[hash] {
		return
	}
	if d.seen[hash] = true; len(d.seen) > 4_000_000 {
		clear(d.seen)
	}
	if d.batch = append(d.batch, j); len(d.batch) == batchLines {
		d.flush(t)
	}
}

func (d *differential) flush(t *testing.T) {
	d.locale = map[string]string{"C": "C.UTF-8", "C.UTF-8": "C"}[d.locale] // commands run in no others
	d.run(t, d.batch)
	d.batch = d.batch[:0]
}

// run runs some lines in one shell. If that does not end, each half runs by itself.
func (d *differential) run(t *testing.T, list []judged) {
	if len(list) == 0 {
		return
	}
	out, ended := d.shell(t, list)
	switch {
	case ended:
		d.compare(t, list, out)
	case len(list) == 1:
		d.endless++
	default:
		d.run(t, list[:len(list)/2])
		d.run(t, list[len(list)/2:])
	}
}

// shell runs each line in a subshell that finds no programs, in a directory of its own, and returns what was recorded.
func (d *differential) shell(t *testing.T, list []judged) (out []byte, ended bool) {
	var script strings.Builder
	script.WriteString("exec 9>&3 3>&-; ulimit -t 2\n" + definitions)
	for i, j := range list {
		fmt.Fprintf(&script, "( __N=%d; eval %s ) </dev/null >/dev/null 2>&1\n", i, single(j.text))
	}
	where := filepath.Join(d.dir, "1/2/3/4/5/6/7/8")
	if err := os.RemoveAll(where); err != nil { // files that redirections made
		t.Fatal(err)
	}
	if err := os.MkdirAll(where, 0o700); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(d.dir, "script")
	if err := os.WriteFile(file, []byte(script.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Duration(2+len(list)/20)*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, d.bash, "--norc", "--noprofile", file)
	cmd.Dir, cmd.ExtraFiles = where, []*os.File{write}
	cmd.Env = []string{"PATH=/no-such-name-of-toolhost", "HOME=" + testContext.Home, "LC_ALL=" + d.locale, "FUNCNEST=8"}
	confine(cmd)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	write.Close()
	var all bytes.Buffer
	done := make(chan struct{})
	go func() { // until the last process that may record has ended
		defer close(done)
		_, _ = all.ReadFrom(read)
	}()
	select {
	case <-done:
	case <-ctx.Done():
	}
	killAll(cmd)
	_ = cmd.Wait()
	<-done
	return all.Bytes(), ctx.Err() == nil
}

// compare finds what ran among what is known of each line.
func (d *differential) compare(t *testing.T, list []judged, out []byte) {
	for _, j := range list {
		if j.believed() {
			d.believed++
		} else {
			d.doubted++
		}
	}
	for record := range strings.SplitSeq(string(out), "\x1e") {
		words := strings.Split(strings.ReplaceAll(record, "\x1d", "\n"), "\x1f") // a newline would part what is written at once
		if len(words) < 3 || len(record) > 4000 {                                // more is not written at once
			continue
		}
		i, err := strconv.Atoi(words[0])
		if err != nil || i >= len(list) {
			t.Fatalf("a record %q", record)
		}
		d.ran++
		for i, word := range words {
			words[i] = descriptors.ReplaceAllString(word, "/dev/fd/63") // which of them is free is not known
		}
		d.check(t, list[i], words[1:len(words)-1])
	}
}

func (d *differential) check(t *testing.T, j judged, ran []string) {
	switch {
	case j.believed() && !slices.ContainsFunc(j.facts.Parts, func(p agenttool.Part) bool { return mayBe(p.Argv, ran) }):
		t.Errorf("%q runs %q, which is not among the parts %s", j.text, ran, shown(j.facts.Parts))
	case !slices.ContainsFunc(j.facts.Mentions, func(argv []string) bool { return mentions(argv, ran) }):
		t.Errorf("%q runs %q, which is not among the mentions %q", j.text, ran, j.facts.Mentions)
	default:
		return
	}
	if d.differences++; d.differences > 100 {
		t.FailNow()
	}
}

var descriptors = regexp.MustCompile(`/dev/fd/[0-9][0-9]`)

func shown(parts []agenttool.Part) string {
	var b strings.Builder
	for _, p := range parts {
		fmt.Fprintf(&b, "%q ", p.Argv)
	}
	return b.String()
}

// mentions reports whether a command that ran has the name of one that was gathered: of its words rules see what is spelt.
func mentions(argv []string, ran []string) bool {
	name, _, open := strings.Cut(argv[0], agenttool.Unread)
	return argv[0] == ran[0] || open && strings.HasPrefix(ran[0], name) || strings.Contains(argv[0], "~")
}

// mayBe reports whether a part may run with these words.
func mayBe(argv, ran []string) bool {
	for i, word := range argv {
		if begins, open := strings.CutSuffix(word, "…"); open {
			return i > 0 || i < len(ran) && strings.HasPrefix(ran[i], begins)
		}
		if i >= len(ran) || ran[i] != word {
			return false
		}
	}
	return len(argv) == len(ran)
}
