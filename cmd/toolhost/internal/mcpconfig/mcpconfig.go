// Package mcpconfig knows how MCP clients are configured: where their files are, how these name a server, and which settings switch off the
// client's own tools and let those of toolhost through. The facts are in clients.json, an array of [Client].
package mcpconfig

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"sync"

	"toolhost/cmd/toolhost/internal/mcpconfig/edit"
)

//go:embed clients.json
var table []byte

// Clients are those whose configuration is known.
var Clients = sync.OnceValue(func() (all []Client) {
	d := json.NewDecoder(bytes.NewReader(table))
	d.DisallowUnknownFields()
	if err := d.Decode(&all); err != nil {
		panic("mcpconfig: clients.json: " + err.Error())
	}
	for i := range all {
		c := &all[i]
		c.Format = cmp.Or(c.Format, edit.JSON)
		for j := range c.Files {
			c.Files[j].Format = c.Format
		}
	}
	return all
})

// Client is a program that speaks MCP, and how its configuration names a server.
//
// Words in the values for its files stand for facts about the server: $command and $args are the program and its arguments, $line is both,
// $tools are the names of its tools, an element of a list with $tool stands for one element for each of them, and $url is its address.
type Client struct {
	Name      string      // on the command line
	Title     string      // for a person
	Program   string      // in PATH, where it has one
	Signs     []string    // directories that an installed client has, as paths of [File]
	Edited    bool        // setup changes the files, as is tried with the client itself; false: it prints what belongs there
	Files     []File      // of its configuration; the scope of the first one is the default
	Keeps     string      // its own tools that stay beside ours; empty: none do
	Asks      string      // how it asks about each call although toolhost asks itself; empty where it does not
	Trust     string      // a step of the person, once, before it obeys the configuration of a project; empty: there is none
	Tip       string      // for people who print the configuration
	Rootless  bool        // starts servers in no project: the workspace must be given
	Workspace string      // its word for the project, which goes to servers that are given no workspace; empty: they are started there
	Format    edit.Format // of its files; empty in clients.json: JSON
	At        []string    // keys that lead to the server
	Stdio     edit.Object // the server there, if the client starts it
	URL       edit.Object // the server there, if it runs already; nil: how is not known
	URLAdds   edit.Object // lists with the elements that URL needs beside it
}

// Server is the program that a client starts.
type Server struct {
	Command []string // the program and its arguments
	Tools   []string // the names of its tools
}

// HasWorkspace reports whether the flags of the server name its workspace.
func (s Server) HasWorkspace() bool {
	return slices.ContainsFunc(s.Command, func(word string) bool { return word == "--workspace" || strings.HasPrefix(word, "--workspace=") })
}

// Scope says whom a file concerns.
type Scope string

const (
	Project Scope = "project" // all users of the project
	User    Scope = "user"    // the person, in all projects
)

// File is a part of a client's configuration.
type File struct {
	Scope  Scope
	Names  []string    // paths, the first of them unless another is there; in the project, or below ~/ or CONFIG/
	Env    string      // a variable that names another directory than that of Names
	Apart  bool        // the server is in another file
	Set    edit.Object // values that switch off the client's own tools
	Add    edit.Object // lists, with the elements that do, and that let the tools of toolhost through the client's own questions
	Format edit.Format `json:"-"` // that of the client
}

// TokenVariable holds the token of a server that is reached over HTTP: no file holds it.
const TokenVariable = "TOOLHOST_TOKEN"

// In returns the files of a scope.
func (c Client) In(s Scope) (files []File) {
	for _, f := range c.Files {
		if f.Scope == s {
			files = append(files, f)
		}
	}
	return files
}

// Where says where the configuration that is printed belongs.
func (c Client) Where() string {
	var places []string
	for _, f := range c.Files {
		if !f.Apart {
			place := strings.Replace(f.Names[0], "CONFIG/", "~/.config/", 1)
			if f.Scope == Project {
				place += " in the project"
			}
			places = append(places, place)
		}
	}
	where := strings.Join(places, ", or ")
	if c.Tip != "" {
		where += " (" + c.Tip + ")"
	}
	return where
}

// ChangesOf are the changes of a file that let the client start a server.
func (c Client) ChangesOf(f File, s Server) (changes []edit.Change) {
	if !f.Apart {
		changes = append(changes, c.entry(s))
	}
	if f.Set != nil {
		changes = append(changes, edit.Change{Value: s.fill(f.Set)})
	}
	return append(changes, s.additions(f.Add)...)
}

// additions are changes that add to the lists in an object.
func (s Server) additions(lists edit.Object) []edit.Change {
	if lists == nil {
		return nil
	}
	changes := edit.Leaves([]edit.Change{{Value: s.fill(lists)}})
	for i := range changes {
		changes[i].Add = true
	}
	return changes
}

// Entry returns the keys that lead to the server in a file, or false if it is in another one.
func (c Client) Entry(f File) (path []string, ok bool) { return c.At, !f.Apart }

// entry is the change that lets the client start a server over pipes.
func (c Client) entry(s Server) edit.Change {
	if c.Workspace != "" && !s.HasWorkspace() {
		s.Command = append(slices.Clone(s.Command), "--workspace", c.Workspace)
	}
	return edit.Change{Path: c.At, Value: s.fill(c.Stdio), Own: true}
}

