// Package approve is a person's side of prompts: it queues the prompts of running sessions, describes them as text and
// makes answers. It does no IO: sessions come in as events, answers go out through an [Answerer].
//
// Package client connects to sessions and is the Answerer. Package screen shows prompts on a whole terminal, plain line by line, and
// terminal chooses between them: it is the command toolhost approve.
//
// All text that it makes for a person is safe to print: see package visible.
package approve
