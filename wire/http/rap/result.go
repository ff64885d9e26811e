package rap

import (
	"cmp"
	"fmt"
	"strings"

	"toolhost/agenttool"
	"toolhost/agenttool/json"
	"toolhost/agenttool/visible"
	"toolhost/host"
)

// errorMark is how a result begins that is an error (RAP-15).
const errorMark = "Error: "

// resultMessage is the result of a call (RAP-13).
type resultMessage struct {
	Type         string    `json:"type"` // tool_result
	Group        string    `json:"group_id"`
	ID           string    `json:"id"`
	CallID       *string   `json:"call_id,omitempty"`
	Text         string    `json:"text"`
	Content      []item    `json:"content,omitempty"` // with images only; it supersedes Text
	Display      []segment `json:"display_as,omitempty"`
	Subscription bool      `json:"subscription,omitempty"`
}

// item is one block of a result with images.
type item struct {
	Type      string `json:"type"` // text or image
	Text      string `json:"text,omitempty"`
	Data      string `json:"data,omitempty"`
	MediaType string `json:"mediaType,omitempty"`
}

// segment is one way to show a result to a person (RAP-14). Content is a string, a patch or a picture.
type segment struct {
	Type    string `json:"type"` // text, diff or image
	Content any    `json:"content"`
}

type patch struct {
	Path  string `json:"path,omitempty"`
	Patch string `json:"patch"`
}

type picture struct {
	Data      string `json:"data"`
	MediaType string `json:"mediaType"`
}

// viewMessage replaces what a view of the thread shows (RAP-19).
type viewMessage struct {
	Type    string `json:"type"` // view_update
	Group   string `json:"group_id"`
	View    string `json:"view_type"`
	Content any    `json:"content"`
}

// resultOf translates how a call ended. The model reads its text and sees its images; a diff is shown to the person.
func resultOf(a address, done host.Completion) resultMessage {
	m := resultMessage{Type: "tool_result", Group: a.Group, ID: a.ID, CallID: a.CallID}
	blocks := done.Result.Content
	if done.Result.ModelFacingContent != nil {
		blocks = done.Result.ModelFacingContent
	}
	var images []agenttool.Content
	m.Text, images = split(blocks)
	switch {
	case done.Result.IsError:
		m.Text = marked(m.Text, done.Result.Error)
	case m.Text == "" && len(done.Result.StructuredContent) > 0:
		m.Text = string(done.Result.StructuredContent)
	}
	if len(images) > 0 {
		m.attach(images)
	}
	m.Display = display(done, images)
	return m
}

// split joins the texts of a result, and returns its images.
func split(blocks []agenttool.Content) (text string, images []agenttool.Content) {
	var lines []string
	for _, b := range blocks {
		switch {
		case b.Type == "image" && b.Data != "":
			images = append(images, b)
		case b.Type == "diff", b.Type == "artifact_ref", b.Type == "file":
		case b.Text != "":
			lines = append(lines, b.Text)
		case b.URI != "":
			lines = append(lines, strings.TrimSpace(b.Name+" "+b.URI))
		}
	}
	return strings.Join(lines, "\n"), images
}

// marked is the text of an error as the protocol wants it to begin.
func marked(text string, e *agenttool.Error) string {
	if e != nil {
		text = cmp.Or(text, e.Message)
		text = strings.TrimPrefix(text, fmt.Sprintf("Error (%s): ", e.Class))
	}
	return errorMark + strings.TrimPrefix(text, errorMark)
}

// attach puts images behind a text that describes them.
func (m *resultMessage) attach(images []agenttool.Content) {
	if m.Text == "" {
		m.Text = fmt.Sprintf("%d images are attached.", len(images))
	}
	m.Content = []item{{Type: "text", Text: m.Text}}
	for _, image := range images {
		m.Content = append(m.Content, item{Type: "image", Data: image.Data, MediaType: image.MediaType})
	}
}

// mention adds the id of the job that goes on to the text.
func (m *resultMessage) mention(job string) {
	note := fmt.Sprintf("[Subscription ID: %s; how it goes on and ends will be told]", job)
	if m.Text = strings.TrimSuffix(m.Text, "\n") + "\n" + note; len(m.Content) > 0 {
		m.Content[0].Text = m.Text
	}
}

// display is how a person sees the result, the best first, text last; nothing where the text is all there is to see.
func display(done host.Completion, images []agenttool.Content) (ways []segment) {
	if diff := diffOf(done); diff != "" {
		ways = append(ways, segment{"diff", patch{pathOf(done), diff}})
	}
	for _, image := range images {
		ways = append(ways, segment{"image", picture{image.Data, image.MediaType}})
	}
	summary, _, _ := strings.Cut(done.Result.UIFacingSummary, "\n")
	if len(ways) == 0 && (summary == "" || !long(done)) {
		return nil
	}
	summary = cmp.Or(summary, "done")
	return append(ways, segment{"text", visible.Text(summary)})
}

// long reports whether a result's text is more than a person wants to see of it.
func long(done host.Completion) bool {
	text, _ := split(done.Result.Content)
	return len(text) > 200 || strings.Contains(text, "\n")
}

// viewOf is the diff view after a change (RAP-19). It shows the latest change.
func viewOf(a address, done host.Completion) (viewMessage, bool) {
	diff := diffOf(done)
	return viewMessage{Type: "view_update", Group: a.Group, View: "diff", Content: patch{Patch: diff}}, diff != ""
}

// diffOf is the diff of a call's changes, empty if there are none.
func diffOf(done host.Completion) string {
	var diffs []string
	for _, b := range done.Result.Content {
		if b.Type == "diff" && b.Diff != "" {
			diffs = append(diffs, b.Diff)
		}
	}
	return strings.Join(diffs, "\n")
}

// pathOf is the file that a call was about, by the name that the call gave it.
func pathOf(done host.Completion) string {
	var about struct {
		Path string `json:"path"`
	}
	for _, raw := range []json.RawMessage{done.Invocation.ModelInput, done.Result.StructuredContent} {
		if json.Unmarshal(raw, &about) == nil && about.Path != "" {
			return about.Path
		}
	}
	return "changes"
}
