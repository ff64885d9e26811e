package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"toolhost/agenttool"
	"toolhost/agenttool/cut"
	"toolhost/cmd/toolhost/internal/check"
	"toolhost/cmd/toolhost/internal/policy"
	"toolhost/cmd/toolhost/internal/session"
	"toolhost/host"
	"toolhost/permissions"
	"toolhost/persist"
	"toolhost/persist/redact"
	"toolhost/sandbox"
)

// agreed is one call that check and call are asked about.
type agreed struct{ rules, tool, input string }

// agreedRows are the calls of all tables, in the world of the decision table.
func agreedRows(t testing.TB, replace *strings.Replacer) []agreed {
	t.Helper()
	var rows []agreed
	add := func(rules, tool string, input any) {
		encoded, err := json.Marshal(input)
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, agreed{rules, tool, string(encoded)})
	}
	shell := func(rules, command string) {
		add(rules, "shell", map[string]string{"command": replace.Replace(repeated(unescaped.Replace(command)))})
	}
	for _, table := range []struct {
		file    string
		columns int
	}{
		{evasionTable, 2}, {ordinaryTable, 2}, {sessionTable, 5}, {"../../testdata/classify/own.tsv", 4},
		{"../../testdata/classify/shell-readonly.tsv", 4}, {"../../testdata/classify/truth.tsv", 15},
	} {
		for _, cells := range tableLines(t, table.file, table.columns) {
			shell("", cells[0])
			if table.file == evasionTable {
				shell(denied, cells[0])
			}
		}
	}
	for _, row := range decisionRows(t) {
		name, input, isTool := row.tool()
		switch {
		case !isTool:
			shell(row.rules, row.call)
		case strings.HasPrefix(input, "{"):
			add(row.rules, name, json.RawMessage(replace.Replace(input)))
		case name == "write":
			add(row.rules, name, map[string]string{"path": replace.Replace(input), "content": "x\n"})
		default:
			add(row.rules, name, map[string]string{"path": replace.Replace(input)})
		}
	}
	return rows
}

