// Package neutral keeps git from running programs that its configuration names.
//
// Almost every git command may run one: core.fsmonitor, an external diff, textconv, a clean filter, a program that
// checks signatures. The repository's configuration decides this, and a repository may consist of ordinary files of a
// clone or an archive. [Look] reads the configuration of all levels that git would use, with includes and submodules.
// It returns settings to pass in git's environment, which override all files: fixed ones, and one for each driver and
// filter in the configuration. If these do not suffice, it returns the reason.
//
//	found := neutral.Look(neutral.Place{Dir: "/w/sub", Verb: "diff"}, host)
//	if found.Obstacle == "" {
//		env = append(env, neutral.Environ(found.Settings)...)
//	}
//
// Configuration that changes between Look and the run of git is not covered. The sandbox covers it: it lets git write
// nothing and connect to no host.
//
// The keys come from git's own list (git help -c) and its source, versions 2.20 to 2.52. Bare repositories that git
// would find by itself are an obstacle: their configuration is an ordinary file of the work tree.
package neutral
