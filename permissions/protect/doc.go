// Package protect knows the names that other programs run or obey: hooks and configuration of version control, start-up
// files of shells, configuration of editors and tools that runs code, toolhost's own settings; and those that hold
// secrets. A file of such a name, written by a command today, runs code tomorrow, outside every sandbox and unasked.
//
// It answers four questions:
//
//   - [Map.Asks] and [Map.Opens]: does writing this path, or taking it away with all below it, need the user's approval? [Asks] is the part
//     that needs no Map: pure text, from the table alone.
//   - [Scan]: in these writable directories, what must be bound read-only, what must not be renamed, what must be
//     masked against reading? One bounded walk, through file descriptors, following no link; places that it could not cover
//     are reported in [Map.Partial], never dropped.
//   - [Map.Judge], [Map.Pinned], [Map.Secret]: may a command write this path, move this directory, read this file?
//     Pure text again, for names that do not exist yet, where there is nothing to bind.
//   - [Take] and [Snap.Changes]: how did the protected names change meanwhile? The tripwire behind the walls.
//
// A [Cache] keeps the Map of one session fresh. Rules and modes, the sandbox and its supervisor, file tools and the tripwire ask the same one:
// what one of them does not know, none knows.
//
// # What is sealed
//
// The table (table.go) gives for each name the programs that run it, and whether it is sealed, reported or only asks. Sealing
// names that ordinary checkouts and tools write (.github, pnpm-workspace.yaml) would stop honest work: their changes are
// reported to the user instead. On top of the table, every git directory that the walk finds (.git, bare repositories, worktrees, submodules, where .git files point) has its hooks,
// config, config.worktree and commondir sealed, and so have the files that configuration includes, the directories
// that core.hooksPath names, programs and scripts in the roots that other keys run, and what links among hooks lead to. What a start-up file of
// the home leads to by a link, reads or runs counts like that file. In a git directory the rest stays writable, or nothing could be committed; the attributes,
// excludes and grafts in its info are held by name, without a mount. objects/info/alternates only adds objects, and a command that
// can write objects can add them anyway.
//
// A repository that a call makes or moves is put aside until the user approves it (aside.go, quarantine.go). Below
// node_modules only git directories count.
//
// # What is not protected
//
// Source that a project's own build, tests and linters run: Makefile, package.json scripts, conftest.py, .eslintrc.js.
// Agents are asked to write it, and running it is judged as running code. Instructions for agents (CLAUDE.md, AGENTS.md)
// are text that runs nothing. Files that only choose a version (.nvmrc, .python-version) name no program.
//
// Names are compared without case, and without the differences that file systems without case ignore.
package protect
