// Package setup puts toolhost into the configuration of MCP clients, takes it out again, and starts it as they would.
//
// A [Plan] says what would change, [Plan.Write] does it and keeps a record, [Undo] goes back by that record, and [Verify] speaks with the
// server that a configuration names. The facts about clients are those of mcpconfig.
package setup
