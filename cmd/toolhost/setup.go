package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"toolhost/agenttool"
	"toolhost/host"
	"toolhost/permissions"
	"toolhost/persist"
	"toolhost/sandbox"
	"toolhost/tools/files"
	"toolhost/tools/search"
	"toolhost/tools/shell"
	"toolhost/tools/workspace"
)

// setup is what the commands that run calls have in common.
type setup struct {
	workspace   string
	addDirs     []string
	allow       []string
	mode        string
	sandbox     string
	maxParallel int
}

func (s *setup) addFlags(f *pflag.FlagSet) {
	f.StringVar(&s.workspace, "workspace", ".", "`directory` that calls may read unasked, and where they start")
	f.StringArrayVar(&s.addDirs, "add-dir", nil, "further `directory` that belongs to the workspace; may be repeated")
	f.StringArrayVar(&s.allow, "allow", nil, "`rule` for calls that run unasked, such as 'Write(src/**)' or 'Shell(go test *)'; may be repeated")
	f.StringVar(&s.mode, "mode", string(permissions.Default), "what happens to calls that no rule allows: "+modeNames())
	f.StringVar(&s.sandbox, "sandbox", string(sandbox.Landlock), "`level` that commands run under at least: full, landlock+notify, landlock, or none to run them unconfined")
	f.IntVar(&s.maxParallel, "max-parallel", 10, "`number` of calls that run at once")
}

func modeNames() string {
	names := make([]string, len(permissions.Modes))
	for i, m := range permissions.Modes {
		names[i] = string(m)
	}
	return strings.Join(names, ", ")
}

// session is a host with what it stands on.
type session struct {
	host  *host.Host
	store *persist.Store
	roots *workspace.Workspace
	box   *confinement
}

// close ends the host and gives everything back.
func (s *session) close() error {
	defer s.roots.Close()
	err := s.host.Close()
	if s.box.session != nil {
		err = errors.Join(err, s.box.session.Close())
	}
	return err
}

// scope returns the workspace, opened, and where calls start.
func (s *setup) scope(state string) (*workspace.Workspace, agenttool.Scope, error) {
	if s.workspace == "" {
		return nil, agenttool.Scope{}, errors.New("--workspace is empty: name a directory")
	}
	w, err := workspace.Open(append([]string{s.workspace}, s.addDirs...), state)
	if err != nil {
		return nil, agenttool.Scope{}, err
	}
	home, _ := os.UserHomeDir() // without one, ~ means nothing
	roots := w.Roots()
	return w, agenttool.Scope{Dir: roots[0], Roots: roots, Home: home}, nil
}

// open makes a host over a store. overwrite lets write replace files that this session has not read.
func (s *setup) open(newStore func(root string) (*persist.Store, error), overwrite bool) (*session, error) {
	state, err := stateDir()
	if err != nil {
		return nil, err
	}
	mode, err := permissions.ParseMode(s.mode)
	if err != nil {
		return nil, fmt.Errorf("--mode: %w", err)
	}
	if s.maxParallel < 1 {
		return nil, fmt.Errorf("--max-parallel %d: at least one call must be able to run", s.maxParallel)
	}
	w, scope, err := s.scope(state)
	if err != nil {
		return nil, err
	}
	store, err := newStore(scope.Dir)
	if err != nil {
		return nil, err
	}
	box, err := confine(s.sandbox, w, scope, string(store.ID()))
	if err != nil {
		return nil, err
	}
	tools := builtins(w, box, files.Options{Overwrite: overwrite, Payload: func(ref string) (*os.File, error) { return store.OpenPayload(ref) }})
	policy := permissions.Policy{Mode: mode, Workspace: scope.Dir}
	parser := permissions.Parser{Names: host.Names(tools), Home: scope.Home}
	for _, text := range s.allow {
		rule, err := parser.Parse(text, agenttool.Allow, "cli_arg")
		if err != nil {
			return nil, fmt.Errorf("--allow: %w", err)
		}
		policy = policy.With(rule)
	}
	h, err := host.New(host.Options{
		Tools: tools, Scope: scope, Locate: w.Locate, Store: store, Policy: policy, Session: store.ID(),
		MaxParallel: s.maxParallel, PanicLog: func(m string) { fmt.Fprintln(os.Stderr, m) },
	})
	return &session{host: h, store: store, roots: w, box: box}, err
}

// builtins are the tools that toolhost brings. w may be nil, and box empty, to describe them.
func builtins(w *workspace.Workspace, box *confinement, o files.Options) []agenttool.Tool {
	tools := []agenttool.Tool{shell.New(w, shell.Options{Environ: os.Environ(), Sandbox: box.session, Refuse: box.refusal})}
	tools = append(tools, files.New(w, o)...)
	return append(tools, search.NewGrep(w), search.NewGlob(w))
}

// stateDir is where toolhost keeps what it knows: $XDG_STATE_HOME/toolhost, else ~/.local/state/toolhost.
func stateDir() (string, error) {
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "toolhost"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("no place for session logs: set HOME or XDG_STATE_HOME")
	}
	return filepath.Join(home, ".local", "state", "toolhost"), nil
}

// sessionsDir is where the sessions are.
func sessionsDir() (string, error) {
	state, err := stateDir()
	return filepath.Join(state, "sessions"), err
}

// meta is what a session log says of how it was made.
func meta(root string) []byte {
	encoded, err := agenttool.Encode(map[string]any{"workspace": root, "version": version(), "pid": os.Getpid()})
	if err != nil {
		return nil // a string and a number: it cannot fail
	}
	return encoded
}
