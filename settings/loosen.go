package settings

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"toolhost/agenttool"
)

// item is one thing that a layer which the project supplied would loosen, as a person reads it and as it is pinned.
type item struct {
	Untrusted
	value any // encodes to JSON, the same for the same meaning
}

// looseningOf lists what the layers that lie in the project would loosen and may not by themselves, weakest layer first.
func (o Options) looseningOf(layers []*layer) []item {
	below := &Settings{}
	var all []item
	for _, l := range layers {
		if !l.inProject() {
			below.add(l.values)
			continue
		}
		by := o.ownWord(l, below)
		all = append(all, loosening(without(l.values, by), below, o.Workspace)...)
		below.add(by)
	}
	return all
}

// ownWord is the part of a layer in the project that counts though nobody trusts it. Of a file that git does not track, which may be the
// person's own and may have come with an archive, that is what lets nothing out of the workspace and its sandbox.
func (o Options) ownWord(l *layer, below *Settings) *Settings {
	part := restricting(l.values, below)
	if l.Supplied {
		return part
	}
	for _, r := range l.values.Rules {
		if r.Behavior == agenttool.Allow && o.Contained != nil && o.Contained(r.Text) {
			r.Held = true
			part.Rules = append(part.Rules, r)
		}
	}
	v := l.values
	part.Mode, part.Wait, part.ApprovalTimeout = v.Mode, v.Wait, v.ApprovalTimeout
	part.Durability, part.SearchIndex = v.Durability, v.SearchIndex
	part.MaxJobs, part.JobTimeout, part.JobOutput, part.JobLimits, part.MaxParallel = v.MaxJobs, v.JobTimeout, v.JobOutput, v.JobLimits, v.MaxParallel
	return part
}

// without returns what of a layer is left when a part of it counts already.
func without(l, part *Settings) *Settings {
	rest := *l
	rest.Rules = slices.DeleteFunc(slices.Clone(l.Rules), func(r Rule) bool {
		held := r
		held.Held = true
		return slices.Contains(part.Rules, r) || slices.Contains(part.Rules, held)
	})
	if part.Mode.Set {
		rest.Mode = Value[string]{}
	}
	if part.Require.Set {
		rest.Require = Value[string]{}
	}
	if part.Wait.Set {
		rest.Wait = Value[string]{}
	}
	if part.ApprovalTimeout.Set {
		rest.ApprovalTimeout = Value[time.Duration]{}
	}
	if part.Durability.Set {
		rest.Durability = Value[string]{}
	}
	if part.SearchIndex.Set {
		rest.SearchIndex = Value[string]{}
	}
	if part.MaxJobs.Set {
		rest.MaxJobs = Value[int]{}
	}
	if part.JobTimeout.Set {
		rest.JobTimeout = Value[time.Duration]{}
	}
	if part.JobOutput.Set {
		rest.JobOutput = Value[string]{}
	}
	if part.MaxParallel.Set {
		rest.MaxParallel = Value[int]{}
	}
	if part.JobLimits != nil {
		rest.JobLimits = nil
	}
	return &rest
}

// loosening lists what one layer would loosen of what is below it: everything that [restricting] leaves out.
func loosening(l, below *Settings, workspace string) []item {
	var c collector
	for _, r := range l.Rules {
		if r.Behavior != agenttool.Deny && r.Behavior != agenttool.Ask {
			c.add("permissions."+string(r.Behavior), r.Origin, r.Text, "runs unasked what the rule %s covers", r.Text)
		}
	}
	if l.Mode.Set && !tighterMode(l.Mode.V, below.mode()) {
		c.add("mode", l.Mode.Origin, l.Mode.V, "sets the mode %s instead of %s", l.Mode.V, below.mode())
	}
	for _, d := range l.AddDirs {
		c.add("add_dirs", d.Origin, d.V, "makes %s part of the workspace", d.V)
	}
	if l.Require.Set && !tighterLevel(l.Require.V, below.require()) {
		c.add("sandbox.require", l.Require.Origin, l.Require.V, "lets commands run with the sandbox level %s; %s is required now", l.Require.V, below.require())
	}
	c.limits(l)
	for _, v := range l.EnvPass {
		c.add("env.pass", v.Origin, v.V, "gives commands your variable %s", v.V)
	}
	for _, name := range slices.Sorted(maps.Keys(l.EnvSet)) {
		v := l.EnvSet[name]
		c.add("env.set", v.Origin, []string{name, v.V}, "sets %s=%s for commands", name, v.V)
	}
	for _, v := range l.CallbackHosts {
		c.add("http.callback_hosts", v.Origin, v.V, "lets results of calls over HTTP be sent to %s", v.V)
	}
	for _, h := range l.Hooks {
		c.add("hooks."+h.Event, h.Origin, hookValue(h, workspace), "runs %s, outside the sandbox, at %s%s", command(h), h.Event, h.Matcher.text())
	}
	return c.items
}

