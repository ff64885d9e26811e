package index

import (
	"math/rand/v2"
	"regexp"
	"testing"

	"toolhost/tools/search/literal"
)

// falseCandidates returns how many chunks without a needle of the clause are candidates all the same, and how many
// chunks there are without one.
func falseCandidates(x *Index, ids []ID, chunks [][]byte, clause literal.Clause) (candidates, without int) {
	c, _ := x.Query([]literal.Clause{clause})
	for i, chunk := range chunks {
		switch {
		case !c.Has(ids[i]):
			without++
		case !holds(chunk, clause):
			without++
			candidates++
		}
	}
	return candidates, without
}

func holds(chunk []byte, clause literal.Clause) bool {
	for i := range clause {
		if clause[i].Index(chunk) >= 0 {
			return true
		}
	}
	return false
}

// The needles are words of the text, the common ones more often. Of the candidates about half really have all trigrams of
// a long word, only elsewhere; the rest, and all for three letters, is due to trigrams that share a row.
func TestFewFalseCandidates(t *testing.T) {
	chunks, size := source(t, "net")
	x, ids := built(t, chunks)
	for _, test := range []struct {
		words string
		limit float64 // percent
	}{
		{`\b[A-Za-z_]{3}\b`, 45}, {`\b[A-Za-z_]{4}\b`, 30}, {`\b[A-Za-z_]{6}\b`, 20},
		{`\b[A-Za-z_]{8,12}\b`, 10}, {`\b[A-Za-z_]{16,}\b`, 2},
	} {
		words := regexp.MustCompile(test.words)
		r := rand.New(rand.NewPCG(5, 6))
		candidates, without := 0, 0
		for range 200 {
			chunk := chunks[r.IntN(len(chunks))]
			if word := words.Find(chunk[r.IntN(len(chunk)):]); word != nil {
				some, of := falseCandidates(x, ids, chunks, literal.Clause{literal.New(word, true)})
				candidates, without = candidates+some, without+of
			}
		}
		percent := 100 * float64(candidates) / float64(max(without, 1))
		t.Logf("%s: of %d chunks without the word %.2f %% are candidates", test.words, without, percent)
		if percent > test.limit || without == 0 {
			t.Errorf("%s: more than %g %%", test.words, test.limit)
		}
	}
	t.Logf("%d bytes for %d of text", x.Bytes(), size)
}
