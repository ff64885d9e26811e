// Package approve is a person's side of prompts: what running sessions ask, how it is shown as text, and what is answered.
// It does no IO. Sessions come in as events, answers go out through a [Answerer]; screen shows them on a whole terminal, plain
// line by line.
//
// All text that it makes for a person is safe to print: see package visible.
package approve
