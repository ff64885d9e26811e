package settings

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/tailscale/hujson"

	"toolhost/agenttool"
	"toolhost/agenttool/json"
	"toolhost/agenttool/jsonc"
	"toolhost/agenttool/near"
)

// decoder decodes one file. It collects problems and continues after each.
type decoder struct {
	o        Options
	source   string
	file     string
	doc      *jsonc.Document
	out      *Settings
	problems []Problem
	newer    []Problem // keys that a newer version may know: see mayBeNewer
	full     bool      // maxProblems is reached: further ones are dropped
}

// decode decodes the content of one file. Without problems the settings are complete, except for keys that a newer
// version may know: these become the settings' own problems, and make the file count cautiously.
func decode(o Options, source, file string, content []byte) (*Settings, []Problem) {
	d := &decoder{o: o, source: source, file: file, out: &Settings{}}
	var err error
	if d.doc, err = jsonc.Parse(content); err != nil {
		p := Problem{File: file, Message: err.Error()}
		if e, ok := errors.AsType[*jsonc.SyntaxError](err); ok {
			p.Line, p.Column = e.Line, e.Column
		}
		return nil, []Problem{p}
	}
	d.root(d.doc.Root)
	if len(d.problems) > 0 {
		return nil, d.problems
	}
	d.out.Problems = d.newer
	return d.out, nil
}

// problem returns a problem at the place of the value.
func (d *decoder) problem(v hujson.Value, format string, args ...any) Problem {
	p := Problem{File: d.file, Message: fmt.Sprintf(format, args...)}
	p.Line, p.Column = d.doc.Position(v.StartOffset)
	return p
}

// wrong records a problem with the value.
func (d *decoder) wrong(v hujson.Value, format string, args ...any) {
	if d.full {
		return
	}
	p := d.problem(v, format, args...)
	if len(d.problems) == maxProblems {
		p.Message, d.full = "and more: these are the first "+strconv.Itoa(maxProblems)+" problems of the file", true
	}
	d.problems = append(d.problems, p)
}

func (d *decoder) origin(v hujson.Value) agenttool.Origin {
	line, _ := d.doc.Position(v.StartOffset)
	return agenttool.Origin{Source: d.source, File: d.file, Line: line}
}

// field is a key of an object, and the function that reads its value.
type field struct {
	name string
	read func(v hujson.Value, path string)
}

// object reads an object with known keys. path names it in messages; empty: the whole file.
func (d *decoder) object(v hujson.Value, path string, fields []field) {
	d.members(v, path, func(name string, key, value hujson.Value) {
		i := slices.IndexFunc(fields, func(f field) bool { return f.name == name })
		if i < 0 {
			d.unknown(key, name, path, fields)
			return
		}
		fields[i].read(value, within(path, name))
	})
}

// members calls each for every member of an object. A repeated name is a problem.
func (d *decoder) members(v hujson.Value, path string, each func(name string, key, value hujson.Value)) {
	object, ok := v.Value.(*hujson.Object)
	if !ok {
		d.mismatch(v, path, "an object")
		return
	}
	seen := make(map[string]int, len(object.Members))
	for _, m := range object.Members {
		name, ok := d.string(m.Name, path)
		line, _ := d.doc.Position(m.Name.StartOffset)
		if first, again := seen[name]; again {
			d.wrong(m.Name, "%s is given twice, first in line %d: keep one", shown(within(path, name)), first)
			continue
		}
		seen[name] = line
		if ok && !d.full {
			each(name, m.Name, m.Value)
		}
	}
}

func (d *decoder) unknown(key hujson.Value, name, path string, fields []field) {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.name
	}
	place := ""
	if path != "" {
		place = " in " + shown(path)
	}
	near := near.Word(name, names)
	if i := slices.IndexFunc(keys, func(k string) bool { return strings.HasSuffix(k, "."+name) }); i >= 0 && path == "" {
		near = keys[i]
	}
	if near != "" {
		d.wrong(key, "there is no key %s%s: did you mean %q?", quoted(name), place, near)
		return
	}
	if d.mayBeNewer(path) && len(d.newer) < maxProblems {
		d.newer = append(d.newer, d.problem(key, newerKey, quoted(name), place))
		return
	}
	d.wrong(key, "there is no key %s%s; the keys are %s", quoted(name), place, strings.Join(names, ", "))
}

