package main

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"toolhost/sandbox"
	"toolhost/sandbox/egress"
)

// tryNetwork reaches for listeners of the host, of another namespace, and for the sandbox's own.
func tryNetwork(t *testing.T, r *escapeTools) {
	for _, who := range accounts(t) {
		for _, level := range anywhere {
			for _, profile := range []sandbox.Access{sandbox.Workspace, sandbox.ReadOnly} {
				t.Run(who.name+" "+string(level)+" "+string(profile), func(t *testing.T) {
					t.Parallel()
					reachHost(r.attempt(t, who, level), profile)
				})
			}
		}
		t.Run(who.name+" another namespace", func(t *testing.T) { t.Parallel(); reachNamespace(t, r, who) })
		t.Run(who.name+" its own loopback", func(t *testing.T) { t.Parallel(); ownLoopback(t, r, who) })
		t.Run(who.name+" the loopback of another session", func(t *testing.T) { t.Parallel(); otherLoopback(t, r, who) })
	}
}

// reachHost tries every way to a listener on the host's loopback. Each must fail at once.
func reachHost(a *escapeAttempt, profile sandbox.Access) {
	v := hostVisits(a)
	var script strings.Builder
	for _, host := range []string{"127.0.0.1", "::1"} {
		l, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
		if err != nil {
			a.t.Log(err)
			continue
		}
		v.listen(a, l)
		u, err := net.ListenPacket("udp", net.JoinHostPort(host, "0"))
		if err != nil {
			a.t.Fatal(err)
		}
		v.receive(a, u)
		for _, kind := range strings.Fields("tcp mptcp fastopen sctp dccp") {
			fmt.Fprintf(&script, "$P reach %s %s %d\n", kind, host, l.Addr().(*net.TCPAddr).Port)
		}
		for _, kind := range strings.Fields("udp raw") {
			fmt.Fprintf(&script, "$P reach %s %s %d\n", kind, host, u.LocalAddr().(*net.UDPAddr).Port)
		}
		if host == "127.0.0.1" {
			fmt.Fprintf(&script,
				"$P reach tcp 0.0.0.0 %[1]d; $P reach tcp ::ffff:127.0.0.1 %[1]d; (echo x >/dev/tcp/localhost/%[1]d)\n",
				l.Addr().(*net.TCPAddr).Port)
		}
	}
	for _, elsewhere := range []string{"192.0.2.1 80", "169.254.169.254 80", "10.255.255.1 22", "2001:db8::1 443",
		"fd00:ec2::254 80"} {
		fmt.Fprintf(&script, "$P reach tcp %[1]s; $P reach udp %[1]s\n", elsewhere)
	}
	if a.level != sandbox.Full {
		script.Reset() // addresses outside are for a namespace that has none
		fmt.Fprint(&script, "true\n")
		a.t.Log("only sockets are tried: the machine's network is shared")
		fmt.Fprint(&script,
			"for k in tcp mptcp fastopen sctp dccp udp raw; do $P reach $k 127.0.0.1 9; $P reach $k ::1 9; done | grep -v 'no socket' | sed 's/^/ESCAPED /'\n")
	} else {
		fmt.Fprint(&script, "tail -n +3 /proc/net/dev | grep -v '^ *lo:' | sed 's/^/ESCAPED /'\n")
	}
	start := time.Now()
	said, _ := a.said(a.boxed(profile, script.String()))
	within(a.t, "to be refused", time.Since(start), 30*time.Second, 2*time.Minute) // who waits for an answer waits for longer
	if got := v.list(); got != "" || strings.Contains(said, "ESCAPED") || strings.Contains(said,
		"timed out") || strings.Contains(said, "in progress") {
		a.t.Errorf("reached %q\n%s", got, said)
	}
}

