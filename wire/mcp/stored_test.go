package mcp

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"toolhost/agenttool"
	"toolhost/host"
)

// TestStoredResultsAreListed: the payloads of results are listed, the newest first, and can be read.
func TestStoredResultsAreListed(t *testing.T) {
	flood := &fake{name: "flood", run: func(context.Context, agenttool.Reporter) (agenttool.Output, error) {
		return agenttool.Output{Content: []agenttool.Content{agenttool.Text(strings.Repeat("all of it\n", 10_000))}}, nil
	}}
	f := newFixture(t, adding(flood))
	for _, revision := range revisions {
		c := f.client("test", revision, nil)
		before, err := c.ListResources(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		f.call(c, "flood", nil)
		list, err := c.ListResources(t.Context(), nil)
		if err != nil || len(list.Resources) != len(before.Resources)+1 {
			t.Fatalf("%s: %+v, %v", revision, list, err)
		}
		newest := list.Resources[0]
		page, err := c.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: newest.URI})
		if err != nil || !strings.HasPrefix(page.Contents[0].Text, "all of it\n") || newest.Size < 100_000 || !strings.Contains(newest.Description, "test.flood") {
			t.Errorf("%s: %+v, %v", revision, newest, err)
		}
	}
	var s stored
	for range 2 * maxStored {
		s.add(host.Completion{Result: agenttool.Result{ResultRefs: agenttool.ResultRefs{ResourceRefs: []agenttool.Ref{{URI: scheme + "a"}, {URI: scheme + "a"}, {URI: "file:///b"}}}}})
	}
	if n := len(s.list()); n != maxStored {
		t.Errorf("%d are listed", n)
	}
}

// TestEmptyLists: a list of nothing is an empty one. Clients whose schemas want an array give up a server that says null.
func TestEmptyLists(t *testing.T) {
	answer := <-newFixture(t).raw().start("resources/list", nil)
	var got struct{ Resources json.RawMessage }
	if err := json.Unmarshal(answer.Result, &got); err != nil || string(got.Resources) != "[]" {
		t.Errorf("%s, %v, %v", answer.Result, answer.Error, err)
	}
}
