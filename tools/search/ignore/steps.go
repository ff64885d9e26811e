package ignore

// steps is the remaining effort for one name, however large the ignore files are: 3 to 8 ns each on a usual machine.
type steps int

// maxSteps is far more than realistic rules need for a name: it allows 5,000 patterns that all have to be tried, or
// 2,000 nested directories that all have rules. All steps together take about a millisecond.
const maxSteps steps = 1 << 17

// Costs in steps, in addition to one step for a rule that cannot match, and one for an element of a pattern at a
// position of a name.
const (
	setCost  = 16  // to look a name and a path up in the tables of one file
	dotCost  = 12  // to look one ending up
	tryCost  = 12  // to begin to try a rule
	longCost = 8   // bytes of a text that cost one more step when a rule is tried on it
	deepCost = 128 // bytes of a path that cost one more step when it is looked up
)

// take spends n steps and reports whether there were as many.
func (left *steps) take(n int) bool {
	*left -= steps(n)
	return *left >= 0
}
