// Package http serves clients over the network: it listens, checks requests, and hands them to the handlers that are
// mounted on it.
//
// Everything that reaches a mounted handler has passed, in this order:
//
//   - the Host header: a name or address of loopback, the address that was listened on, or one of Options.AllowedHosts.
//     A web page whose name was made to lead here (DNS rebinding) still sends its own name.
//   - the Origin header: none, our own, or one of Options.Origins; and Sec-Fetch-Site, which browsers set: no request of
//     another site.
//   - the token, as "Authorization: Bearer TOKEN". It is compared by its hash, in constant time, and handlers do not see
//     it. Other users of the machine reach loopback too: the token keeps them out.
//     A path that Options.Knows accepts holds a secret of its own, and needs no token.
//   - bounds on connections, and on the body, which is read before the handler begins. So no client holds up a handler by
//     sending slowly.
//   - bounds on calls at once, of one address: a call beyond them waits 30 s at most for its turn. Streams that stand have
//     places of their own and take none of a call.
//
// A refused request gets JSON, {"error":{"code":…,"message":…}}, with the remedy in the message: 400 bad_request, 401
// unauthorized, 403 forbidden_host or forbidden_origin, 404 not_found, 405 method_not_allowed, 408 body_timeout, 413
// body_too_large, 429 too_many_requests or too_many_streams, 503 too_many_connections or too_much_at_once. net/http
// answers or ends requests that break HTTP itself (a header above 16 KiB, none within 5 s). The server speaks HTTP/1.1
// only, so that a client never has more requests than connections.
//
// Two paths are served here:
//
//	GET /healthz   {"status":"ok"}, without a token
//	GET /events    the events of the session, as server-sent events
//
// The id of an event is its seq in the journal, its event field the type, its data the record in one line. The query
// level=results, progress or all (the default) selects events. With Last-Event-ID the stream starts after that seq, without
// gaps or duplicates; 0 is before the first; without it the stream begins now. A comment comes every 15 s. A client that
// reads too slowly gets the events queued for it, then a comment that says so, and no more: the journal has the rest.
//
//	s, err := http.Listen(http.Options{Token: token, Host: h, Mounts: map[string]nethttp.Handler{"/mcp": m}})
//	fmt.Println(s.URL())
//	err = s.Serve(ctx) // ends within 5 s after ctx, whatever clients do
package http
