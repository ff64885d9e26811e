// Package proxy is the way out of a sandbox: a proxy that the host serves, in its own process, on a listener that was
// made inside the sandbox's network namespace. Nothing else leads out of there.
//
// It speaks HTTP: CONNECT, and requests with an absolute URI. Both ask one [egress.Checker] and connect through it.
//
// A session has one listener, and policy is per command: [Proxy.Admit] makes a [Ticket] for the grants of one command,
// whose token is the password in that command's proxy URL. When the command is over the ticket is closed, and with it
// every connection that was made with it.
//
//	p := proxy.New(proxy.Options{Log: record})
//	go p.Serve(listener)
//	ticket := p.Admit("inv-7", grants)
//	cmd.Env = append(cmd.Env, proxy.Environ(ticket.URL(listener.Addr()), grants)...)
//	…
//	ticket.Close()
//
// # Strictness
//
// A client's connection carries one HTTP request, so that nothing of one request can be taken for another. A head is
// read whole, 16 KiB at most, and refused unless it can be understood in one way only: lines end in CR LF, one Host
// that agrees with the URI, one way to tell the body's length, no user information. Credentials for the proxy are
// not passed on.
//
// In a tunnel (CONNECT) the first bytes are checked: a TLS greeting is refused if it names another server than the
// request for the tunnel, or cannot be read.
//
// # Limits
//
// Past the greeting, a tunnel is opaque: a request inside that is meant for another site of the same provider is not
// seen, nor is a greeting encrypted for another (ECH), nor TLS that begins after plain text (STARTTLS), nor plain HTTP
// inside a tunnel. UDP, and so QUIC, has no way out. A proxy that the user's own network needs is not chained.
package proxy
