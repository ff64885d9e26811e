package files

import (
	"bytes"

	"toolhost/tools/encoding"
)

const (
	roundSize = 64       // bytes that tallyWide takes at once
	blockSize = 16 << 10 // bytes that are scanned several times in a row: they stay in the processor's first cache
)

// tally counts the bytes that determine how a text is read.
type tally struct {
	lf      int64
	beyond  bool // some byte is not ASCII
	nul     bool
	returns bool // there is a CR
}

// tallyOf scans b, in one pass if the processor supports that.
func tallyOf(b []byte) tally {
	var t tally
	if rounds := len(b) / roundSize; hasWide && rounds > 0 {
		lf, beyond, zero, returns := tallyWide(&b[0], rounds)
		t, b = tally{int64(lf), beyond != 0, zero != 0, returns != 0}, b[rounds*roundSize:]
	}
	for len(b) > 0 {
		block := b[:min(blockSize, len(b))]
		t.add(block)
		b = b[len(block):]
	}
	return t
}

// add scans b, in one pass for each field.
func (t *tally) add(b []byte) {
	t.lf += int64(bytes.Count(b, []byte{'\n'}))
	t.beyond = t.beyond || !encoding.IsASCII(b)
	t.nul = t.nul || bytes.IndexByte(b, 0) >= 0
	t.returns = t.returns || bytes.IndexByte(b, '\r') >= 0
}
