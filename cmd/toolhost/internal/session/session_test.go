package session

import (
	"testing"

	"toolhost/settings"
	"toolhost/tools/search/engine"
)

// The words of search.index are those of the engine; without one it is Auto.
func TestIndexMode(t *testing.T) {
	for word, want := range map[string]engine.Mode{"": engine.Auto, "off": engine.Off, "strict": engine.Strict, "watched": engine.Watched} {
		read := &settings.Settings{SearchIndex: settings.Value[string]{Set: word != "", V: word}}
		if got := indexMode(read); got != want {
			t.Errorf("%q is %d, want %d", word, got, want)
		}
	}
}
