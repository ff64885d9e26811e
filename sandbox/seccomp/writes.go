package seccomp

// Bits of the flags of open(2) that make it more than a read of something that exists.
const (
	openWriteOnly = 0o1
	openReadWrite = 0o2
	openTruncate  = 0o1000
	openAppend    = 0o2000
	openPlace     = 0o10000000 // O_PATH: nothing is opened but a place, whatever else the flags say
	openWrites    = openWriteOnly | openReadWrite | openCreate | openTruncate | openAppend
)

// writes hands to the supervisor what can make, change, move or remove a file by name. Reads stay as fast as they were.
func writes() []Rule {
	return append([]Rule{
		{"open", []Cond{bitsAre(1, openPlace, openPlace)}, Allow},
		{"openat", []Cond{bitsAre(2, openPlace, openPlace)}, Allow},
		{"open", []Cond{anyOf(1, openWrites)}, Notify},
		{"openat", []Cond{anyOf(2, openWrites)}, Notify},
	},
		always(Notify, `creat mkdir mkdirat rename renameat renameat2 link linkat symlink symlinkat
			unlink unlinkat rmdir mknod mknodat truncate`)...)
}
