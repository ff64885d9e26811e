// Package agenttool holds the records of the Agent Tool standard, v0.2.0, and the two central interfaces of
// toolhost: [Tool] and [Call].
//
// The records are plain structs with the standard's spelling in JSON. A field that this version does not name is
// kept in Extra and written back, so that a record of a later minor version survives a round trip. Lists that the
// standard closes only in prose (statuses, scopes, sources) are typed strings with constants: this package writes
// the listed values and reads any.
//
// A call goes one way: [Tool.Bind] turns raw input into a [Call] with [Facts]; only a Call can run.
//
//	call, err := tool.Bind(scope, []byte(`{"path":"go.mod"}`))
//	if err != nil { … }            // an *Error of class invalid_arguments
//	facts := call.Facts()          // read_only: yes, reads: go.mod
//	out, err := call.Run(ctx, reporter)
//
// The package imports the standard library only and does no IO.
package agenttool
