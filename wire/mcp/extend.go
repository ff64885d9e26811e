package mcp

import sdk "github.com/modelcontextprotocol/go-sdk/mcp"

// Extend gives f the SDK's server, to add what the host does not offer: resources of the embedding program, middleware.
// Middleware that is added later sees requests first. It must be called before the server serves.
func (s *Server) Extend(f func(*sdk.Server)) { f(s.sdk) }
