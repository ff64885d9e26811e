package claudecode

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"toolhost/agenttool"
	"toolhost/agenttool/json"
	"toolhost/agenttool/visible"
	"toolhost/cmd/toolhost/internal/dirs"
)

// judged is what the hook before a call keeps for the one after it. Claude Code opens the path by itself in between.
type judged struct {
	Way      way
	InDanger bool // a running command could change the way
}

// opened is the path that Claude Code opens for a call of its own tools.
func (h Hook) opened(c call) string { return cmp.Or(c.Input.Path, c.Dir, h.Options.Workspace) }

// beware asks about a call that was allowed if a running command can change meanwhile what its path leads to, and keeps what it leads to now.
func (a *answer) beware(c call, h Hook) error {
	path, err := filepath.Abs(h.opened(c))
	if err != nil {
		return err
	}
	w, err := wayOf(path)
	if err != nil {
		return err
	}
	project, err := filepath.EvalSymlinks(h.Options.Workspace)
	if err != nil {
		return err
	}
	running, err := awaitRivals(w, pathMember[c.Tool] == "path", project)
	if err != nil {
		return err
	}
	if running != "" && a.Verdict == agenttool.Allow {
		a.Verdict = agenttool.Ask
		a.Reason = visible.Text(fmt.Sprintf("toolhost: a running command may exchange %s while %s opens it, which no sandbox holds: process %s. Let it end first, or look at the path",
			path, claudeCode, running))
	}
	err = c.keep(judged{w, running != ""})
	if running == "" {
		return nil // without a record a difference is not told; nothing that runs makes one
	}
	return err
}

// maxKept is how long a judgment waits for the end of its call.
const maxKept = 24 * time.Hour

// file is where the judgment of a call is kept.
func (c call) file() (string, error) {
	state, err := dirs.State()
	if err != nil {
		return "", err
	}
	key, err := agenttool.Encode([]any{c.Session, c.Use, c.Tool, c.Raw})
	sum := sha256.Sum256(key)
	return filepath.Join(state, "hook", hex.EncodeToString(sum[:16])), err
}

// keep keeps a judgment until its call has ended, and forgets those of calls that never did.
func (c call) keep(j judged) error {
	file, err := c.file()
	if err != nil {
		return err
	}
	dir := filepath.Dir(file)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	old, _ := os.ReadDir(dir)
	for _, entry := range old {
		if info, err := entry.Info(); err == nil && time.Since(info.ModTime()) > maxKept {
			_ = os.Remove(filepath.Join(dir, entry.Name()))
		}
	}
	text, err := json.Marshal(j)
	if err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o600)
}

// touchedAnother says why the file that a call has touched may be another than the one that was judged before; "" if nothing says so.
func (h Hook) touchedAnother(c call) (string, error) {
	file, err := c.file()
	if err != nil {
		return "", err
	}
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil // the hook was not there before the call
	}
	if err != nil {
		return "", err
	}
	_ = os.Remove(file)
	var j judged
	if err := json.Unmarshal(text, &j); err != nil {
		return "", err
	}
	path, err := filepath.Abs(h.opened(c))
	if err != nil {
		return "", err
	}
	now, err := wayOf(path)
	if err != nil {
		return err.Error(), nil
	}
	if why := j.Way.leadsElsewhere(now, c, j.InDanger); why != "" {
		return fmt.Sprintf("%s of %s may have touched another file than the one that was judged: %s", c.Tool, visible.Text(path), why), nil
	}
	return "", nil
}
