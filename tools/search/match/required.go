package match

import (
	"cmp"
	"regexp/syntax"
	"slices"
	"unicode/utf8"

	"toolhost/tools/search/literal"
)

// maxClauses bounds what is known of an expression.
const maxClauses = 16

// known is what is known of every match of an expression.
type known struct {
	texts   texts            // it is one of these; nil when that is not known
	loose   bool             // but not each of these is a match
	repeats texts            // it begins with one of these and ends with one; nil when that is not known
	clauses []literal.Clause // it fulfils these
}

// all returns the conditions that every match fulfils, the most selective ones first.
func (k known) all() []literal.Clause {
	all := k.clauses
	if c := k.texts.clause(); c != nil {
		all = append(slices.Clip(all), c)
	}
	return best(all)
}

// best drops repetitions, and the least selective conditions when there are too many.
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

// learn finds out what is known of every match of re.
func learn(re *syntax.Regexp) known {
	switch re.Op {
	case syntax.OpEmptyMatch:
		return known{texts: texts{{}}}
	case syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText, syntax.OpWordBoundary,
		syntax.OpNoWordBoundary:
		return known{texts: texts{{}}, loose: true}
	case syntax.OpLiteral, syntax.OpConcat, syntax.OpCapture:
		return learnSequence(re)
	case syntax.OpCharClass:
		return learnClass(re)
	case syntax.OpAlternate:
		return learnAlternate(re)
	case syntax.OpQuest:
		if sub := learn(re.Sub[0]); sub.texts != nil && len(sub.texts) < maxTexts {
			return known{texts: append(slices.Clone(sub.texts), text{}), loose: sub.loose}
		}
	case syntax.OpPlus:
		sub := learn(re.Sub[0])
		return known{repeats: sub.texts, clauses: sub.all()}
	}
	return known{}
}

// learnClass knows small classes.
func learnClass(re *syntax.Regexp) known {
	var runes []rune
	for i := 0; i+1 < len(re.Rune); i += 2 {
		for r := re.Rune[i]; r <= re.Rune[i+1]; r++ {
			if len(runes) == 2*maxTexts || !plain(r) {
				return known{}
			}
			runes = append(runes, r)
		}
	}
	if all := anyOf(runes); 0 < len(all) && len(all) <= maxTexts {
		return known{texts: all}
	}
	return known{}
}

// plain reports whether r is one text alone. U+FFFD matches every invalid byte too, a line may end in \r\n instead
// of \n, and a surrogate is no text.
func plain(r rune) bool { return r != utf8.RuneError && r != '\n' && utf8.ValidRune(r) }

// learnAlternate knows all texts, or else the best condition of each alternative.
func learnAlternate(re *syntax.Regexp) known {
	whole, either := known{texts: texts{}}, literal.Clause{}
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

// sequence joins what is known of expressions that follow one another.
type sequence struct {
	known
	run    texts // the texts of the last expressions, as far as these are known
	broken bool  // there was an expression before them whose texts are not known
}

func learnSequence(re *syntax.Regexp) known {
	s := sequence{run: texts{{}}}
	s.add(re)
	if !s.broken {
		s.texts = s.run
		return s.known
	}
	s.emit(s.run)
	return s.known
}

// add adds an expression at the end.
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

// addLiteral adds runes. Those that can be written in several ways, which with FoldCase k and s can too, make
// alternatives. Because few texts hold such a k or s, what is between them is a condition by itself.
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

// extend adds an expression that stands for one of next.
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

// end ends the run before something that is not known. Another begins with next.
func (s *sequence) end(next texts) {
	s.emit(s.run)
	s.run, s.broken = next, true
}

// emit notes that one of a is in every match.
func (s *sequence) emit(a texts) {
	if c := a.clause(); c != nil {
		s.clauses = append(s.clauses, c)
	}
	if len(s.clauses) > 4*maxClauses {
		s.clauses = best(s.clauses)
	}
}
