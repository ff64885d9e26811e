package approve

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"toolhost/agenttool"
	"toolhost/agenttool/count"
	"toolhost/agenttool/cut"
	"toolhost/agenttool/visible"
)

// Activity is the state of a session: running calls and jobs, and the last denials.
type Activity struct {
	Session string `json:"-"`
	Calls   []struct {
		Invocation agenttool.InvocationID `json:"invocation_id"`
		ToolID     string                 `json:"tool_id"`
		Subject    string                 `json:"subject"`
		Status     string                 `json:"status"`
		ElapsedMS  int64                  `json:"elapsed_ms"`
	} `json:"calls"`
	Jobs []struct {
		Invocation agenttool.InvocationID `json:"invocation_id"`
		Job        string                 `json:"job"`
		Command    string                 `json:"command"`
		State      agenttool.JobState     `json:"state"`
		AgeMS      int64                  `json:"age_ms"`
		LastLine   string                 `json:"last_line"`
	} `json:"jobs"`
	Denied []struct {
		At      string `json:"at"`
		Tool    string `json:"tool"`
		Subject string `json:"subject"`
		Why     string `json:"why"`
	} `json:"denied"`
}

// Bounds of a feed.
const (
	maxFeed  = 20  // entries of each kind
	maxEntry = 200 // characters of a text
)

// Feed returns the lines of a live feed: waiting calls with their age, running calls, and denials, the newest at the end.
func Feed(q *Queue, all []Activity, now time.Time) []Line {
	var p page
	p.section("Waits for you")
	for _, it := range q.Waiting[:min(len(q.Waiting), maxFeed)] {
		p.add(Warning, 4, fmt.Sprintf("  #%d %s %s, for %s", it.Number, visible.Text(it.Prompt.Tool), cut.Characters(it.Prompt.Subject(), maxEntry), cmp.Or(it.Age(now), "?")))
	}
	rest(&p, len(q.Waiting), "nothing")
	running(&p, all)
	denied(&p, all)
	return p
}

// rest says how many entries are left out, or that there are none.
func rest(p *page, all int, none string) {
	switch {
	case all == 0:
		p.add(Faint, 4, "  "+none)
	case all > maxFeed:
		p.add(Faint, 4, fmt.Sprintf("  and %s more", count.Thousands(all-maxFeed)))
	}
}

// atWorkEntry is a running call or job.
type atWorkEntry struct {
	age  int64 // in milliseconds
	text string
}

// atWork are the running calls and jobs. A call that has become a job counts once.
func atWork(all []Activity) (entries []atWorkEntry) {
	for _, a := range all {
		jobs := map[agenttool.InvocationID]bool{}
		for _, j := range a.Jobs {
			if jobs[j.Invocation] = true; j.State == agenttool.JobEnded {
				continue
			}
			text := shortly("job "+j.Job, j.Command) + ", " + lasted(j.AgeMS)
			if j.State != agenttool.JobRunning {
				text += ", " + visible.Text(strings.ReplaceAll(string(j.State), "_", " "))
			}
			entries = append(entries, atWorkEntry{j.AgeMS, text})
		}
		for _, c := range a.Calls {
			if c.Status != string(agenttool.StatusAwaitingApproval) && !jobs[c.Invocation] {
				tool := c.ToolID[strings.LastIndexByte(c.ToolID, '.')+1:]
				entries = append(entries, atWorkEntry{c.ElapsedMS, shortly(tool, c.Subject) + ", " + lasted(c.ElapsedMS)})
			}
		}
	}
	return entries
}

// running lists running calls and jobs, the oldest first.
func running(p *page, all []Activity) {
	entries := atWork(all)
	slices.SortStableFunc(entries, func(a, b atWorkEntry) int { return cmp.Compare(b.age, a.age) })
	p.section("Runs")
	for _, e := range entries[:min(len(entries), maxFeed)] {
		p.add(Good, 4, "  "+e.text)
	}
	rest(p, len(entries), "nothing")
}

// denied lists the last denials, the newest at the end.
func denied(p *page, all []Activity) {
	type entry struct {
		at        time.Time
		text, why string
	}
	var entries []entry
	for _, a := range all {
		for _, d := range a.Denied {
			at, _ := time.Parse(time.RFC3339, d.At)
			entries = append(entries, entry{at, shortly(d.Tool, d.Subject), visible.Text(cut.Characters(d.Why, maxEntry))})
		}
	}
	slices.SortStableFunc(entries, func(a, b entry) int { return a.at.Compare(b.at) })
	p.section("Denied, the last one at the end")
	for _, e := range entries[max(0, len(entries)-maxFeed):] {
		p.add(Danger, 11, fmt.Sprintf("  %s %s", e.at.Local().Format("15:04:05"), e.text))
		p.add(Faint, 13, "           "+e.why)
	}
	rest(p, min(len(entries), maxFeed), "no call")
}

// shortly is a tool and its subject in one line.
func shortly(tool, subject string) string {
	return visible.Text(tool + " " + cut.Characters(subject, maxEntry))
}

// lasted is a duration in milliseconds, for a person.
func lasted(ms int64) string { return ageText(time.Duration(ms) * time.Millisecond) }