// reachNamespace reaches for an address that only a network namespace of the test has.
func reachNamespace(t *testing.T, r *escapeTools, who account) {
	if _, err := exec.LookPath("ip"); err != nil {
		t.Skip("ip is not installed")
	}
	a := r.attempt(t, who, sandbox.Full)
	a.outerState()
	outer := func(inner, wait string) string {
		return `unshare -Urn bash -c '
			ip link set lo up; ip addr add 192.0.2.7/32 dev lo; ip -6 addr add 2001:db8::7/128 dev lo nodad
			'"$P"' serve 192.0.2.7 7007 '"$OUT"'/four >'"$OUT"'/l4 & '"$P"' serve 2001:db8::7 7007 '"$OUT"'/six >'"$OUT"'/l6 &
			` + listening(`'"$OUT"'/l4`, `'"$OUT"'/l6`) + inner + ` bash -c "'"$P"' reach tcp 192.0.2.7 7007; '"$P"' reach tcp 2001:db8::7 7007; '"$P"' reach mptcp 192.0.2.7 7007; '"$P"' reach fastopen 192.0.2.7 7007"
			` + wait + `; kill $(jobs -p); true'`
	}
	said := a.host(outer(a.toolhost+" sandbox --level full --workspace "+a.ws+" --", "sleep .2"))
	if a.read("outside/four")+a.read("outside/six") != "" || exists(a, "outside/four") || exists(a,
		"outside/six") || !strings.Contains(said, "tcp: ") {
		t.Errorf("reached:\n%s", said)
	}
	// Who was reached makes its file a moment later.
	if said := a.host(outer("", `for i in {1..6000}; do [ -e '"$OUT"'/four ] && break; sleep .01; done`)); !exists(a, "outside/four") {
		t.Errorf("not reached without a sandbox:\n%s", said)
	}
}

func exists(a *escapeAttempt, name string) bool {
	_, err := os.Lstat(a.path(name))
	return err == nil
}

// listening is a script that waits until each server has said, in its file, that it listens, or that it cannot.
func listening(files ...string) string {
	var script strings.Builder
	for _, file := range files {
		fmt.Fprintf(&script, "until grep -qs serv %s; do sleep .01; done; ", file)
	}
	return script.String()
}

// ownLoopback: what listens inside is reached inside, and from nowhere else.
func ownLoopback(t *testing.T, r *escapeTools, who account) {
	a := r.attempt(t, who, sandbox.Full)
	const port = "18471" // of no connection of the machine: those have others
	cmd := a.boxed(sandbox.Workspace, `$P serve 0.0.0.0 `+port+` got >l4 & $P serve ::1 `+port+` got6 >l6 &
			`+listening("l4", "l6")+`echo up > up
			while [ ! -e tried ]; do sleep .05; done
		$P reach tcp 127.0.0.1 `+port+`; $P reach tcp ::1 `+port+`; wait`)
	done := make(chan string, 1)
	go func() { said, _ := a.said(cmd); done <- said }()
	waitFor(t, func() bool { return exists(a, "ws/up") })
	for _, host := range addresses(t) {
		if c, err := net.DialTimeout("tcp", net.JoinHostPort(host, port), time.Second); err == nil {
			c.Close()
			t.Errorf("reached from the host at %s", host)
		}
	}
	a.write("ws/tried", "")
	if said := <-done; !exists(a, "ws/got") || !exists(a, "ws/got6") {
		t.Errorf("not reached inside:\n%s", said)
	}
}

// addresses are those of the machine.
func addresses(t *testing.T) []string {
	all, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	found := []string{"127.0.0.1", "::1"}
	for _, addr := range all {
		if n, ok := addr.(*net.IPNet); ok && n.IP.To4() != nil {
			found = append(found, n.IP.String())
		}
	}
	return found
}

// otherLoopback: neither another session nor a command that only reads reaches a server.
func otherLoopback(t *testing.T, r *escapeTools, who account) {
	a := r.attempt(t, who, sandbox.Full)
	cmd := a.boxed(sandbox.Workspace, `$P serve 127.0.0.1 38472 got >l4 & $P local stream @toolhost-escape
			`+listening("l4")+`echo up > up
			while [ ! -e tried ]; do sleep .05; done; kill %1; true`)
	done := make(chan string, 1)
	go func() { said, _ := a.said(cmd); done <- said }()
	waitFor(t, func() bool { return exists(a, "ws/up") })
	for _, profile := range []sandbox.Access{sandbox.Workspace, sandbox.ReadOnly} {
		a.said(a.boxed(profile, `$P reach tcp 127.0.0.1 38472`))
	}
	a.write("ws/tried", "")
	if said := <-done; exists(a, "ws/got") {
		t.Errorf("reached by another session:\n%s", said)
	}
}

// waitFor waits until something is so.
func waitFor(t testing.TB, so func() bool) {
	t.Helper()
	if !comesAbout(patience, so) {
		t.Fatal("it did not come about")
	}
}

// tryProxy asks the proxy of a sandbox for what was not granted, and its checker for names that lead to places nobody
// grants.
func tryProxy(t *testing.T, r *escapeTools) {
	for _, who := range accounts(t) {
		t.Run(who.name, func(t *testing.T) { t.Parallel(); askProxy(t, r, who) })
	}
	t.Run("checker", checkNames)
}

