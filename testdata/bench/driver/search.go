package main

import (
	"bufio"
	"context"
	"fmt"
	"strconv"
	"strings"

	"toolhost/tools/search/engine"
	"toolhost/tools/search/match"
	"toolhost/tools/search/tree"
)

func (h *host) do(ctx context.Context, r request) error {
	switch r.Do {
	case "settle":
		return h.engine.Settle(ctx)
	case "grep":
		return h.grep(ctx, r)
	case "list":
		return h.list(ctx, r)
	}
	return fmt.Errorf("no request %q: it is grep, list or settle", r.Do)
}

// root opens the directory that is searched, as each call of a tool does.
func (h *host) root() (engine.Root, error) {
	secrets, err := h.ws.Secrets()
	if err != nil {
		return engine.Root{}, err
	}
	dir, err := h.ws.OpenDir(h.dir)
	return engine.Root{Dir: dir, Path: h.dir.Resolved, Private: h.ws.Private, Secrets: secrets}, err
}

// grep writes PATH:LINE:TEXT for each matching line.
func (h *host) grep(ctx context.Context, r request) error {
	pattern, err := match.Compile(r.Pattern, match.Options{IgnoreCase: r.IgnoreCase})
	if err != nil {
		return err
	}
	root, err := h.root()
	if err != nil {
		return err
	}
	left := r.Limit
	_, err = h.engine.Grep(ctx, root, engine.Query{Pattern: pattern, Store: true, Limit: r.Limit}, func(p engine.Part) bool {
		for i := range p.Lines {
			writeLine(h.out, p.Path, &p.Lines[i])
			if left--; left == 0 {
				return false
			}
		}
		return true
	})
	return err
}

func writeLine(w *bufio.Writer, path string, line *engine.Line) {
	_, _ = w.WriteString(path) // errors stay in w
	_ = w.WriteByte(':')
	_, _ = w.Write(strconv.AppendInt(w.AvailableBuffer(), int64(line.Number), 10))
	_ = w.WriteByte(':')
	_, _ = w.Write(line.Text)
	_ = w.WriteByte('\n')
}

// list writes the path of each file, without links, which rg --files leaves out.
func (h *host) list(ctx context.Context, r request) error {
	root, err := h.root()
	if err != nil {
		return err
	}
	var want func(dir, name string) bool
	if r.Suffix != "" {
		want = func(_, name string) bool { return strings.HasSuffix(name, r.Suffix) }
	}
	_, err = h.engine.List(ctx, root, want, func(f engine.FoundFile) bool {
		if f.Kind == tree.Regular {
			_, _ = h.out.WriteString(f.Dir.Path)
			_, _ = h.out.WriteString(f.Name)
			_ = h.out.WriteByte('\n')
		}
		return true
	})
	return err
}