// unescaped puts the characters in the place of what the tables write for them.
var unescaped = strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\r`, "\r")

// pair is a host that only checks and one that makes calls, in one workspace. The second can run nothing and record nothing: its jobs
// are closed, and there is no place for its log, without which nothing starts that may change a thing.
type pair struct {
	options  session.Options
	settings string // the file that rules are put into
	calls    *session.Session
	check    *session.Checker
	n        int
}

func newPair(t *testing.T, mode permissions.Mode) (*pair, *strings.Replacer) {
	t.Helper()
	base := deciderDir(t)
	d := &decider{base: base, ws: filepath.Join(base, "ws"), home: filepath.Join(base, "home"), out: filepath.Join(base, "out")}
	d.replace = strings.NewReplacer("$WS", d.ws, "$HOME", d.home, "$OUT", d.out, "$BASE", d.base, "/testbed", d.ws)
	furnishSession(t, d.ws)
	d.furnish(t)
	for name, dir := range map[string]string{
		"HOME": d.home, "XDG_CONFIG_HOME": filepath.Join(d.home, ".config"), "XDG_STATE_HOME": filepath.Join(d.home, ".local/state"),
		"XDG_RUNTIME_DIR": filepath.Join(base, "run"), "XDG_CACHE_HOME": filepath.Join(d.home, ".cache"),
	} {
		t.Setenv(name, dir)
	}
	p := &pair{settings: filepath.Join(d.home, ".config/toolhost/settings.json")}
	p.options = session.Options{
		Workspace: d.ws, Policy: policy.Flags{Mode: string(mode)}, Sandbox: string(sandbox.Landlock), MaxParallel: 1, MaxJobs: 1, Overwrite: true, Log: logLine,
		Store: func(string, *redact.Redactor) (*persist.Store, error) {
			return persist.New(persist.Options{Dir: filepath.Join(base, "beside.txt", "log")}), nil
		},
	}
	var err error
	if p.calls, err = session.New(p.options); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.calls.Close() })
	p.calls.Jobs.Close()
	return p, d.replace
}

// under puts rules in force.
func (p *pair) under(t testing.TB, rules string) {
	t.Helper()
	flags, err := ruleArguments(rules)
	if err != nil {
		t.Fatal(err)
	}
	permissions := map[string][]string{}
	for ; len(flags) > 0; flags = flags[2:] {
		behavior := strings.TrimPrefix(flags[0], "--")
		permissions[behavior] = append(permissions[behavior], flags[1])
	}
	text, err := json.Marshal(map[string]any{"permissions": permissions})
	if err == nil {
		err = errors.Join(os.MkdirAll(filepath.Dir(p.settings), 0o700), os.WriteFile(p.settings, text, 0o600), p.calls.Reload())
	}
	if err != nil {
		t.Fatal(err)
	}
	if p.check != nil {
		p.check.Close()
	}
	if p.check, err = session.NewChecker(p.options, p.calls.Sandbox.Level); err != nil {
		t.Fatal(err)
	}
}

// checked is what check says of a call: the behaviour, and why.
func (p *pair) checked(row agreed) (agenttool.Behavior, string) {
	c, err := check.Call(p.check, row.tool, []byte(row.input))
	if err != nil {
		return "", agenttool.AsError(err, agenttool.InvalidArguments).Code
	}
	return c.Behavior, c.Reason.Detail
}

// called is what becomes of it when it is made.
func (p *pair) called(t testing.TB, row agreed) (agenttool.Behavior, string) {
	t.Helper()
	p.n++
	done := make(chan host.Completion, 1)
	err := p.calls.Host.Invoke(host.Request{ID: fmt.Sprint("c", p.n), Tool: row.tool, Input: []byte(row.input)}, func(c host.Completion) { done <- c })
	if err != nil {
		t.Fatal(err)
	}
	c := <-done
	passed := slices.ContainsFunc(c.Invocation.Phases, func(timing agenttool.PhaseTiming) bool {
		return timing.Phase == agenttool.PhasePermission && timing.Outcome == ""
	})
	e := c.Result.Error
	switch {
	case passed:
		return agenttool.Allow, fmt.Sprint(e)
	case e == nil:
		t.Fatalf("%s %s: it succeeded without a decision", row.tool, row.input)
	case e.Code == "approval_unavailable":
		return agenttool.Ask, e.Message
	case strings.HasPrefix(e.Code, "denied_by_"):
		return agenttool.Deny, e.Message
	}
	return "", e.Code
}

// TestCheckAndCallAgree: what check says of a call is what becomes of it, for every row of every table, and for the same reason.
func TestCheckAndCallAgree(t *testing.T) {
	for _, mode := range []permissions.Mode{permissions.Default, permissions.Sandboxed} {
		t.Run(string(mode), func(t *testing.T) {
			p, replace := newPair(t, mode)
			rows := agreedRows(t, replace)
			slices.SortStableFunc(rows, func(a, b agreed) int { return cmp.Compare(a.rules, b.rules) })
			least := 500
			if underRace { // some of each table
				some := rows[:0]
				for i := 0; i < len(rows); i += 8 {
					some = append(some, rows[i])
				}
				rows, least = some, 50
			}
			if !long() && !underRace { // the ordinary form tries every second row, and that in one of the modes
				some, from := rows[:0], 0
				if mode == permissions.Default {
					from = 2
				}
				for i := from; i < len(rows); i += 4 {
					some = append(some, rows[i])
				}
				rows, least = some, 200
			}
			seen, rules := map[agenttool.Behavior]int{}, "none yet"
			for _, row := range rows {
				if row.rules != rules {
					rules = row.rules
					p.under(t, replace.Replace(rules))
				}
				want, why := p.checked(row)
				got, said := p.called(t, row)
				seen[got]++
				if got != want || got != agenttool.Allow && !strings.Contains(said, why) {
					t.Errorf("%s %s under %q: check says %q (%s), call %q (%s)", row.tool, cut.Characters(row.input, 300), row.rules, want, why, got, said)
				}
			}
			t.Log(mode, len(rows), "calls:", seen)
			if seen[agenttool.Allow] < least || seen[agenttool.Ask] < least || seen[agenttool.Deny] < least {
				t.Errorf("%v of %d rows: too few of one kind to compare", seen, len(rows))
			}
		})
	}
}

// keepBusy has every processor work until the test ends.
func keepBusy(t testing.TB) {
	t.Helper()
	var over atomic.Bool
	var busy sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		busy.Go(func() {
			for n := 0; !over.Load(); n++ {
				_ = strings.Repeat("x", n%512)
			}
		})
	}
	t.Cleanup(func() { over.Store(true); busy.Wait() })
}

// TestVerdictsDoNotFlip: a busy machine decides the same again and again: rows of all tables by check and by call, and commands whose files
// are looked up on the disk, many times and many at once. The long form has 150 rows, and a thousand times.
func TestVerdictsDoNotFlip(t *testing.T) {
	p, replace := newPair(t, permissions.Sandboxed)
	p.under(t, "")
	keepBusy(t)
	rows := slices.DeleteFunc(agreedRows(t, replace), func(row agreed) bool { return row.rules != "" })
	seen := map[agenttool.Behavior]int{}
	some := count(60, 150)
	for i := range some {
		row := rows[i*len(rows)/some]
		want, why := p.checked(row)
		seen[want]++
		for range 3 {
			if got, said := p.checked(row); got != want || said != why {
				t.Errorf("%s: %q (%s), and then %q (%s)", row.input, want, why, got, said)
			}
			if got, said := p.called(t, row); got != want {
				t.Errorf("%s: check says %q (%s), call %q (%s)", row.input, want, why, got, said)
			}
		}
	}
	for _, command := range []string{"cat src/*.go", "cd src && head -n 3 *.go", "find . -name '*.go' | xargs wc -l"} {
		p.repeat(t, agreed{tool: "shell", input: `{"command":` + strconv.Quote(command) + `}`}, count(300, 1000))
	}
	if t.Log(seen); seen[agenttool.Allow] < some/8 || seen[agenttool.Ask] < some/8 {
		t.Errorf("%v: too few of one kind", seen)
	}
}

// repeat checks a call many times, from many goroutines.
func (p *pair) repeat(t *testing.T, row agreed, times int) {
	const workers = 20
	want, why := p.checked(row)
	var all sync.WaitGroup
	for range workers {
		all.Go(func() {
			for range times / workers {
				if got, said := p.checked(row); got != want || said != why {
					t.Errorf("%s: %q (%s), and then %q (%s)", row.input, want, why, got, said)
				}
			}
		})
	}
	all.Wait()
	t.Log(row.input, want)
}
