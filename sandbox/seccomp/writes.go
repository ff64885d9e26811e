package seccomp

// Bits of the flags of open(2) that make it more than a read of something that exists.
const (
	openWriteOnly = 0o1
	openReadWrite = 0o2
	openTruncate  = 0o1000
	openAppend    = 0o2000
	openWrites    = openWriteOnly | openReadWrite | openCreate | openTruncate | openAppend
)

// writes hands to the supervisor what can make, change, move or remove a file by name. Reads stay as fast as they were.
func writes() []Rule {
	return append(
		always(Notify, `creat mkdir mkdirat rename renameat renameat2 link linkat symlink symlinkat
			unlink unlinkat rmdir mknod mknodat truncate`),
		Rule{"open", []Cond{anyOf(1, openWrites)}, Notify},
		Rule{"openat", []Cond{anyOf(2, openWrites)}, Notify})
}
