package settings

import (
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/tailscale/hujson"

	"toolhost/agenttool"
)

// keys are the settings that a file can hold.
var keys = []string{
	"mode", "permissions.allow", "permissions.ask", "permissions.deny", "add_dirs", "sandbox.require",
	"approvals.wait", "approvals.timeout", "approvals.in_band_scopes", "wall.wait", "env.pass", "env.set", "http.callback_hosts",
	"files.durability", "search.index", "jobs.max", "jobs.timeout", "jobs.output", "jobs.limits", "max_parallel", "hooks",
	"retention.sessions", "retention.payloads", "retention.size", "tools.disable", "redaction.patterns", "redaction.off", "redaction.strategy",
}

// The valid words of settings.
var (
	modes        = agenttool.Names(agenttool.Modes[1:]) // bypass is a flag only
	levels       = agenttool.Names(agenttool.Levels)
	waits        = []string{"attached", "always", "never"}
	scopes       = []string{"session", "user"}
	durabilities = agenttool.Names(agenttool.Durabilities)
	indexes      = []string{"off", "strict", "watched"}
	redactions   = []string{"record", redactModel}
)

// The bounds of numbers.
const (
	maxCount     = 10_000
	maxHookTime  = 10 * time.Minute
	maxLimit     = 1 << 53
	minApproval  = time.Second
	minRetention = time.Minute
	shortestTime = 0
)

// root reads a whole file.
func (d *decoder) root(v hujson.Value) {
	d.object(v, "", []field{
		{"$schema", func(v hujson.Value, path string) { d.string(v, path) }},
		{"mode", d.word(&d.out.Mode, modes)},
		{"permissions", d.permissions},
		{"add_dirs", d.addDirs},
		{"sandbox", d.nested(field{"require", d.word(&d.out.Require, levels)})},
		{"approvals", d.nested(
			field{"wait", d.word(&d.out.Wait, waits)},
			field{"timeout", d.duration(&d.out.ApprovalTimeout, minApproval)},
			field{"in_band_scopes", d.word(&d.out.InBandScopes, scopes)},
		)},
		{"wall", d.nested(field{"wait", d.durationOrNone(&d.out.WallWait, minApproval)})},
		{"env", d.nested(field{"pass", d.texts(&d.out.EnvPass, textForm{names, variableName, nil})}, field{"set", d.envSet})},
		{"http", d.nested(field{"callback_hosts", d.texts(&d.out.CallbackHosts,
			textForm{hosts, "a host: write its name or address alone, such as agents.example.com", nil})})},
		{"files", d.nested(field{"durability", d.word(&d.out.Durability, durabilities)})},
		{"search", d.nested(field{"index", d.word(&d.out.SearchIndex, indexes)})},
		{"jobs", d.nested(
			field{"max", d.number(&d.out.MaxJobs, 1, maxCount)},
			field{"timeout", d.duration(&d.out.JobTimeout, shortestTime)},
			field{"output", d.matching(&d.out.JobOutput, sizes, "a size: write it like 64MiB or 1GiB")},
			field{"limits", d.limits},
		)},
		{"retention", d.nested(
			field{"sessions", d.duration(&d.out.SessionAge, minRetention)},
			field{"payloads", d.duration(&d.out.PayloadAge, minRetention)},
			field{"size", d.matching(&d.out.StoredSize, sizes, "a size: write it like 500MiB or 5GiB")},
		)},
		{"tools", d.nested(field{"disable", d.texts(&d.out.Disabled, textForm{toolNames, "the name of a tool", d.o.CheckTool})})},
		{"redaction", d.nested(
			field{"patterns", d.redactionPatterns},
			field{"off", d.texts(&d.out.RedactionOff, textForm{secretKinds, kindName, d.o.CheckSecret})},
			field{"strategy", d.word(&d.out.RedactionStrategy, redactions)},
		)},
		{"max_parallel", d.number(&d.out.MaxParallel, 1, maxCount)},
		{"hooks", d.hooks},
	})
}

// nested returns a reader of an object.
func (d *decoder) nested(fields ...field) func(hujson.Value, string) {
	return func(v hujson.Value, path string) { d.object(v, path, fields) }
}

// addDirs reads directories and makes them absolute.
func (d *decoder) addDirs(v hujson.Value, path string) {
	d.list(v, path, func(v hujson.Value, path string) {
		var dir Value[string]
		if d.matching(&dir, anything, "a directory")(v, path); !dir.Set {
			return
		}
		switch rest, home := strings.CutPrefix(dir.V, "~"); {
		case home && (rest == "" || rest[0] == '/') && d.o.Home == "":
			d.wrong(v, "%s: there is no home directory for ~", shown(path))
			return
		case home && (rest == "" || rest[0] == '/'):
			dir.V = filepath.Join(d.o.Home, rest)
		case filepath.IsAbs(dir.V):
			dir.V = filepath.Clean(dir.V)
		default:
			dir.V = filepath.Join(d.o.Workspace, dir.V)
		}
		d.out.AddDirs = append(d.out.AddDirs, dir)
	})
}

const variableName = "the name of a variable: letters, digits and _, the first one no digit"

// envSet reads variables and their values.
func (d *decoder) envSet(v hujson.Value, path string) {
	d.variables(v, path, func(key hujson.Value, name, value string) {
		put(&d.out.EnvSet, name, Value[string]{true, value, d.origin(key)})
	})
}

