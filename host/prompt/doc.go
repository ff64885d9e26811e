// Package prompt asks a user about a call, and returns the answer.
//
// The broker holds the questions that wait. It knows a call only as [Call]. A question reaches attached users by its
// event, the caller of the call by [Question.Asked], and other users later, if prompts wait for them: [Broker.Reaches] covers all three.
//
//	detach := broker.Attend() // a user is there
//	…
//	waiting, err := broker.Open(question) // by the call
//	answer, err := waiting.Answer(ctx)
//	waiting.Over()
//	…
//	decision, err := broker.Decide(prompt.Answer{…}) // by the user
package prompt
