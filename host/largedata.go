package host

import (
	"encoding/base64"
	"fmt"
	"slices"

	"toolhost/agenttool"
	"toolhost/persist"
)

// dataSize is the bytes of images and other data in the blocks.
func dataSize(blocks []agenttool.Content) (n int64) {
	for _, b := range blocks {
		n += int64(base64.StdEncoding.DecodedLen(len(b.Data)))
	}
	return n
}

// keepData stores the data of a result as payloads, and leaves a reference in the place of each (AT-292). Data that cannot be stored is dropped,
// and the result says so.
func keepData(e *ending) {
	e.result.Content = slices.Clone(e.result.Content)
	for i, b := range e.result.Content {
		if b.Data == "" {
			continue
		}
		data, err := base64.StdEncoding.DecodeString(b.Data)
		var ref agenttool.Ref
		if err == nil {
			ref, err = e.rec.store(fmt.Sprintf("data_%d", i+1), b.MediaType, data)
		}
		if err != nil {
			e.kept.Strategy, e.kept.Reason = agenttool.DropWithReason, "data of the result cannot be stored: "+err.Error()
			e.result.Content[i] = agenttool.Text("[left out; " + e.kept.Reason + "]")
			continue
		}
		e.result.ResourceRefs = append(e.result.ResourceRefs, ref)
		e.result.Content[i] = agenttool.Content{Type: "persisted_output_ref", URI: ref.URI, Name: ref.Relation, MediaType: ref.MediaType}
		if e.kept.PersistedRef == nil {
			e.kept.PersistedRef = &ref
		}
	}
}

// keepLargeData is keepData for results with more data than a result may hold, if the placement of the result is by reference.
func keepLargeData(e *ending, s agenttool.Strategy) {
	if s != agenttool.RefOnly && s != agenttool.PreviewAndPersist || dataSize(e.result.Content) <= persist.InlineBytes {
		return
	}
	keepData(e)
	if s == agenttool.RefOnly {
		e.rec.emit(agenttool.EventResultPersisted, "phase", agenttool.PhasePersistResult, "persistence", e.kept)
	}
}
