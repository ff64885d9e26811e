// Package mcp serves the Model Context Protocol with the official SDK: the handshake of the revisions up to 2025-11-25
// and the stateless requests of 2026-07-28, over lines ([Server.Stream]) and over HTTP ([Server.Handler]).
//
// The SDK speaks the protocol; this package translates between it and the host, and decides nothing. A tools/call is
// one call of the host, with the same records as any other. A call outlives the request that began it while a
// stateless client answers a request for approval.
//
//	s := mcp.New(mcp.Options{Host: h, Session: id, Version: version})
//	stream := s.Stream(mcp.StreamOptions{Write: write}) // for a pair of pipes
//	http.Handle("/mcp", s.Handler())
package mcp
