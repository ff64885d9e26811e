package match

import (
	"cmp"
	"regexp/syntax"
	"slices"
	"unicode/utf8"

	"toolhost/tools/search/literal"
)

// maxClauses bounds the conditions that are kept for an expression.
const maxClauses = 16

// matchFacts describes every match of an expression.
type matchFacts struct {
	texts   texts            // the match is one of these; nil: unknown
	loose   bool             // not every one of texts is a match
	repeats texts            // the match begins and ends with one of these; nil: unknown
	clauses []literal.Clause // the match fulfils these
}

// all returns the conditions that every match fulfils, most selective first.
func (k matchFacts) all() []literal.Clause {
	all := k.clauses
	if c := k.texts.clause(); c != nil {
		all = append(slices.Clip(all), c)
	}
	return best(all)
}

// best removes duplicates, and the least selective conditions if there are too many.
func best(clauses []literal.Clause) []literal.Clause {
	clauses = slices.SortedStableFunc(slices.Values(clauses), func(a, b literal.Clause) int {
		return cmp.Compare(cost(a), cost(b))
	})
	clauses = slices.CompactFunc(clauses, func(a, b literal.Clause) bool {
		return slices.EqualFunc(a, b, func(x, y literal.Needle) bool {
			return x.Fold() == y.Fold() && string(x.Text()) == string(y.Text())
		})
	})
	return clauses[:min(len(clauses), maxClauses)]
}

// learn derives the conditions on every match of re.
func learn(re *syntax.Regexp) matchFacts {
	switch re.Op {
	case syntax.OpEmptyMatch:
		return matchFacts{texts: texts{{}}}
	case syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText, syntax.OpWordBoundary,
		syntax.OpNoWordBoundary:
		return matchFacts{texts: texts{{}}, loose: true}
	case syntax.OpLiteral, syntax.OpConcat, syntax.OpCapture:
		return learnSequence(re)
	case syntax.OpCharClass:
		return learnClass(re)
	case syntax.OpAlternate:
		return learnAlternate(re)
	case syntax.OpQuest:
		if sub := learn(re.Sub[0]); sub.texts != nil && len(sub.texts) < maxTexts {
			return matchFacts{texts: append(slices.Clone(sub.texts), text{}), loose: sub.loose}
		}
	case syntax.OpPlus:
		sub := learn(re.Sub[0])
		return matchFacts{repeats: sub.texts, clauses: sub.all()}
	}
	return matchFacts{}
}

// learnClass handles small character classes.
func learnClass(re *syntax.Regexp) matchFacts {
	var runes []rune
	for i := 0; i+1 < len(re.Rune); i += 2 {
		for r := re.Rune[i]; r <= re.Rune[i+1]; r++ {
			if len(runes) == 2*maxTexts || !plain(r) {
				return matchFacts{}
			}
			runes = append(runes, r)
		}
	}
	if all := anyOf(runes); 0 < len(all) && len(all) <= maxTexts {
		return matchFacts{texts: all}
	}
	return matchFacts{}
}

// plain reports whether r has a single encoding in a text. U+FFFD also matches every invalid byte, a line may end in
// \r\n instead of \n, and a surrogate cannot be encoded.
func plain(r rune) bool { return r != utf8.RuneError && r != '\n' && utf8.ValidRune(r) }

// learnAlternate collects all texts, or else the best condition of each alternative.
func learnAlternate(re *syntax.Regexp) matchFacts {
	whole, either := matchFacts{texts: texts{}}, literal.Clause{}
	for _, alternative := range re.Sub {
		sub := learn(alternative)
		whole.loose = whole.loose || sub.loose
		if sub.texts == nil || len(whole.texts)+len(sub.texts) > maxTexts {
			whole.texts = nil
		}
		if whole.texts != nil {
			whole.texts = append(whole.texts, sub.texts...)
		}
		clauses := sub.all()
		if len(clauses) == 0 || len(either)+len(clauses[0]) > maxTexts {
			either = nil
		}
		if either != nil {
			either = append(either, clauses[0]...)
		}
	}
	if whole.texts == nil && either != nil {
		whole.clauses = []literal.Clause{either}
	}
	return whole
}

// sequence joins the conditions of consecutive expressions.
type sequence struct {
	matchFacts
	run    texts // texts of the last expressions, as far as they are known
	broken bool  // the texts of an earlier expression are unknown
}

func learnSequence(re *syntax.Regexp) matchFacts {
	s := sequence{run: texts{{}}}
	s.add(re)
	if !s.broken {
		s.texts = s.run
		return s.matchFacts
	}
	s.emit(s.run)
	return s.matchFacts
}

// add appends an expression.
func (s *sequence) add(re *syntax.Regexp) {
	switch re.Op {
	case syntax.OpConcat, syntax.OpCapture:
		for _, sub := range re.Sub {
			s.add(sub)
		}
	case syntax.OpLiteral:
		s.addLiteral(re)
	default:
		k := learn(re)
		s.clauses = append(s.clauses, k.clauses...)
		s.loose = s.loose || k.loose
		switch {
		case k.texts != nil:
			s.extend(k.texts)
		case k.repeats != nil:
			s.extend(k.repeats)
			s.end(k.repeats)
		default:
			s.end(texts{{}})
		}
	}
}

// addLiteral appends runes. Runes with several spellings, which with FoldCase include k and s, become alternatives.
// Few texts contain the unusual spellings of k and s, so the text between them is a condition by itself.
func (s *sequence) addLiteral(re *syntax.Regexp) {
	fold := re.Flags&syntax.FoldCase != 0
	var simple []rune
	flush := func() {
		piece := texts{text{string(simple), fold && hasLetter(string(simple))}.lower()}
		if len(simple) > 0 {
			s.extend(piece)
		}
		if 1 < len(simple) && len(simple) < len(re.Rune) {
			s.emit(piece)
		}
		simple = simple[:0]
	}
	for _, r := range re.Rune {
		ways := texts{{string: string(r)}}
		if fold {
			ways = anyOf(cases(r))
		}
		switch {
		case !plain(r):
			flush()
			s.end(texts{{}})
		case len(ways) == 1:
			simple = append(simple, r)
		default:
			flush()
			s.extend(ways)
		}
	}
	flush()
}

// extend appends an expression that matches one of next.
func (s *sequence) extend(next texts) {
	if len(next) > 1 {
		s.emit(s.run) // fewer texts are found faster
	}
	if len(s.run) == 1 && s.run[0].string == "" {
		s.run = next
		return
	}
	joined, exact, ok := s.run.join(next)
	if !ok {
		s.end(next)
		return
	}
	s.run, s.loose = joined, s.loose || !exact
}

// end ends the run before an unknown expression. Another run begins with next.
func (s *sequence) end(next texts) {
	s.emit(s.run)
	s.run, s.broken = next, true
}

// emit records that every match contains one of a.
func (s *sequence) emit(a texts) {
	if c := a.clause(); c != nil {
		s.clauses = append(s.clauses, c)
	}
	if len(s.clauses) > 4*maxClauses {
		s.clauses = best(s.clauses)
	}
}
