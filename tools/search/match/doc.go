// Package match compiles a pattern and finds the lines of a text that it matches.
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
// Compile takes RE2's syntax only. Understand also takes a pattern of another dialect if it has one possible reading;
// Otherwise returns the other readings of a correct pattern, for searches that found nothing.
//
// The standard engine is exact but slow. It only locates matches within lines that are known to match. Lines are
// found by literal texts that every match must contain (package literal), and by a byte automaton that is built on
// demand.
package match
