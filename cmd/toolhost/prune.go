package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"toolhost/agenttool"
	"toolhost/cmd/toolhost/internal/dirs"
	"toolhost/cmd/toolhost/internal/limit"
	"toolhost/cmd/toolhost/internal/output"
	"toolhost/cmd/toolhost/internal/policy"
	"toolhost/persist"
	"toolhost/persist/cache"
	"toolhost/settings"
)

func newLogPrune() *cobra.Command {
	var asJSON bool
	var o persist.Retention
	limit := limit.Size(5 << 30)
	cmd := &cobra.Command{
		Use:   "prune",
		Short: "Remove old sessions, the largest and oldest outputs, and old caches",
		Long: `prune removes the sessions that were not used for --older-than, and the stored outputs of those that were not used for
--payloads-older-than; the settings retention.sessions, retention.payloads and retention.size hold without the flags. If the rest takes more than --max-size it removes stored
outputs, the largest and oldest first. Logs stay until they are too old, and running sessions are counted apart and left
alone. log verify knows which outputs were pruned.

It also removes the caches of tools (Go, npm, pip, cargo, ...) that were not used for as long, those of workspaces that
are gone, and those used longest ago while all take more than 4 GiB. toolhost doctor lists them.

toolhost serve does the same by itself, 30 s after its start and then once a day, and toolhost call with the first call
of a day. One session stores 4 GiB of output at most; what is beyond that is cut, and the result says so.
` + exitCodes,
		Example: `  toolhost log prune --dry-run
  toolhost log prune --older-than 168h --max-size 1GiB`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := retentionFlags(cmd, &o, &limit); err != nil {
				return err
			}
			dir, err := dirs.Sessions()
			if err != nil {
				return err
			}
			o.MaxBytes = int64(limit)
			found, err := persist.Prune(dir, o, time.Now())
			caches, failed := pruneCaches(cache.Limits{MaxAge: o.MaxAge, Dry: o.Dry})
			err = errors.Join(err, failed)
			if asJSON {
				err = cmp.Or(output.JSON(cmd.OutOrStdout(), struct {
					persist.PruneReport
					Caches []cache.Entry `json:"caches_removed,omitempty"`
				}{found, caches}), err)
			} else {
				err = cmp.Or(printPruned(cmd.OutOrStdout(), found, caches, o), err)
			}
			if err != nil {
				return exitf(exitFailed, "%v", err)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&o.Dry, "dry-run", false, "say what would be removed, and remove nothing")
	cmd.Flags().DurationVar(&o.MaxAge, "older-than", 30*24*time.Hour, "`time` since the last use after which a session is removed")
	cmd.Flags().DurationVar(&o.MaxPayloadAge, "payloads-older-than", 30*24*time.Hour, "`time` since the last use of a session after which its stored outputs are removed")
	cmd.Flags().Var(&limit, "max-size", "`size` of all ended sessions together, such as 1GiB")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

// retentionFlags completes the flags of log prune with the settings that hold in this directory.
func retentionFlags(cmd *cobra.Command, o *persist.Retention, size *limit.Size) error {
	if o.MaxAge <= 0 || o.MaxPayloadAge <= 0 || *size <= 0 {
		return fmt.Errorf("--older-than, --payloads-older-than and --max-size must be more than 0")
	}
	from, err := policy.SettingsFiles(dirs.Real("."), "")
	if err != nil {
		return err
	}
	read, err := settings.Load(from)
	if err != nil {
		return policy.Problems(err)
	}
	said := policy.Retention(read.Over(settings.Default()))
	for _, f := range []struct {
		name string
		set  func()
	}{
		{"older-than", func() { o.MaxAge = said.MaxAge }}, {"payloads-older-than", func() { o.MaxPayloadAge = said.MaxPayloadAge }}, {"max-size", func() { *size = limit.Size(said.MaxBytes) }},
	} {
		if !cmd.Flags().Changed(f.name) {
			f.set()
		}
	}
	return nil
}

// printPruned prints the removed and the remaining logs and caches, for people.
func printPruned(out io.Writer, found persist.PruneReport, caches []cache.Entry, o persist.Retention) error {
	removed, verb := int64(0), "removed"
	if o.Dry {
		verb = "would be removed"
	}
	w := output.NewTable(out)
	if len(found.Removed)+len(caches) > 0 {
		w.Row("SESSION", "WHAT", "SIZE", "LAST USED")
	}
	for _, r := range found.Removed {
		what := "all"
		if r.Payload != "" {
			what = "output " + r.Payload
		}
		removed += r.Bytes
		w.Row(r.Session, what, output.Size(r.Bytes), r.Changed)
	}
	for _, e := range caches {
		removed += e.Bytes
		w.Row("-", "cache of "+cmp.Or(e.Workspace, "an unknown workspace"), output.Size(e.Bytes), e.Used)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(out, "%s: %s, %s\n", verb, output.Count(len(found.Removed)+len(caches), "item"), output.Size(removed))
	fmt.Fprintf(out, "left: %s, %s; %d running, %s\n", output.Count(found.Sessions, "session"), output.Size(found.Bytes), found.Live, output.Size(found.LiveBytes))
	if found.Over > 0 {
		fmt.Fprintf(out, "the logs alone exceed the limit by %s: they stay until they are older than %s\n", output.Size(found.Over), o.MaxAge)
	}
	if warning := newerSessions(found); warning != "" {
		fmt.Fprintln(out, warning)
	}
	return nil
}

const (
	pruneDelay = 30 * time.Second // clients start throw-away processes to probe: those do not look at old sessions
	pruneEvery = 24 * time.Hour
)

// pruningSession is a running session beside which old ones are removed.
type pruningSession interface {
	ID() agenttool.SessionID
	Retention() persist.Retention // as its settings say
}

// pruneEnd is how long the end of a process waits: the next one goes on with the rest.
const pruneEnd = 2 * time.Second

// pruneBeside removes old sessions and caches beside the running session own, again and again until ctx ends. A session that ends sooner than
// that begins does it then, if nobody has for a day. wait waits for the end after ctx, but not for long.
func pruneBeside(ctx context.Context, own pruningSession, log func(line string)) (wait func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		for pause := pruneDelay; ; pause = pruneEvery {
			select {
			case <-time.After(pause):
				pruneOld(own, log)
			case <-ctx.Done():
				if pause == pruneDelay && pruneIsDue() {
					pruneOld(own, log)
				}
				return
			}
		}
	}()
	return func() { awaitPrune(done) }
}

// pruneIsDue reports whether no process has removed anything for a day.
func pruneIsDue() bool {
	dir, err := dirs.Sessions()
	return err == nil && time.Since(persist.LastPrune(dir)) > pruneEvery
}

func awaitPrune(done <-chan struct{}) {
	select {
	case <-done:
	case <-time.After(pruneEnd):
	}
}

// pruneMeanwhile removes old sessions and caches while session own makes a call. wait waits for the end, but not for long: the next call goes
// on with the rest.
func pruneMeanwhile(own pruningSession, log func(line string)) (wait func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		pruneOld(own, log)
	}()
	return func() { awaitPrune(done) }
}

// pruneOld removes sessions that are too old, outputs that are too large together, and old caches, but nothing of session own.
func pruneOld(own pruningSession, log func(line string)) {
	dir, err := dirs.Sessions()
	if err != nil {
		return
	}
	o := own.Retention()
	o.Keep, o.Unasked = []agenttool.SessionID{own.ID()}, true
	found, err := persist.Prune(dir, o, time.Now())
	if err != nil {
		log("old sessions could not be removed: " + err.Error())
	}
	if warning := newerSessions(found); warning != "" {
		log(warning)
	}
	limits := cache.Limits{}
	if found.ClockDoubted {
		limits.MaxAge = -1
	}
	if _, err := pruneCaches(limits); err != nil {
		log("old caches could not be removed: " + err.Error())
	}
}

// pruneCaches removes caches of workspaces.
func pruneCaches(o cache.Limits) ([]cache.Entry, error) {
	state, err := dirs.State()
	if err != nil {
		return nil, err
	}
	return cache.Prune(dirs.Caches(state), o, time.Now())
}

// newerSessions is a warning about sessions of a newer version, which are not removed; "" for none.
func newerSessions(found persist.PruneReport) string {
	if len(found.Newer) == 0 {
		return ""
	}
	return fmt.Sprintf("%d sessions were written by a newer version of toolhost and are left alone, %s first", len(found.Newer), found.Newer[0])
}
