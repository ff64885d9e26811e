package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"toolhost/agenttool"
	"toolhost/agenttool/visible"
	"toolhost/cmd/toolhost/internal/dirs"
	"toolhost/protect"
	"toolhost/settings"
)

// quarantined is what of repositories in a workspace was put aside, and how to put it back.
type quarantined struct {
	m   *protect.Map
	all []protect.Aside
}

// scanLimit is how long the search for repositories takes at most, a second for each of its parts.
const scanLimit = 10 * time.Second

// waitingIn looks for what was put aside.
func waitingIn(o settings.Options) (quarantined, error) {
	ctx, cancel := context.WithTimeout(context.Background(), scanLimit)
	defer cancel()
	m, err := protect.Scan(ctx, protect.Options{Roots: []string{o.Workspace}, Home: o.Home, MaxEntries: 1_000_000, MaxTime: time.Second})
	if err != nil {
		return quarantined{}, err
	}
	all, err := m.Waiting()
	return quarantined{m, all}, err
}

// print shows what waits.
func (w quarantined) print(out io.Writer, workspace string) {
	fmt.Fprintf(out, "%s holds repositories that calls made or moved. Git does not run\n\n", visible.Text(workspace))
	for _, a := range w.all {
		name := a.Git
		if rel, err := filepath.Rel(workspace, a.Git); err == nil {
			name = rel
		}
		fmt.Fprintf(out, "  %s: %s\n", visible.Text(name), visible.Text(a.String()))
	}
	fmt.Fprintln(out)
}

// letLive puts back what was shown.
func (w quarantined) letLive(out io.Writer) error {
	for _, a := range w.all {
		if err := noteLetLive(a.Git); err != nil {
			return exitf(exitFailed, "%s", visible.Text(err.Error()))
		}
		if err := w.m.LetLive(a); err != nil {
			return exitf(exitFailed, "%s", visible.Text(err.Error()))
		}
		fmt.Fprintf(out, "%s: git runs %s again.\n", visible.Text(a.Git), visible.Text(a.String()))
	}
	return nil
}

// letLive is one line of the file in which sessions that run find what the person let live meanwhile.
type letLive struct {
	Git string    `json:"git"`
	At  time.Time `json:"at"`
}

// maxLetLive bounds the file. Lines are only of interest to commands that were running when they were written.
const maxLetLive = 1 << 20

// letLiveFile is where they are.
func letLiveFile() (string, error) {
	state, err := dirs.State()
	return filepath.Join(state, "repositories.jsonl"), err
}

// noteLetLive notes that the person lets a git directory live.
func noteLetLive(git string) error {
	file, err := letLiveFile()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	flags := os.O_WRONLY | os.O_CREATE | os.O_APPEND
	if info, err := os.Stat(file); err == nil && info.Size() > maxLetLive {
		flags |= os.O_TRUNC
	}
	f, err := os.OpenFile(file, flags, 0o600)
	if err != nil {
		return err
	}
	line, err := json.Marshal(letLive{git, time.Now()})
	if err == nil {
		_, err = f.Write(append(line, '\n'))
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	return err
}

// letLiveSince reports whether the person let a git directory live, in which a path lies, since a time.
func letLiveSince(path string, since time.Time) bool {
	file, err := letLiveFile()
	if err != nil {
		return false
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(bytes.Split(text, []byte("\n")), func(line []byte) bool {
		var l letLive
		return json.Unmarshal(line, &l) == nil && l.Git != "" && agenttool.Within(l.Git, path) && l.At.After(since)
	})
}