// within returns the path of a member.
func within(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// list reads a list, element by element.
func (d *decoder) list(v hujson.Value, path string, read func(v hujson.Value, path string)) {
	array, ok := v.Value.(*hujson.Array)
	if !ok {
		d.mismatch(v, path, "a list")
		return
	}
	for i, e := range array.Elements {
		if d.full {
			return
		}
		read(e, path+"["+strconv.Itoa(i)+"]")
	}
}

// mismatch records a value of the wrong type.
func (d *decoder) mismatch(v hujson.Value, path, want string) {
	if path == "" {
		path = "the file"
	}
	d.wrong(v, "%s must be %s; this is %s", shown(path), want, kinds[v.Value.Kind()])
}

var kinds = map[hujson.Kind]string{
	'n': "null", 't': "true", 'f': "false", '"': "a string", '0': "a number", '{': "an object", '[': "a list",
}

// string reads a string. A string without an exact meaning is a problem: one with an escape for half a character, or
// with the NUL character, which would end the text in system calls.
func (d *decoder) string(v hujson.Value, path string) (string, bool) {
	literal, ok := v.Value.(hujson.Literal)
	if !ok || literal.Kind() != '"' {
		d.mismatch(v, path, "a string")
		return "", false
	}
	s := literal.String()
	if strings.ContainsRune(s, 0) {
		d.wrong(v, "%s holds the character NUL", shown(path))
		return "", false
	}
	if strings.ContainsRune(s, utf8.RuneError) && !json.Exact(literal) {
		d.wrong(v, `%s holds half a character: \ud800 to \udfff come in pairs`, shown(path))
		return "", false
	}
	return s, true
}

// matching returns a reader of strings that must match a pattern; want describes them in messages.
func (d *decoder) matching(to *Value[string], form func() *regexp.Regexp, want string) func(hujson.Value, string) {
	return func(v hujson.Value, path string) {
		s, ok := d.string(v, path)
		if ok && !form().MatchString(s) {
			d.wrong(v, "%s: %s is not %s", shown(path), quoted(s), want)
			return
		}
		if ok {
			*to = Value[string]{true, s, d.origin(v)}
		}
	}
}

// valid checks a value, and records a problem with it.
func (d *decoder) valid(v hujson.Value, path string, check func(string) error, value string) bool {
	if check == nil {
		return true
	}
	err := check(value)
	if err != nil {
		d.wrong(v, "%s: %s", shown(path), shown(err.Error()))
	}
	return err == nil
}

// textForm describes the strings of a list: they match a pattern, which want explains in messages, and pass the check, if there is one.
type textForm struct {
	pattern func() *regexp.Regexp
	want    string
	check   func(string) error
}

// texts returns a reader of lists of strings.
func (d *decoder) texts(to *[]Value[string], form textForm) func(hujson.Value, string) {
	return func(v hujson.Value, path string) {
		d.list(v, path, func(v hujson.Value, path string) {
			var text Value[string]
			if d.matching(&text, form.pattern, form.want)(v, path); text.Set && d.valid(v, path, form.check, text.V) {
				*to = append(*to, text)
			}
		})
	}
}

// word returns a reader for one of the given words.
func (d *decoder) word(to *Value[string], words []string) func(hujson.Value, string) {
	return func(v hujson.Value, path string) {
		s, ok := d.string(v, path)
		switch {
		case !ok:
		case slices.Contains(words, s):
			*to = Value[string]{true, s, d.origin(v)}
		case path == "mode" && s == "bypass":
			d.wrong(v, "mode bypass is for the command line only, one session at a time: --mode bypass")
		default:
			if near := near.Word(s, words); near != "" {
				d.wrong(v, "%s: there is no %s: did you mean %q?", shown(path), quoted(s), near)
				return
			}
			d.wrong(v, "%s: %s is not one of %s", shown(path), quoted(s), strings.Join(words, ", "))
		}
	}
}

// number returns a reader of whole numbers.
func (d *decoder) number(to *Value[int], least, most int) func(hujson.Value, string) {
	return func(v hujson.Value, path string) {
		if n, ok := d.whole(v, path, least, most); ok {
			*to = Value[int]{true, n, d.origin(v)}
		}
	}
}

// whole reads a whole number. 5.0 is valid, as in all JSON.
func (d *decoder) whole(v hujson.Value, path string, least, most int) (int, bool) {
	if v.Value.Kind() != '0' {
		d.mismatch(v, path, "a number")
		return 0, false
	}
	f, err := strconv.ParseFloat(string(v.Value.(hujson.Literal)), 64)
	if err != nil || f != math.Trunc(f) || f < float64(least) || f > float64(most) {
		d.wrong(v, "%s must be a whole number from %d to %d", shown(path), least, most)
		return 0, false
	}
	return int(f), true
}

// duration returns a reader of durations such as 1h30m.
func (d *decoder) duration(to *Value[time.Duration], least time.Duration) func(hujson.Value, string) {
	return d.durationIf(to, least, func(t time.Duration) bool { return t >= least })
}

// durationOrNone is duration with 0s besides, which means no time at all.
func (d *decoder) durationOrNone(to *Value[time.Duration], least time.Duration) func(hujson.Value, string) {
	return d.durationIf(to, least, func(t time.Duration) bool { return t == 0 || t >= least })
}

func (d *decoder) durationIf(to *Value[time.Duration], least time.Duration, fits func(time.Duration) bool) func(hujson.Value, string) {
	return func(v hujson.Value, path string) {
		s, ok := d.string(v, path)
		if !ok {
			return
		}
		t, err := time.ParseDuration(s)
		if err != nil || !durations().MatchString(s) {
			d.wrong(v, "%s: %s is not a time: write it like 90s, 10m or 1h30m", shown(path), quoted(s))
			return
		}
		if !fits(t) {
			d.wrong(v, "%s must be at least %s", shown(path), least)
			return
		}
		*to = Value[time.Duration]{true, t, d.origin(v)}
	}
}

// The patterns of values; the schema has the same.
//
// pattern compiles an expression on first use: most runs need few of them, and compiling all takes a millisecond.
func pattern(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}

var (
	durations = pattern(`^(0|(?:[0-9]{1,6}h)?(?:[0-9]{1,6}m)?(?:[0-9]{1,6}s)?(?:[0-9]{1,6}ms)?)$`)
	sizes     = pattern(`^([1-9][0-9]{0,15}|[1-9][0-9]{0,5}(KiB|MiB|GiB|TiB|K|M|G))$`)
	names     = pattern(`^[A-Za-z_][A-Za-z0-9_]{0,255}$`)
	hosts     = pattern(`^[A-Za-z0-9]([A-Za-z0-9.:-]{0,251}[A-Za-z0-9])?$`)
	anything  = pattern(`\S`)
	tools     = pattern(`^(\*|[A-Za-z_][A-Za-z0-9_.:-]{0,127})?$`)
)

// newerKey is the message for an unknown key. Its arguments are the key and its place.
const newerKey = "this version of toolhost does not know the key %s%s; a newer version may. The file's restrictions count, and nothing that it permits, " +
	"until toolhost is updated or the key is removed"

// mayBeNewer reports whether an unknown key in the object at path may belong to a newer version. It returns false
// where a key may forbid something or change the meaning of a rule or hook: ignoring such a key would permit more
// than its author wanted.
func (d *decoder) mayBeNewer(path string) bool {
	return !d.o.Strict && d.source != agenttool.SourceManaged && slices.Contains([]string{"", "files", "search", "jobs"}, path)
}

// A date and time of RFC 3339.
var stamps = pattern(`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,9})?(Z|[+-][0-9]{2}:[0-9]{2})$`)
