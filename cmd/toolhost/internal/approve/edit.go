package approve

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff"
	"mvdan.cc/sh/v3/syntax"

	"toolhost/agenttool"
	"toolhost/agenttool/json"
)

// MaxEdit is the size in bytes of the largest input that can be edited here.
const MaxEdit = 256 << 10

// EditText returns the text of a prompt's input that a person edits: the shell command, else the whole input as JSON.
func EditText(p Prompt) (string, error) {
	text, ok := p.Command()
	if !ok {
		var b bytes.Buffer
		if err := json.Indent(&b, p.Input, "", "  "); err != nil {
			return "", errors.New("the input is no JSON that could be edited")
		}
		text = b.String()
	}
	if len(text) > MaxEdit {
		return "", fmt.Errorf("the input has %d bytes: more than %d cannot be edited here", len(text), MaxEdit)
	}
	return text, nil
}

// Edited returns the input that an edited text stands for. The error says what is wrong with the text, and where.
func Edited(p Prompt, text string) (json.RawMessage, error) {
	before, err := EditText(p)
	if err != nil {
		return nil, err
	}
	if text == before {
		return nil, errors.New("nothing was changed")
	}
	if _, ok := p.Command(); !ok {
		return ParseInput(text)
	}
	if strings.TrimSpace(text) == "" {
		return nil, errors.New("the command is empty")
	}
	if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
		return nil, errors.New("the command is not text: it holds NUL, or bytes that are not UTF-8")
	}
	var input map[string]json.RawMessage
	if err := json.Unmarshal(p.Input, &input); err != nil {
		return nil, err
	}
	if input["command"], err = agenttool.Encode(text); err != nil {
		return nil, err
	}
	return agenttool.Encode(input)
}

// ParseInput reads an input that a person wrote as JSON.
func ParseInput(text string) (json.RawMessage, error) {
	var b bytes.Buffer
	var value any
	err := json.Unmarshal([]byte(text), &value) // unlike Compact it says where an error is
	if err == nil {
		err = json.Compact(&b, []byte(text))
	}
	if err != nil {
		if syntaxErr, ok := errors.AsType[*json.SyntaxError](err); ok {
			before := text[:min(int(syntaxErr.Offset), len(text))]
			return nil, fmt.Errorf("line %d: %w", 1+strings.Count(before, "\n"), err)
		}
		return nil, err
	}
	if b.Bytes()[0] != '{' {
		return nil, errors.New("an input is a JSON object: {…}")
	}
	if !utf8.Valid(b.Bytes()) {
		return nil, errors.New("the text is not UTF-8")
	}
	if twice := json.Repeated(b.Bytes()); twice != nil {
		return nil, twice
	}
	return b.Bytes(), nil
}

// Doubt says what of an edited command is not understood, empty if all is. It may be right for all that.
func Doubt(p Prompt, text string) string {
	if _, ok := p.Command(); !ok {
		return ""
	}
	if _, err := syntax.NewParser().Parse(strings.NewReader(text), ""); err != nil {
		return "this is not understood as a command line: " + err.Error()
	}
	return ""
}

// EditDiff returns the change of an edit, as a unified diff of the texts, or of the inputs as JSON.
func EditDiff(p Prompt, updated json.RawMessage) string {
	before, err := EditText(p)
	if err != nil {
		before = string(p.Input)
	}
	edited := p
	edited.Input = updated
	after, err := EditText(edited)
	if _, ok := p.Command(); ok && err == nil && onlyCommand(p.Input, updated) {
		return unified(before, after)
	}
	p.Tool, edited.Tool = "", "" // all of it, as JSON
	if before, err = EditText(p); err != nil {
		before = string(p.Input)
	}
	if after, err = EditText(edited); err != nil {
		after = string(updated)
	}
	return unified(before, after)
}

// onlyCommand reports whether two inputs of the shell differ in nothing but the command.
func onlyCommand(a, b json.RawMessage) bool {
	var x, y map[string]json.RawMessage
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return false
	}
	delete(x, "command")
	delete(y, "command")
	one, err1 := agenttool.Encode(x)
	other, err2 := agenttool.Encode(y)
	return err1 == nil && err2 == nil && bytes.Equal(one, other)
}

func unified(before, after string) string {
	return udiff.Unified("asked", "changed", line(before), line(after))
}

// line ends a text with a line end, so that the diff does not speak of it.
func line(s string) string {
	if strings.HasSuffix(s, "\n") {
		return s
	}
	return s + "\n"
}
