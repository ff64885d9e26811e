package sandbox

import "slices"

// Promise is one thing that a sandbox holds, in words, with its levels and its tests. Doctor prints the table,
// and tests compare docs/sandbox.md and the attempts to escape with it: no more is promised than is shown.
type Promise struct {
	ID     string
	Words  string
	Levels []Level  // strongest first
	Shown  []string // attempts and parts of TestEscapes, and tests by their names
}

// Held reports whether a level holds the promise.
func (p Promise) Held(l Level) bool { return slices.Contains(p.Levels, l) }

// Promises returns the table.
func Promises() []Promise {
	full, watched, every := []Level{Full}, []Level{Full, LandlockNotify}, []Level{Full, LandlockNotify, Landlock}
	return []Promise{
		{"writes", "a command writes its profile's directories and nothing else", every,
			[]string{"write outside", "write through links", "rename in and out", "hard link of an outside file"}},
		{"attributes", "modes, owners and times of other files stay as they are", watched, []string{"attributes of an outside file"}},
		{"protected", "hooks, start-up files and settings that programs obey are neither changed nor made", watched,
			[]string{"files that are there", "names that are not there yet", "hooks"}},
		{"reported", "other names that programs obey, such as workflows, are reported to the person when they change", watched,
			[]string{"names that tools of today obey", "TestTripwireReachesThePerson"}},
		{"repositories", "in a repository that it makes git runs no program of it until the user allows that, at no moment", watched,
			[]string{"repositories that a call makes wait", "repositories that are copied or fetched wait", "TestNothingArms", "TestNothingArmsMeanwhile"}},
		{"home", "of home directories it reads tool chains, listed configuration and what was granted", every,
			[]string{"credentials of today's programs", "homes of others and the machine's own", "TestHomeIsClosed"}},
		{"home-names", "other names in home directories do not show", full, []string{"TestHomeIsClosed"}},
		{"readers", "a command that only reads gets at the workspace, the system, tool chains and what its decision named", every, []string{"TestReadersSeeTheSystem"}},
		{"machine", "secrets of the machine, such as /etc/shadow, are not read", every, []string{"homes of others and the machine's own"}},
		{"secrets", "secrets in the workspace, such as .env, keys and tokens, are not read", full, []string{"environment files", "environment files under other names"}},
		{"cover", "what was covered stays covered, but for a moment when you replace it, and a call asks where the cover is not complete", full,
			[]string{"TestDecoys", "TestSecretIsCoveredAgain"}},
		{"network", "it reaches no network, but for the session's loopback and granted hosts at level full", every, []string{"network", "families of sockets"}},
		{"hosts", "granted hosts are reached by name, through a proxy that checks names and addresses", full, []string{"proxy"}},
		{"sockets", "local sockets of other programs are not used", every, []string{"local sockets", "abstract sockets and displays"}},
		{"signals", "processes outside of the session get no signal", every, []string{"processes"}},
		{"apart", "commands do not reach into each other's memory, descriptors and limits, and no signal reaches what holds them", full,
			[]string{"TestWorldHasWalls", "TestKillAll"}},
		{"processes", "processes, memory and temporary files outside of the session do not show", full, []string{"processes", "temporary files of others"}},
		{"privileges", "it has no privilege and gets none", every, []string{"privileged calls", "namespaces", "mounts"}},
		{"environment", "keys in toolhost's environment do not reach it", every, []string{"the environment of toolhost"}},
		{"bounds", "processes, memory and scratch are bounded, and it cannot hold up others by a lease on a file", every, []string{"TestBounds", "TestRunaway", "a lease", "bounds"}},
		{"ioctls", "no ioctl makes names, changes files or types: those that programs use are listed, and no other passes", every, []string{"volumes", "terminal"}},
		{"locks", "it locks no file that it only reads", watched, []string{"TestLocksOutsideArePrivate"}},
		{"reserve", "whatever commands use up, toolhost has threads, descriptors and processes left", watched, []string{"setup", "TestWaitsTakeNoThreads"}},
		{"end", "all that it started ends with the session", every, []string{"processes", "TestKill", "TestBombsEnd"}},
		{"ghosts", "nothing is made on the disk for the sandbox's sake, and nothing is left", full, []string{"ghosts"}},
	}
}
