package classify

import "toolhost/classify/program"

// settled returns the use of a program in a known directory: if the project has no file that could name other code, the program
// only reads.
func (sh lister) settled(argv []program.Word, u *program.Use) *program.Use {
	if sh.disk == nil || len(sh.scope.dirs) != 1 {
		return u
	}
	dir := sh.scope.dirs[0]
	if s, ok := program.SettledBy(argv); ok && sh.disk.Absent != nil && sh.disk.Absent(dir, s) {
		return &s.Use
	}
	return u
}
