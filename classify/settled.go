package classify

import "toolhost/classify/program"

// settled returns what a use of a program is by what the disk holds: where the project has no file that could name other code, it only reads.
func (w *walk) settled(argv []program.Word, u *program.Use) *program.Use {
	if w.disk == nil || len(w.scope.dirs) != 1 {
		return u
	}
	dir := w.scope.dirs[0]
	if s, ok := program.SettledBy(argv); ok && w.disk.Absent != nil && w.disk.Absent(dir, s) {
		return &s.Use
	}
	return u
}
