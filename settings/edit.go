package settings

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/tailscale/hujson"

	"toolhost/agenttool"
	"toolhost/agenttool/jsonc"
)

// addRule adds a rule to a file in place and keeps comments and format. If the file already contains the rule,
// nothing changes. at is recorded as the time of the addition, unless it is zero.
//
// A missing file is created, mode 0600, with its directories. A broken file is left unchanged, and its problems are
// the error. In a directory .toolhost no link is followed, because the project may have planted it. Several processes
// may add rules at once. addRule does not check the rule itself: see [Options].CheckRule.
func addRule(file string, b agenttool.Behavior, text string, at time.Time, do steps) error {
	if !slices.Contains(behaviors, b) {
		return fmt.Errorf("a rule cannot have the behaviour %s: it is allow, ask or deny", quoted(string(b)))
	}
	text = strings.TrimSpace(text)
	if text == "" || !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
		return fmt.Errorf("%s is no rule: it must be text, and not empty", quoted(text))
	}
	if !filepath.IsAbs(file) {
		return fmt.Errorf("there is no file for the rule: %s is no absolute path", quoted(file))
	}
	return edit(file, true, do, func(e *editor) error { return e.add(b, text, at) })
}

// removeRule removes all occurrences of a rule from a list of a file, with the comments that follow on the same line.
// It reports whether the rule was there. An empty file name has no rules.
func removeRule(file string, b agenttool.Behavior, text string) (bool, error) {
	if file == "" {
		return false, nil
	}
	removed := false
	err := edit(file, false, steps{}, func(e *editor) (err error) {
		removed, err = e.remove(b, strings.TrimSpace(text))
		return err
	})
	return removed, err
}

// edit changes a file under its lock. With create it creates a missing file; otherwise it leaves it missing.
func edit(file string, create bool, do steps, change func(*editor) error) error {
	file, err := editable(file, create)
	if err != nil || file == "" {
		return err
	}
	return locked(file, func() error {
		content, info, err := readFile(file, false)
		switch {
		case missing(err) && !create:
			return nil
		case err != nil && !missing(err):
			return &Problem{File: file, Message: "cannot be changed: " + err.Error()}
		}
		e := &editor{file: file, content: content}
		if err := change(e); err != nil || bytes.Equal(e.content, content) {
			return err
		}
		if len(e.content) > maxSize {
			return &Problem{File: file, Message: "cannot take another rule: " + errTooLarge.Error() + " with it"}
		}
		if err := ignoreLocal(file); err != nil {
			return &Problem{File: file, Message: "cannot be kept out of git: " + err.Error()}
		}
		return replaceFile(file, e.content, info, do)
	})
}

// editable resolves a file's path, and creates its directory if create is set. Without create, it returns "" if the
// directory is missing.
func editable(file string, create bool) (string, error) {
	dir := filepath.Dir(file)
	if create {
		if err := os.MkdirAll(dir, privateDir); err != nil {
			if why := agenttool.Obstacle(dir); why != "" {
				err = errors.New(why)
			}
			return "", err
		}
	}
	info, err := os.Lstat(dir)
	if missing(err) && !create {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	if filepath.Base(dir) == projectDir {
		if !info.IsDir() {
			return "", &Problem{File: dir, Message: "it is a symbolic link, behind which no rule is kept: make it a directory"}
		}
		return file, nil
	}
	if info, err := os.Lstat(file); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return filepath.EvalSymlinks(file)
	}
	return file, nil
}

// editor changes the content of one file.
type editor struct {
	file    string // for messages
	content []byte // nil: there is no file
	doc     *jsonc.Document
	values  *Settings
}

// parse reads the content. Broken content is an error.
func (e *editor) parse() error {
	values, problems := decode(Options{Home: "/", Workspace: "/"}, "", e.file, e.content)
	if len(problems) > 0 {
		return fmt.Errorf("the file is broken, and left as it is: %w", join(problems))
	}
	e.values = values
	var err error
	e.doc, err = jsonc.Parse(e.content)
	return err
}

// add adds a rule that the file does not contain.
func (e *editor) add(b agenttool.Behavior, text string, at time.Time) error {
	if e.content == nil {
		e.content = []byte("{\n  \"permissions\": {\n    \"" + string(b) + "\": [\n      " + entry(text, at) + "\n    ]\n  }\n}\n")
		return nil
	}
	if err := e.parse(); err != nil {
		return err
	}
	if slices.ContainsFunc(e.values.Rules, func(r Rule) bool { return r.Behavior == b && r.Text == text }) {
		return nil
	}
	rule := jsonc.Leaf(entry(text, at))
	list := jsonc.Nested(string(b), '[', ']', rule)
	permissions, ok := jsonc.Member(e.doc.Root, "permissions")
	if !ok {
		return e.replace(e.doc.Insert(e.doc.Root, jsonc.Nested("permissions", '{', '}', list)), 1)
	}
	if rules, ok := jsonc.Member(permissions, string(b)); ok {
		return e.replace(e.doc.Insert(rules, rule), 1)
	}
	return e.replace(e.doc.Insert(permissions, list), 1)
}

// remove removes all occurrences of a rule from its list.
func (e *editor) remove(b agenttool.Behavior, text string) (bool, error) {
	if err := e.parse(); err != nil {
		return false, err
	}
	permissions, _ := jsonc.Member(e.doc.Root, "permissions")
	rules, ok := jsonc.Member(permissions, string(b))
	if !ok {
		return false, nil
	}
	var gone []int
	for i, element := range rules.Value.(*hujson.Array).Elements {
		if ruleText(element) == text {
			gone = append(gone, i)
		}
	}
	if len(gone) == 0 {
		return false, nil
	}
	return true, e.replace(e.doc.Cut(rules, gone), -len(gone))
}

// replace applies the changes, and verifies the result.
func (e *editor) replace(changes []jsonc.Splice, rules int) error {
	before := len(e.values.Rules)
	changed := editor{file: e.file, content: e.doc.Apply(changes)}
	if err := changed.parse(); err != nil || len(changed.values.Rules) != before+rules {
		return fmt.Errorf("%s is left as it is: a bug in toolhost would have broken it: %v", shown(e.file), err)
	}
	e.content = changed.content
	return nil
}

// ruleText returns the text of an element of a list of rules.
func ruleText(v hujson.Value) string {
	if rule, ok := jsonc.Member(v, "rule"); ok {
		v = rule
	}
	literal, ok := v.Value.(hujson.Literal)
	if !ok {
		return ""
	}
	return strings.TrimSpace(literal.String())
}

// entry returns a rule as an element of a list.
func entry(text string, at time.Time) string {
	if at.IsZero() {
		return jsonc.Quote(text)
	}
	return `{"rule": ` + jsonc.Quote(text) + `, "added": "` + at.UTC().Truncate(time.Second).Format(time.RFC3339) + `"}`
}
