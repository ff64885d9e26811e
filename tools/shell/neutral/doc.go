// Package neutral makes git run no program that configuration names.
//
// Almost every command of git may run one: core.fsmonitor, an external diff, textconv, a clean filter, the program that checks
// signatures. Which ones do, the configuration of the repository says that git finds where it runs, and a repository may be
// made of the ordinary files of a clone or an archive. [Look] finds the configuration that git would read, of all levels, with what it
// includes and that of submodules, and returns settings that git gets in its environment and that count more than any file: fixed ones,
// and one for each driver and filter that configuration names. Where that is not enough it says why.
//
//	found := neutral.Look(neutral.Place{Dir: "/w/sub", Verb: "diff"}, host)
//	if found.Obstacle == "" {
//		env = append(env, neutral.Environ(found.Settings)...)
//	}
//
// Configuration that changes between Look and the run of git is not held by this: a sandbox that lets git write nothing and
// reach nobody is.
//
// The names of keys were gathered from git's own list (git help -c) and its source, for 2.20 to 2.52. Bare repositories that git would find by
// itself are an obstacle: their configuration is an ordinary file of the work tree.
package neutral