// ask sends the proxy a request by hand: bash has sockets.
const ask = `proxy=${http_proxy##*@}; auth=$(printf %s ${http_proxy#http://} | cut -d@ -f1 | tr -d '\n' | base64 -w0)
ask() { exec 9<>/dev/tcp/${proxy%:*}/${proxy#*:} || return
			printf "$1 HTTP/1.1\r\nHost: $2\r\nProxy-Authorization: Basic $auth\r\nConnection: close\r\n\r\nESCAPE" >&9
			timeout 50 head -n1 <&9; exec 9>&-; }
`

func askProxy(t *testing.T, r *escapeTools, who account) {
	a := r.attempt(t, who, sandbox.Full)
	v := hostVisits(a)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	v.listen(a, l)
	port := l.Addr().(*net.TCPAddr).Port
	script := ask + fmt.Sprintf(`for h in 127.0.0.1:%[1]d localhost:%[1]d [::1]:%[1]d 0.0.0.0:%[1]d \
		[::ffff:127.0.0.1]:%[1]d 2130706433:%[1]d 0x7f.1:%[1]d 127.1:%[1]d localhost.:%[1]d \
		example.invalid@127.0.0.1:%[1]d 169.254.169.254:80 metadata.google.internal:80 10.0.0.1:22 192.0.2.1:443 \
		allowed.invalid:25 allowed.invalid:22
		do ask "CONNECT $h" $h; ask "CONNECT $h" allowed.invalid:443; ask "GET http://$h/" allowed.invalid
			ask "GET http://allowed.invalid/" $h; done
		true`, port)
	for _, flags := range [][]string{nil, {"--allow-host", "allowed.invalid:443"}, {"--allow-host", "*.allowed.invalid"}} {
		said, _ := a.said(a.boxed(sandbox.Workspace, script, flags...))
		if got := v.list(); got != "" || strings.Contains(said, " 200 ") || !strings.Contains(said, "HTTP/1.1 ") {
			t.Fatalf("%v: reached %q\n%s", flags, got, said)
		}
	}
	// A host that is granted is reached, and whatever is sent there: the sandbox does not judge it.
	said, _ := a.said(a.boxed(sandbox.Workspace, ask+fmt.Sprintf(`ask "CONNECT 127.0.0.1:%[1]d" 127.0.0.1:%[1]d`,
		port), "--allow-host", fmt.Sprintf("127.0.0.1:%d", port)))
	v.expected = true
	if v.list() == "" {
		t.Errorf("a granted address is not reached:\n%s", said)
	}
}

// leads is a resolver by which every name leads somewhere, and a dialer that must not be asked.
type leads struct {
	t     *testing.T
	to    []netip.Addr
	dials []string
}

func (l *leads) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) { return l.to, nil }

func (l *leads) DialContext(_ context.Context, _, address string) (net.Conn, error) {
	l.dials = append(l.dials, address)
	return nil, net.ErrClosed
}

func checkNames(t *testing.T) {
	grant, err := egress.ParseGrant("permitted.example")
	if err != nil {
		t.Fatal(err)
	}
	private := []string{"10.1.2.3", "172.16.0.1", "192.168.1.1", "100.64.0.1", "fc00::1"} // where a rule that names a host may lead
	for _, to := range append(private,
		"169.254.169.254", "fd00:ec2::254", "127.0.0.1", "::1", "::ffff:169.254.169.254", "64:ff9b::a9fe:a9fe",
		"fe80::1", "0.0.0.0", "::", "224.0.0.251", "255.255.255.255", "100.100.100.200", "2002:7f00:1::", "64:ff9b:1::7f00:1",
	) {
		for _, g := range []egress.Grant{grant.Publicly(), grant} {
			if g == grant && slices.Contains(private, to) {
				continue
			}
			l := &leads{t: t, to: []netip.Addr{netip.MustParseAddr(to)}}
			conn, verdict := egress.New([]egress.Grant{g}, egress.Options{Resolver: l, Dialer: l}).Dial(t.Context(), "permitted.example", 443)
			if conn != nil || len(l.dials) > 0 || verdict.Outcome != egress.Denied {
				t.Errorf("%s: dialed %v, %v", to, l.dials, verdict)
			}
		}
	}
	for _, name := range []string{"permitted.example.evil.example", "evilpermitted.example",
		"permitted.example\x00.evil", "user@permitted.example", "169.254.169.254", "other.example"} {
		l := &leads{t: t, to: []netip.Addr{netip.MustParseAddr("93.184.216.34")}}
		if conn, _ := egress.New([]egress.Grant{grant}, egress.Options{Resolver: l, Dialer: l}).Dial(t.Context(),
			name, 443); conn != nil || len(l.dials) > 0 {
			t.Errorf("%q: dialed %v", name, l.dials)
		}
	}
}
