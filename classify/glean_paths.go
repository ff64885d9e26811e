package classify

// code is text for a shell that the strict analysis takes for a program of its own: eval 'cat f', bash <<< 'cat f'.
type code struct {
	text string
	at   place // of the command that runs it
}

const maxCodes = 16
