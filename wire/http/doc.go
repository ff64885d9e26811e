// Package http is the front door for clients that come over the network of this machine: it listens, lets in who may come,
// and hands their requests to the handlers that are mounted on it.
//
// Everything that reaches a mounted handler has passed, in this order:
//
//   - the Host header: a name or address of loopback, the address that was listened on, or one of Options.AllowedHosts.
//     A web page whose name was made to lead here (DNS rebinding) still sends its own name.
//   - the Origin header: none, our own, or one of Options.Origins; and no word of a browser that another site asks
//     (Sec-Fetch-Site).
//   - the token, as "Authorization: Bearer TOKEN". It is compared by its hash, in constant time, and handlers do not see
//     it. Other users of the machine reach loopback too: this is what keeps them out.
//     A path that Options.Knows knows holds a secret of its own, and needs no other.
//   - bounds on connections, on requests at once, and on the body, which is read before the handler begins. So no client
//     holds up a handler by sending slowly.
//
// Who does not pass here gets JSON, {"error":{"code":…,"message":…}}, with a message that says what to do: 400 bad_request,
// 401 unauthorized, 403 forbidden_host or forbidden_origin, 404 not_found, 405 method_not_allowed, 408 body_timeout, 413
// body_too_large, 429 too_many_requests or too_many_streams, 503 too_many_connections or too_much_at_once. What breaks
// HTTP itself (a header above 16 KiB, none within 5 s) is answered, or ended, by net/http. HTTP/1.1 is all that is
// spoken, so that a client never has more requests than connections.
//
// Two paths are served here:
//
//	GET /healthz   {"status":"ok"}, without a token
//	GET /events    what happens in the session, as server-sent events
//
// The id of an event is its seq in the journal, its event field the type, its data the record in one line. The query
// level=results, progress or all (the default) says which are told. Last-Event-ID goes on behind that seq, with no gap and
// none twice; 0 is before the first; without it the stream begins now. A comment comes every 15 s. Who reads too slowly
// is sent what was kept for them, then a comment that says so, and nothing more: the journal has the rest.
//
//	s, err := http.Listen(http.Options{Token: token, Host: h, Mounts: map[string]nethttp.Handler{"/mcp": m}})
//	fmt.Println(s.URL())
//	err = s.Serve(ctx) // ends within 5 s after ctx, whatever clients do
package http
