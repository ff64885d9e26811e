// Package prompt asks a person about a call, and brings the answer back.
//
// The broker holds the questions that wait. It knows a call only as [Call]. A question reaches those who attend the session by its
// event, the caller of the call by [Question.Asked], and others later, if prompts wait for them: [Broker.Reaches] knows all three.
//
//	detach := broker.Attend() // somebody is there
//	…
//	waiting, err := broker.Open(question) // by the call
//	answer, err := waiting.Answer(ctx)
//	waiting.Over()
//	…
//	decision, err := broker.Decide(prompt.Answer{…}) // by the person
package prompt
