// Package match knows one thing: a pattern, and which lines of a text it matches.
//
// A pattern is in RE2's syntax (regexp/syntax) and means what it means to the standard library, line by line: \n and
// \r\n end a line and are no part of it, each invalid byte is one U+FFFD, and \w, \d, \s and \b are ASCII. With
// Multiline a match may span lines, . matches \n, and ^ and $ match at line ends.
//
//	p, err := match.Compile(`func \w+Error\(`, match.Options{})
//	m := p.Matcher()
//	m.Reset(text)
//	for start, end, ok := m.Next(0); ok; start, end, ok = m.Next(end + 1) {
//		line := text[start:end]
//	}
//
// The standard engine is exact but slow. It is asked only where matches lie in a line that is known to match. Lines are
// found by literal texts that every match must hold (package literal), and by an automaton over bytes that is built
// while it runs.
package match
