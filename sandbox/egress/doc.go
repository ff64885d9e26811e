// Package egress decides which hosts a confined command may reach, and makes the connections it permits.
//
// A [Checker] holds the grants of one command. Its law is applied in this order, and there is no other way to a
// connection than [Checker.Dial], which applies all of it:
//
//  1. The host is read by a strict grammar ([ParseHost]): one spelling a name, no numeric oddities.
//  2. A grant must permit the host and the port. The network is not used before that, so that a name that
//     is not permitted does not even reach a name server.
//  3. The name is resolved, once.
//  4. Each address is judged: loopback, private, link-local, metadata and other special addresses, and those of the
//     networks of this machine, are dropped unless a grant names that very address. A grant that names the very host also
//     permits the special-purpose addresses to which it leads (those of VPN clients and closed networks), and, unless it is
//     [Grant.Publicly], the private ones and those of this machine's neighbours. No name leads to this machine itself.
//  5. A permitted address is dialled, never the name again.
//
// # Grants
//
//	grant    = pattern [ ":" port ]
//	pattern  = name | "*." name | IPv4 | "[" IPv6 "]" | "*"
//
//	github.com           this name, ports 80 and 443
//	github.com:22        this name, this port
//	*.github.com         names below github.com at any depth, not github.com itself; ports 80 and 443
//	127.0.0.1:5432       this address of the machine; so too for private and other special addresses
//	[::1]:8080           the same in IPv6
//	*                    any public host, ports 80 and 443
//
// A wildcard stands for whole labels at the front and needs two labels behind it. A wildcard never opens a special
// address, and no name opens one of this machine, of a link or of a cloud's metadata. "localhost" is no
// grant: inside a sandbox it is the sandbox's own loopback, so the machine's is named by its address.
//
// # Limits
//
// The data of a permitted connection is not judged: a permitted host that publishes for others (a package
// registry, a paste service) can carry data out. A permitted wildcard lets names below it carry data to the name
// server of that domain. Public addresses that lead back to this machine's network without being on one of its
// interfaces (behind a translating router), and translation prefixes of one network's own (RFC 6052, section 2.2),
// cannot be told from others.
package egress
