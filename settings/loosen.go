package settings

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"toolhost/agenttool"
	"toolhost/agenttool/json"
)

// rules returns the allow rules of a layer that match the item. Other items are never pinned separately.
func (it item) rules(l *Settings) []Rule {
	if it.Key != "permissions.allow" {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(l.Rules), func(r Rule) bool {
		return r.Behavior != agenttool.Allow || r.Text != it.value || r.Origin != it.Origin
	})
}

// collector collects items.
type collector struct{ items []item }

func (c *collector) add(key string, o agenttool.Origin, value any, format string, args ...any) {
	c.items = append(c.items, item{Untrusted{key, fmt.Sprintf(format, args...), o}, value})
}

// hookValue returns all of a hook that affects its run, including the content of workspace files that its command
// names: they come with the project, like the settings.
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

// maxProgram is the number of bytes of a program that the digest covers.
const maxProgram = 16 << 20

// contentOf returns the digest of a regular file's content; "" if it is not one.
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

// command returns a hook's command as a shell command line.
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

// text returns a phrase for the calls that a hook applies to.
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

// pinnedItem is the part of an item that its digest covers. The place in the file, notes and comments are not covered.
type pinnedItem struct {
	Source, Key string
	Value       any
}

// digestOf returns a digest of items: equal digests mean equal items in the same order.
func digestOf(items []item) string {
	all := make([]pinnedItem, len(items))
	for i, it := range items {
		all[i] = pinnedItem{it.Origin.Source, it.Key, it.value}
	}
	return digestOfValue(all)
}

// digest returns the digest of one item.
func (it item) digest() string { return digestOfValue(pinnedItem{it.Origin.Source, it.Key, it.value}) }

func digestOfValue(v any) string {
	encoded, err := json.Marshal(v)
	if err != nil {
		panic("settings: strings, numbers and maps of them are always encodable: " + err.Error())
	}
	sum := sha256.Sum256(encoded)
	return "sha256:" + hex.EncodeToString(sum[:])
}
