// Package mcpconfig knows how MCP clients are configured: where their files are, how these name a server, and which settings switch off the
// client's own tools and let those of toolhost through. It is one table, [Clients].
package mcpconfig

import (
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"

	"toolhost/cmd/toolhost/internal/mcpconfig/edit"
)

// Client is a program that speaks MCP, and how its configuration names a server.
type Client struct {
	Name     string   // on the command line
	Title    string   // for a person
	Program  string   // in PATH, where it has one
	Signs    []string // directories that an installed client has, as paths of [File]
	Files    []File   // where setup writes; the scope of the first one is the default
	Keeps    string   // its own tools that stay beside ours; empty: none do
	Asks     string   // how it asks about each call although toolhost asks itself; empty where it does not
	Trust    string   // a step of the person, once, before it obeys the configuration of a project; empty: there is none
	Tip      string   // for people who print the configuration
	Rootless bool     // starts servers in no project: the workspace must be given

	format edit.Format
	at     []string // keys that lead to the server
	local  func(s Server) edit.Object
	http   func(url, token string) edit.Object // nil: how is not known
	token  string                              // a variable in the words of the configuration; %s is its name
	inputs []any                               // a value of its own that http needs
}

// Server is the program that a client starts.
type Server struct {
	Command []string // the program and its arguments
	Tools   []string // the names of its tools
}

// Scope says whom a file concerns.
type Scope string

const (
	Project Scope = "project" // all users of the project
	User    Scope = "user"    // the person, in all projects
)

// File is a part of a client's configuration.
type File struct {
	Scope   Scope
	Names   []string // paths, the first of them unless another is there; in the project, or below ~/ or CONFIG/
	Env     string   // a variable that names another directory than that of Names
	Format  edit.Format
	Changes func(c Client, s Server) []edit.Change // nil: the server alone
}

// TokenVariable holds the token of a server that is reached over HTTP: no file holds it.
const TokenVariable = "TOOLHOST_TOKEN"

// The longest that a client waits for one call: commands may run for an hour before they give control back.
const longestCallS = 3600

// Find returns the client with a name.
func Find(name string) (Client, bool) {
	i := slices.IndexFunc(Clients, func(c Client) bool { return c.Name == name })
	if i < 0 {
		return Client{}, false
	}
	return Clients[i], true
}

// Names are the names of all clients.
func Names() (names []string) {
	for _, c := range Clients {
		names = append(names, c.Name)
	}
	return names
}

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
		if c.holds(f) {
			place := strings.Replace(f.Names[0], "CONFIG/", "~/.config/", 1)
			if f.Scope == Project {
				place += " in the project"
			}
			places = append(places, place)
		}
	}
	return strings.Join(places, ", or ")
}

// ChangesOf are the changes of a file that let the client start a server.
func (c Client) ChangesOf(f File, s Server) []edit.Change {
	if f.Changes == nil {
		return []edit.Change{c.entry(s)}
	}
	return f.Changes(c, s)
}

// Entry returns the keys that lead to the server in a file, or false if it is in another one.
func (c Client) Entry(f File) (path []string, ok bool) { return c.at, c.holds(f) }

func (c Client) holds(f File) bool {
	return slices.ContainsFunc(c.ChangesOf(f, Server{Command: []string{"toolhost"}}), func(change edit.Change) bool { return slices.Equal(change.Path, c.at) })
}

// entry is the change that lets the client start a server over pipes.
func (c Client) entry(s Server) edit.Change {
	if c.format == edit.Text {
		return edit.Change{Value: block(s)}
	}
	return edit.Change{Path: c.at, Value: c.local(s), Own: true}
}

// Snippet is a part of a client's configuration.
type Snippet struct {
	format  edit.Format
	changes []edit.Change
}

// Print writes the snippet in the client's format.
func (s Snippet) Print(w io.Writer) error {
	text, err := edit.Apply(s.format, nil, s.changes)
	if err == nil {
		_, err = w.Write(text)
	}
	return err
}

// Local is the configuration to start a server and speak to it over pipes.
func (c Client) Local(s Server) Snippet { return Snippet{c.format, []edit.Change{c.entry(s)}} }

// HTTP is the configuration to reach a running server. The client reads its token from [TokenVariable].
func (c Client) HTTP(server string) (Snippet, error) {
	at, err := address(server)
	if err != nil {
		return Snippet{}, err
	}
	if c.http == nil {
		return Snippet{}, fmt.Errorf("how %s reaches a server over HTTP is not known here: leave --http out, and it starts its own", c.Title)
	}
	changes := []edit.Change{{Path: c.at, Value: c.http(at, fmt.Sprintf(c.token, TokenVariable)), Own: true}}
	if c.inputs != nil {
		changes = append([]edit.Change{{Path: []string{"inputs"}, Value: c.inputs, Add: true}}, changes...)
	}
	return Snippet{c.format, changes}, nil
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
