package ignore

// steps are what may still be spent on one name, whatever ignore files hold: 3 to 8 ns each on a usual machine.
type steps int

// maxSteps is far more than any name takes with rules that somebody wrote for use: 5,000 patterns that all have to be
// tried, or 2,000 directories inside one another that all have rules. All of them take about a millisecond.
const maxSteps steps = 1 << 17

// What is spent besides one step for a rule that cannot match, and one for an element of a pattern and a place in a
// name.
const (
	setCost  = 16  // to look a name and a path up in the tables of one file
	dotCost  = 12  // to look one ending up
	tryCost  = 12  // to begin to try a rule
	longCost = 8   // so many bytes of a text that a rule is tried on cost a step more
	deepCost = 128 // so many bytes of a path that is looked up cost a step more
)

// take spends n steps and reports whether there were as many.
func (left *steps) take(n int) bool {
	*left -= steps(n)
	return *left >= 0
}