// collector collects items.
type collector struct{ items []item }

func (c *collector) add(key string, o agenttool.Origin, value any, format string, args ...any) {
	c.items = append(c.items, item{Untrusted{key, fmt.Sprintf(format, args...), o}, value})
}

// limits adds the values that say how long and how much.
func (c *collector) limits(l *Settings) {
	single(c, "approvals.wait", l.Wait, l.Wait.V)
	single(c, "approvals.timeout", l.ApprovalTimeout, l.ApprovalTimeout.V.String())
	single(c, "approvals.in_band_scopes", l.InBandScopes, l.InBandScopes.V)
	single(c, "files.durability", l.Durability, l.Durability.V)
	single(c, "search.index", l.SearchIndex, l.SearchIndex.V)
	single(c, "jobs.max", l.MaxJobs, strconv.Itoa(l.MaxJobs.V))
	single(c, "jobs.timeout", l.JobTimeout, l.JobTimeout.V.String())
	single(c, "jobs.output", l.JobOutput, l.JobOutput.V)
	single(c, "max_parallel", l.MaxParallel, strconv.Itoa(l.MaxParallel.V))
	for _, name := range slices.Sorted(maps.Keys(l.JobLimits)) {
		v := l.JobLimits[name]
		c.add("jobs.limits", v.Origin, []string{name, v.V}, "sets jobs.limits.%s to %s", name, v.V)
	}
}

// single adds one value, if it is set.
func single[T any](c *collector, key string, v Value[T], text string) {
	if v.Set {
		c.add(key, v.Origin, text, "sets %s to %s", key, text)
	}
}

// hookValue is all of a hook that matters when it runs, with what is in the files of the workspace that its command names: they come with
// the project, as the settings do.
func hookValue(h Hook, workspace string) any {
	programs := map[string]string{}
	for _, word := range h.Command {
		file := word
		if !filepath.IsAbs(file) {
			file = filepath.Join(workspace, file)
		}
		if sum := contentOf(file); sum != "" && agenttool.Within(workspace, filepath.Clean(file)) {
			programs[word] = sum
		}
	}
	return struct {
		Event, Tool, Input string
		Command            []string
		Timeout            time.Duration
		Env                map[string]string
		Programs           map[string]string `json:",omitempty"`
	}{h.Event, h.Matcher.Tool, h.Matcher.Input, h.Command, h.Timeout, h.Env, programs}
}

// maxProgram is how much of a program is looked at.
const maxProgram = 16 << 20

// contentOf is the digest of a regular file's content; "" if it is none.
func contentOf(file string) string {
	f, err := os.OpenFile(file, os.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return ""
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	h := sha256.New()
	if _, err := io.Copy(h, io.LimitReader(f, maxProgram)); err != nil {
		return "unreadable"
	}
	return hex.EncodeToString(h.Sum(nil))
}

// command is a hook's command as it would be typed.
func command(h Hook) string {
	words := make([]string, 0, len(h.Env)+len(h.Command))
	for _, name := range slices.Sorted(maps.Keys(h.Env)) {
		words = append(words, name+"="+quoteShell(h.Env[name]))
	}
	for _, w := range h.Command {
		words = append(words, quoteShell(w))
	}
	return strings.Join(words, " ")
}

// text says for which calls a hook is.
func (m Matcher) text() string {
	switch {
	case m.Input != "" && m.Tool != "":
		return " of calls of " + m.Tool + " that match " + m.Input
	case m.Input != "":
		return " of calls that match " + m.Input
	case m.Tool != "" && m.Tool != "*":
		return " of calls of " + m.Tool
	}
	return " of every call"
}

// digestOf names exactly what items loosen: equal digests mean equal items in the same order. It says nothing of where
// in the files they stand, of notes and of comments.
func digestOf(items []item) string {
	type pinned struct {
		Source, Key string
		Value       any
	}
	all := make([]pinned, len(items))
	for i, it := range items {
		all[i] = pinned{it.Origin.Source, it.Key, it.value}
	}
	encoded, err := json.Marshal(all)
	if err != nil {
		panic("settings: strings, numbers and maps of them are always encodable: " + err.Error())
	}
	sum := sha256.Sum256(encoded)
	return "sha256:" + hex.EncodeToString(sum[:])
}