// fill puts the facts about a server into a value of clients.json.
func (s Server) fill(v any) any {
	switch v := v.(type) {
	case edit.Object:
		filled := make(edit.Object, len(v))
		for i, f := range v {
			filled[i] = edit.Field{Key: f.Key, Value: s.fill(f.Value)}
		}
		return filled
	case []any:
		var filled []any
		for _, element := range v {
			filled = append(filled, s.elements(element)...)
		}
		return filled
	}
	switch v {
	case "$command":
		return s.Command[0]
	case "$args":
		return s.Command[1:]
	case "$line":
		return s.Command
	case "$tools":
		return s.Tools
	}
	return v
}

// elements are those of a list that an element of a list in clients.json stands for.
func (s Server) elements(v any) (all []any) {
	text, _ := v.(string)
	if !strings.Contains(text, "$tool") {
		return []any{s.fill(v)}
	}
	for _, name := range s.Tools {
		all = append(all, strings.Replace(text, "$tool", name, 1))
	}
	return all
}

// ClaudeHook lets Claude Code ask a command before each call of its own tools, and tell it of each that it has done but commands.
func ClaudeHook(command string) []edit.Change {
	on := func(event, tools string) edit.Change {
		hook := edit.Object{{Key: "type", Value: "command"}, {Key: "command", Value: command}, {Key: "timeout", Value: hookTimeS}}
		return edit.Change{
			Path: []string{"hooks", event}, Add: true,
			Value: []any{edit.Object{{Key: "matcher", Value: tools}, {Key: "hooks", Value: []any{hook}}}},
		}
	}
	const files = "Edit|MultiEdit|Write|Read|NotebookEdit|Glob|Grep"
	return []edit.Change{on("PreToolUse", "Bash|"+files), on("PostToolUse", files)}
}

// hookTimeS is the longest that a client waits for one question, as for one call: commands may run for an hour before they give control back.
const hookTimeS = 3600

// Snippet is a part of a client's configuration.
type Snippet struct {
	format  edit.Format
	changes []edit.Change
}

// Print writes the snippet in the client's format.
func (s Snippet) Print(w io.Writer) error {
	if s.format == yaml {
		return writeYAML(w, mapping(s.changes), "")
	}
	text, err := edit.Apply(s.format, nil, s.changes)
	if err == nil {
		_, err = w.Write(text)
	}
	return err
}

// yaml is a format that is only printed.
const yaml edit.Format = "yaml"

// mapping is what an empty file has after the changes.
func mapping(changes []edit.Change) (all edit.Object) {
	for _, c := range edit.Leaves(changes) {
		if len(c.Path) == 0 {
			all = append(all, c.Value.(edit.Object)...)
			continue
		}
		all = put(all, c.Path, c.Value)
	}
	return all
}

// put returns the object with a value at a path.
func put(o edit.Object, path []string, v any) edit.Object {
	if len(path) == 1 {
		return append(o, edit.Field{Key: path[0], Value: v})
	}
	for i := range o {
		if inner, ok := o[i].Value.(edit.Object); ok && o[i].Key == path[0] {
			o[i].Value = put(inner, path[1:], v)
			return o
		}
	}
	return append(o, edit.Field{Key: path[0], Value: put(nil, path[1:], v)})
}

// writeYAML writes an object as block mappings. All other values stand there as JSON, which is YAML, too.
func writeYAML(w io.Writer, o edit.Object, indent string) error {
	for _, f := range o {
		if inner, ok := f.Value.(edit.Object); ok {
			if _, err := fmt.Fprintf(w, "%s%s:\n", indent, f.Key); err != nil {
				return err
			}
			if err := writeYAML(w, inner, indent+"  "); err != nil {
				return err
			}
			continue
		}
		text, err := json.Marshal(f.Value)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(w, "%s%s: %s\n", indent, f.Key, text); err != nil {
			return err
		}
	}
	return nil
}

// Local is the configuration to start a server and speak to it over pipes. For a client whose files setup does not change, it also has what
// switches off its own tools and lets those of toolhost through.
func (c Client) Local(s Server) Snippet {
	if c.Edited {
		return Snippet{c.Format, []edit.Change{c.entry(s)}}
	}
	return Snippet{c.Format, c.ChangesOf(c.Files[0], s)}
}

// HTTP is the configuration to reach a running server. The client reads its token from [TokenVariable].
func (c Client) HTTP(server string) (Snippet, error) {
	at, err := address(server)
	if err != nil {
		return Snippet{}, err
	}
	if c.URL == nil {
		return Snippet{}, fmt.Errorf("how %s reaches a server over HTTP is not known here: leave --http out, and it starts its own", c.Title)
	}
	o := slices.Clone(c.URL)
	for i := range o {
		if o[i].Value == "$url" {
			o[i].Value = at
		}
	}
	return Snippet{c.Format, append(Server{}.additions(c.URLAdds), edit.Change{Path: c.At, Value: o, Own: true})}, nil
}

// address is where MCP is spoken at a server: /mcp, unless the URL has a path.
func address(given string) (string, error) {
	u, err := url.Parse(given)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", fmt.Errorf("--http %s: give the URL that toolhost serve --http printed, such as http://127.0.0.1:8722/mcp", given)
	}
	if strings.TrimSuffix(u.Path, "/") == "" {
		u.Path = "/mcp"
	}
	return u.String(), nil
}