// variables calls each for every variable of an object.
func (d *decoder) variables(v hujson.Value, path string, each func(key hujson.Value, name, value string)) {
	d.members(v, path, func(name string, key, value hujson.Value) {
		if !names().MatchString(name) {
			d.wrong(key, "%s: %s is not %s", shown(path), quoted(name), variableName)
			return
		}
		if s, ok := d.string(value, within(path, name)); ok {
			each(key, name, s)
		}
	})
}

// put sets a key of a map, which may be nil.
func put[V any](m *map[string]V, key string, v V) {
	if *m == nil {
		*m = map[string]V{}
	}
	(*m)[key] = v
}

// resources are the resources in jobs.limits, of which the last two are those of all commands together; size: the limit is a size.
var resources = []struct {
	name string
	size bool
}{
	{"as", true}, {"core", true}, {"cpu", false}, {"data", true}, {"fsize", true}, {"memlock", true}, {"nofile", false},
	{"nproc", false}, {"stack", true}, {"processes", false}, {"memory", true},
}

// limits reads resource limits: numbers or sizes.
func (d *decoder) limits(v hujson.Value, path string) {
	fields := make([]field, len(resources))
	for i, r := range resources {
		fields[i] = field{r.name, func(v hujson.Value, path string) {
			var limit Value[string]
			if r.size && v.Value.Kind() == '"' {
				d.matching(&limit, sizes, "a size: write it like 4GiB")(v, path)
			} else if n, ok := d.whole(v, path, 0, maxLimit); ok {
				limit = Value[string]{true, strconv.Itoa(n), d.origin(v)}
			}
			if limit.Set {
				put(&d.out.JobLimits, r.name, limit)
			}
		}}
	}
	d.object(v, path, fields)
}

// hooks reads the hooks of each event.
func (d *decoder) hooks(v hujson.Value, path string) {
	fields := make([]field, len(Events))
	for i, event := range Events {
		fields[i] = field{event, func(v hujson.Value, path string) {
			d.list(v, path, func(v hujson.Value, path string) { d.hook(v, path, event) })
		}}
	}
	d.object(v, path, fields)
}

// hook reads one hook.
func (d *decoder) hook(v hujson.Value, path, event string) {
	h := Hook{Event: event, Origin: d.origin(v)}
	var tool, input Value[string]
	var milliseconds Value[int]
	before := len(d.problems)
	d.object(v, path, []field{
		{"matcher", d.nested(
			field{"tool", d.matching(&tool, tools, "the name of a tool, or *")},
			field{"input", d.matching(&input, anything, "a rule")},
		)},
		{"command", func(v hujson.Value, path string) { h.Command = d.command(v, path) }},
		{"timeout_ms", d.number(&milliseconds, 1, int(maxHookTime.Milliseconds()))},
		{"env", func(v hujson.Value, path string) { h.Env = d.hookEnv(v, path) }},
	})
	if len(d.problems) > before {
		return
	}
	if len(h.Command) == 0 {
		d.wrong(v, "%s needs a command: a list of the program and its arguments", shown(path))
		return
	}
	h.Matcher, h.Timeout = Matcher{tool.V, input.V}, time.Duration(milliseconds.V)*time.Millisecond
	if h.Matcher.Tool != "" && h.Matcher.Tool != "*" {
		d.checkRule(v, h.Matcher.Tool, agenttool.Ask, tool.Origin)
	}
	if h.Matcher.Input != "" {
		d.checkRule(v, h.Matcher.Input, agenttool.Ask, input.Origin)
	}
	if d.o.CheckHook != nil {
		if err := d.o.CheckHook(h); err != nil {
			d.wrong(v, "%s: %s", shown(path), shown(err.Error()))
			return
		}
	}
	d.out.Hooks = append(d.out.Hooks, h)
}

// command reads an argv.
func (d *decoder) command(v hujson.Value, path string) []string {
	var argv []string
	d.list(v, path, func(v hujson.Value, path string) {
		if s, ok := d.string(v, path); ok {
			argv = append(argv, s)
		}
	})
	if len(argv) > 0 && strings.TrimSpace(argv[0]) == "" {
		d.wrong(v, "%s: the first word is the program, and it is empty", shown(path))
	}
	return argv
}

// hookEnv reads the variables of one hook.
func (d *decoder) hookEnv(v hujson.Value, path string) map[string]string {
	var env map[string]string
	d.variables(v, path, func(_ hujson.Value, name, value string) { put(&env, name, value) })
	return env
}

// redactionPatterns reads further kinds of secrets.
func (d *decoder) redactionPatterns(v hujson.Value, path string) {
	d.list(v, path, func(v hujson.Value, path string) {
		var kind, text Value[string]
		at, before := v, len(d.problems)
		d.object(v, path, []field{
			{"kind", d.matching(&kind, secretKinds, kindName)},
			{"pattern", func(v hujson.Value, path string) { at = v; d.anyText(&text)(v, path) }},
		})
		if len(d.problems) > before {
			return
		}
		if !kind.Set || !text.Set {
			d.wrong(v, `%s needs a kind and a pattern, such as {"kind": "acme_token", "pattern": "acme-[0-9]{8}"}`, shown(path))
			return
		}
		p := SecretPattern{Kind: kind.V, Regexp: text.V, Origin: d.origin(at)}
		check := func(string) error { return d.o.CheckPattern(p) }
		if d.o.CheckPattern == nil || d.valid(at, within(path, "pattern"), check, "") {
			d.out.RedactionPatterns = append(d.out.RedactionPatterns, p)
		}
	})
}
