package screen

import (
	"fmt"
	"strings"

	"toolhost/agenttool/visible"
	"toolhost/cmd/toolhost/internal/approve"
)

// keysHelp explains the keys.
const keysHelp = `y or 1|allow it this once
s|allow it, and its suggested rules until the session ends; shown before it is sent
p|the same, kept in the settings of the project
u|the same, kept in your settings, for all projects
a|allow it, and all edits of the session from now on (mode accept_edits); shown before it is sent
R|write a rule of your own; what it covers is shown while you write, and again before it is sent
g|choose among the suggested rules and grants
n|deny it
N or r|deny it, and tell the model why
e|change what would run; the change is shown before it is sent
/|change the mode of the session: a stricter one at once, a looser one with the code that the session then shows
c|type the code of a session that wants one
j k tab, up, down|the next and the previous prompt
space, pgdown, pgup, home, end|scroll
f|live: the calls that wait, with their age, those that run, and those that were denied
d|what became of prompts that have ended
w|all warnings
q|end; prompts go on waiting for others, or until their time is over`

// fieldsHelp explains what a prompt shows.
const fieldsHelp = `why|why it was not simply run, in the words of the session
effects|what it may do. What is not known counts as unsafe: “may reach out” means that nobody proved it does not
Command|what would run, whole. ⟨ESC⟩ or ⟨U+202E⟩ stands for a character that a terminal would act on or hide; ↪ goes on with the line above
Its commands|each simple command with its verdict, why, and the rule that decided, with the file and line where it stands. All must be allowed for the whole to run
What is known|the paths and hosts that it names; “is” says where a path leads once links are followed; “from” says what the facts were drawn from
Where|the directory, the session that asks, and the sandbox that holds the call whatever it does. Below level full some things are not held
Could be kept|rules that would have allowed this very call, exactly as they would be stored, and where; grants widen the sandbox for this call only
Diff|what would change in files
time left|after that the call is refused, and the model is told that nobody answered`

// reasonsHelp says of each type of reason why it asks.
var reasonsHelp = map[string]string{
	"rule":                   "A rule of yours or of the project says that this asks. Rules that ask win over rules that allow.",
	"mode":                   "No rule covers it, and the mode lets only what is proved harmless run unasked.",
	"safety_check":           "It touches something that is always asked about, whatever rules say: version control hooks, start-up files, settings that run code, secrets.",
	"working_dir":            "It touches something outside the workspace.",
	"sandbox_override":       "The sandbox keeps something from it. Allowing grants that: a command that waits for it goes on, one that has ended runs again.",
	"subcommand_results":     "It is several commands, and at least one of them asks.",
	"classifier":             "What it does could not be told from its text, or it does something that asks.",
	"hook":                   "A hook of yours wants you to look at it.",
	"policy":                 "A policy of this machine says that this asks.",
	"permission_prompt_tool": "Another program passed the question on.",
}

// help explains the keys, and why a prompt asks; nil: none is shown.
func help(it *approve.Item) dialog {
	var lines []approve.Line
	section := func(title, text string) {
		lines = append(lines, approve.Line{Kind: approve.Heading, Text: title})
		for entry := range strings.SplitSeq(text, "\n") {
			name, does, _ := strings.Cut(entry, "|")
			lines = append(lines, approve.Line{Indent: 18, Text: fmt.Sprintf("  %-15s %s", name, does)})
		}
		lines = append(lines, approve.Line{})
	}
	if it != nil {
		if r := it.Prompt.Decision.Reason; r != nil {
			why := reasonsHelp[r.Type]
			if why == "" {
				why = "The session gives the reason " + visible.Text(r.Type) + ", which is not known here."
			}
			lines = append(lines, approve.Line{Kind: approve.Heading, Text: "Why this asks"},
				approve.Line{Indent: 4, Text: "  " + why}, approve.Line{Indent: 4, Text: "  It says: " + visible.Text(r.Detail)}, approve.Line{})
		}
	}
	section("Keys", keysHelp)
	section("What a prompt shows", fieldsHelp)
	lines = append(lines, approve.Line{Indent: 2, Text: "A key answers only what has been on the screen for 0.3 seconds, and only if no other key follows at once. What is pasted never answers."})
	return &reader{name: "Help", lines: lines}
}

// done shows how the last prompts ended.
func done(queue *approve.Queue) dialog {
	var lines []approve.Line
	for _, d := range queue.Done {
		lines = append(lines,
			approve.Line{Indent: 4, Text: fmt.Sprintf("%s  #%d %s  %s", d.At.Local().Format("15:04:05"), d.Number, d.Tool, d.Subject)},
			approve.Line{Kind: approve.Faint, Indent: 10, Text: "          " + d.How})
	}
	if len(lines) == 0 {
		lines = append(lines, approve.Line{Text: "No prompt has ended yet."})
	}
	return &reader{name: "Done, the last one at the end", lines: lines, offset: 1 << 30}
}

// warnings returns the warnings of all sessions and the reasons why sessions cannot be reached, without duplicates.
func warnings(queue *approve.Queue, trouble []string) (all []string) {
	seen := map[string]bool{}
	add := func(text string) {
		if text = visible.Text(text); !seen[text] {
			seen[text] = true
			all = append(all, text)
		}
	}
	for _, s := range queue.Sessions() {
		for _, w := range s.Warnings {
			add(w)
		}
	}
	for _, text := range trouble {
		add(text)
	}
	return all
}

func allWarnings(all []string) dialog {
	var lines []approve.Line
	for _, w := range all {
		lines = append(lines, approve.Line{Kind: approve.Warning, Indent: 2, Text: w})
	}
	if len(lines) == 0 {
		lines = append(lines, approve.Line{Text: "There are no warnings."})
	}
	return &reader{name: "Warnings", lines: lines}
}
