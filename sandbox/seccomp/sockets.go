package seccomp

import "slices"

// Families, types and protocols of socket(2).
const (
	familyUnix    = 1
	familyInet    = 2
	familyInet6   = 10
	familyNetlink = 16

	typeMask      = 0xf // the rest of the word are SOCK_NONBLOCK and SOCK_CLOEXEC
	typeStream    = 1
	typeDatagram  = 2
	typeRaw       = 3
	typeSeqPacket = 5
	typePacket    = 10

	protoDefault  = 0
	protoICMP     = 1
	protoTCP      = 6
	protoUDP      = 17
	protoICMPv6   = 58
	netlinkRoute  = 0
	netlinkDiag   = 4
	fastOpenFlags = 0x2000_0000 // MSG_FASTOPEN
)

// internet are the sockets of a command with a network namespace of its own: TCP, UDP and ping, netlink for the list of
// interfaces, and local ones. Raw sockets, MPTCP, SCTP and every other family are kernel code that no build needs.
func (o Options) internet() []Rule {
	rules := append(o.local(), interfaces()...)
	for _, family := range []uint32{familyInet, familyInet6} {
		rules = slices.Concat(rules,
			raw(family),
			transport(family, typeStream, protoDefault, protoTCP),
			transport(family, typeDatagram, protoDefault, protoUDP, protoICMP, protoICMPv6),
			[]Rule{{"socket", []Cond{is(0, family)}, EPROTONOSUPPORT}})
	}
	return append(rules, always(EAFNOSUPPORT, "socket socketpair")...)
}

// local are the rules for sockets with names in the file system, which neither namespaces nor read-only mounts close. A
// command may have stream sockets, which need connect(2), only if a supervisor does every connect; the others could send to any
// name given with the data. Pairs of stream sockets stay everywhere: they are connected for good.
//
// All connects are the supervisor's, of whatever family: neither the number of a descriptor nor the memory of an address
// says before the call what it will be in the call. The supervisor also does all binds, which give a socket a name, one of a pair included.
func (o Options) local() []Rule {
	var rules []Rule
	for _, kind := range []uint32{typeStream, typeSeqPacket} {
		rules = append(rules, Rule{"socketpair", []Cond{is(0, familyUnix), bitsAre(1, typeMask, kind)}, Allow})
		if o.Namespaces && o.Notify {
			rules = append(rules, Rule{"socket", []Cond{is(0, familyUnix), bitsAre(1, typeMask, kind)}, Allow})
		}
	}
	rules = append(rules,
		Rule{"socketpair", []Cond{is(0, familyUnix)}, EACCES},
		Rule{"socket", []Cond{is(0, familyUnix)}, EACCES})
	if o.Namespaces && o.Notify {
		rules = append(rules, Rule{"connect", nil, Notify})
	}
	if o.Notify {
		rules = append(rules, Rule{"bind", nil, Notify})
	}
	return rules
}

// hostNetwork are the sockets of a command that shares the machine's network. Landlock holds TCP connections only, so
// nothing but TCP is to be had, and none of its ways to connect without connect(2).
func (o Options) hostNetwork() []Rule {
	rules := append(o.local(), interfaces()...)
	for _, family := range []uint32{familyInet, familyInet6} {
		if o.Network == ProxyOnly {
			rules = append(rules, raw(family)...)
			rules = append(rules, transport(family, typeStream, protoDefault, protoTCP)...)
		}
		rules = append(rules, Rule{"socket", []Cond{is(0, family)}, EACCES})
	}
	return append(append(rules, fastOpen()...), always(EAFNOSUPPORT, "socket socketpair")...)
}

// interfaces lets a program list network interfaces, as getifaddrs does, and speak to no other part of the kernel.
func interfaces() []Rule {
	return []Rule{
		{"socket", []Cond{is(0, familyNetlink), is(2, netlinkRoute)}, Allow},
		{"socket", []Cond{is(0, familyNetlink)}, EPROTONOSUPPORT},
	}
}

// listing lets a program list sockets, as ss does, and have none of its own.
func (o Options) listing() []Rule {
	rules := append(o.local(), Rule{"socket", []Cond{is(0, familyNetlink), is(2, netlinkDiag)}, Allow})
	return slices.Concat(rules, interfaces(), always(EACCES, "socket socketpair"))
}

func raw(family uint32) []Rule {
	return []Rule{
		{"socket", []Cond{is(0, family), bitsAre(1, typeMask, typeRaw)}, EPERM},
		{"socket", []Cond{is(0, family), bitsAre(1, typeMask, typePacket)}, EPERM},
	}
}

// transport allows one type of socket with the protocols named.
func transport(family, kind uint32, protocols ...uint32) []Rule {
	var rules []Rule
	for _, protocol := range protocols {
		conds := []Cond{is(0, family), bitsAre(1, typeMask, kind), is(2, protocol)}
		rules = append(rules, Rule{"socket", conds, Allow})
	}
	return rules
}

// fastOpen: the first data of a TCP connection may open it, past Landlock's check of connect.
func fastOpen() []Rule {
	return []Rule{
		{"sendto", []Cond{anyOf(3, fastOpenFlags)}, EOPNOTSUPP},
		{"sendmsg", []Cond{anyOf(2, fastOpenFlags)}, EOPNOTSUPP},
		{"sendmmsg", []Cond{anyOf(3, fastOpenFlags)}, EOPNOTSUPP},
	}
}
