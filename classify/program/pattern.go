package program

// finder is the state of one judgement.
type finder struct {
	words  []Word
	next   int
	starts []Word
	use    *Use
	name   string // pattern of every name that can reach this place, as Word.Pattern is; "" is anything
}
