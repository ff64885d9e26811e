// Package sandbox runs a command so that the kernel enforces the decision about it.
//
// A [Session] belongs to one host process and its workspace. Each command of it is started by [Session.Start] under a
// [Profile], which names the files that it may write and the hosts that it may reach. It can read the rest of the machine, except secrets
// and files of toolhost. Nothing is created outside the session's own directory for the sake of a sandbox, and
// nothing is left of one, however the host ends.
//
// A command that is to run as the person does is started by the same Session, as [Unconfined]: nothing is kept from it, and
// nothing of it outlives the host either. A session of level [None] starts no other and leaves no trace.
//
// How much of this a machine can hold is its [Level]. See package [toolhost/sandbox/enter] for the inside.
package sandbox
