package files

import (
	"bytes"
	"unicode/utf8"

	"toolhost/agenttool/cut"
)

// piece describes a part of a UTF-8 file on its own: parts are scanned in any order and joined later.
type piece struct {
	size      int64
	nul       bool
	malformed bool
	lineEnds
	edges
}

// lineEnds counts the ends of lines.
type lineEnds struct {
	lf, cr, crlf int64
}

// edges are the bytes at both ends of a piece.
type edges struct {
	first, last byte
	head, tail  []byte // of characters that cross its ends; at most 3 bytes each
}

// pieceOf scans a part of a file.
func pieceOf(part []byte) piece {
	if len(part) == 0 {
		return piece{}
	}
	t := tallyOf(part)
	p := piece{size: int64(len(part)), edges: edges{first: part[0], last: part[len(part)-1]}, lineEnds: lineEnds{lf: t.lf}, nul: t.nul}
	if t.returns {
		p.cr, p.crlf = countReturns(part)
	}
	if t.beyond {
		p.validate(part)
	}
	return p
}

// validate checks that part is UTF-8, except for the characters at its ends.
func (p *piece) validate(part []byte) {
	begins := 0
	for begins < min(len(part), utf8.UTFMax-1) && !utf8.RuneStart(part[begins]) {
		begins++
	}
	p.head, part = bytes.Clone(part[:begins]), part[begins:]
	ends := len(cut.Whole(part))
	p.tail = bytes.Clone(part[ends:])
	p.malformed = !utf8.Valid(part[:ends])
}

// countReturns counts the CR in b, and those followed by LF.
func countReturns(b []byte) (cr, crlf int64) {
	for {
		i := bytes.IndexByte(b, '\r')
		if i < 0 {
			return cr, crlf
		}
		cr++
		if b = b[i+1:]; len(b) > 0 && b[0] == '\n' {
			crlf++
		}
	}
}
