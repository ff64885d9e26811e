package persist_test

import (
	"fmt"

	"toolhost/agenttool"
	"toolhost/persist"
)

func Example() {
	store := persist.New(persist.Options{ID: "ses_example", Ephemeral: true})
	event, _ := agenttool.Event{SchemaVersion: agenttool.SchemaVersion, EventType: agenttool.EventStarted}.MarshalJSON()
	seq, _ := store.Append(event)
	fmt.Println("recorded as", seq) // the opened record is the first

	p, _ := store.Payload("inv_1", "stdout", "text/plain", "full_output")
	fmt.Fprint(p, "hello, world\n")
	ref, _ := p.Close()
	page, _ := store.Page(ref.URI, 7, 0)
	fmt.Print(ref.URI, ": ", page.Text)
	// Output:
	// recorded as 2
	// toolhost://ses_example/results/inv_1.stdout: world
}
