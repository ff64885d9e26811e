// Package sandbox runs a command so that the kernel holds what was decided of it.
//
// A [Session] belongs to one host process and its workspace. Each command of it is started by [Session.Start] under a
// [Profile]: what it may write, whom it may reach. Everything else of the machine is there to be read, except secrets
// and what belongs to toolhost. Nothing is created outside the session's own directory for the sake of a sandbox, and
// nothing is left of one, however the host ends.
//
// A command that is to run as the person does is started by the same Session, as [Unconfined]: nothing is kept from it, and
// nothing of it outlives the host either. A session of level [None] starts no other and leaves no trace.
//
// How much of this a machine can hold is its [Level]. See package [toolhost/sandbox/enter] for the inside.
package sandbox
