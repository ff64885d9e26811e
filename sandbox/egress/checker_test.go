package egress

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// fakeNet answers names from a table and connects to anything, keeping count.
type fakeNet struct {
	names  map[string][]string // by rooted name
	fails  map[string]bool     // addresses that do not answer
	asked  []string
	dialed []string
}

func (f *fakeNet) LookupNetIP(_ context.Context, network, host string) ([]netip.Addr, error) {
	f.asked = append(f.asked, network+" "+host)
	var addrs []netip.Addr
	for _, a := range f.names[host] {
		addrs = append(addrs, netip.MustParseAddr(a))
	}
	return addrs, nil
}

func (f *fakeNet) DialContext(ctx context.Context, _, address string) (net.Conn, error) {
	f.dialed = append(f.dialed, address)
	if f.fails[address] {
		return nil, errors.New("connection refused")
	}
	near, far := net.Pipe()
	far.Close()
	return near, nil
}

func (f *fakeNet) options() Options {
	return Options{Resolver: f, Dialer: f, Networks: func() ([]netip.Prefix, error) {
		return []netip.Prefix{
			netip.MustParsePrefix("5.6.7.9/24"), netip.MustParsePrefix("2a01:4f8:1:2::9/64"), netip.MustParsePrefix("10.9.0.9/16"), netip.MustParsePrefix("198.18.0.1/30"),
		}, nil
	}}
}

// grants reads grants; one that begins with "~" is for public addresses only.
func grants(t testing.TB, texts ...string) []Grant {
	t.Helper()
	var gs []Grant
	for _, text := range texts {
		g, err := ParseGrant(strings.TrimPrefix(text, "~"))
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(text, "~") {
			g = g.Publicly()
		}
		gs = append(gs, g)
	}
	return gs
}

// Check refuses before any resolving or dialling.
func TestCheck(t *testing.T) {
	for _, c := range []struct {
		name, grants, host string
		port               int
		reason             Reason
		rule, suggested    string
	}{
		{"exact", "github.com", "github.com", 443, Granted, "github.com", ""},
		{"plain web", "github.com", "github.com", 80, Granted, "github.com", ""},
		{"spelling", "github.com", "GITHUB.com.", 443, Granted, "github.com", ""},
		{"no grants", "", "github.com", 443, NoGrant, "", "host:github.com"},
		{"other host", "github.com", "evil.example", 443, NoGrant, "", "host:evil.example"},
		{"other host and port", "github.com", "evil.example", 8443, NoGrant, "", "host:evil.example:8443"},
		{"suffix is no label", "github.com", "evilgithub.com", 443, NoGrant, "", "host:evilgithub.com"},
		{"prefix", "github.com", "github.com.evil.example", 443, NoGrant, "", "host:github.com.evil.example"},
		{"below a name", "github.com", "api.github.com", 443, NoGrant, "", "host:api.github.com"},
		{"ssh", "github.com", "github.com", 22, PortNotGranted, "github.com", "host:github.com:22"},
		{"mail", "*", "mail.example", 25, PortNotGranted, "*", "host:mail.example:25"},
		{"ssh granted", "github.com github.com:22", "github.com", 22, Granted, "github.com:22", ""},
		{"port only", "github.com:22", "github.com", 443, PortNotGranted, "github.com:22", "host:github.com"},
		{"wildcard", "*.github.com", "api.github.com", 443, Granted, "*.github.com", ""},
		{"wildcard, deep", "*.github.com", "a.b.github.com", 443, Granted, "*.github.com", ""},
		{"wildcard, apex", "*.github.com", "github.com", 443, NoGrant, "", "host:github.com"},
		{"wildcard, no boundary", "*.github.com", "evilgithub.com", 443, NoGrant, "", "host:evilgithub.com"},
		{"any", "*", "anything.example", 443, Granted, "*", ""},
		{"any, address", "*", "93.184.216.34", 443, Granted, "*", ""},
		{"address without its grant", "github.com", "140.82.121.4", 443, NoGrant, "", "host:140.82.121.4"},
		{"private address", "github.com", "10.0.0.1", 443, NoGrant, "", "host:10.0.0.1:443"},
		{"IPv6 address", "github.com", "::1", 8080, NoGrant, "", "host:[::1]:8080"},
		{"metadata is not suggested", "github.com", "169.254.169.254", 80, NoGrant, "", ""},
		{"literal", "127.0.0.1:5432", "127.0.0.1", 5432, Granted, "127.0.0.1:5432", ""},
		{"literal, mapped", "127.0.0.1:5432", "::ffff:127.0.0.1", 5432, Granted, "127.0.0.1:5432", ""},
		{"literal, other port", "127.0.0.1:5432", "127.0.0.1", 5433, PortNotGranted, "127.0.0.1:5432", "host:127.0.0.1:5433"},
		{"localhost", "*", "localhost", 8080, Loopback, "", "host:127.0.0.1:8080"},
		{"localhost with its address", "127.0.0.1:8080", "LocalHost.", 8080, Loopback, "", "host:127.0.0.1:8080"},
		{"below localhost", "*", "app.localhost", 80, Loopback, "", "host:127.0.0.1:80"},
		{"NUL", "*", "github.com\x00evil", 443, BadHost, "", ""},
		{"odd address", "*", "0x7f.1", 443, BadHost, "", ""},
		{"no port", "*", "github.com", 0, BadHost, "", ""},
		{"large port", "*", "github.com", 65979, BadHost, "", ""}, // 443 modulo 65536
		{"unspecified", "github.com", "0.0.0.0", 80, NoGrant, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := &fakeNet{}
			v := New(grants(t, strings.Fields(c.grants)...), f.options()).Check(c.host, c.port)
			if (v.Outcome == Allowed) != (c.reason == Granted) || v.Reason != c.reason {
				t.Errorf("got %s, %s: %s; want %s", v.Outcome, v.Reason, v.Message, c.reason)
			}
			if v.Rule != c.rule || v.SuggestedGrant != c.suggested {
				t.Errorf("rule %q, suggested %q; want %q, %q", v.Rule, v.SuggestedGrant, c.rule, c.suggested)
			}
			if len(f.asked)+len(f.dialed) > 0 {
				t.Errorf("Check used the network: %v %v", f.asked, f.dialed)
			}
		})
	}
}

// The names of a hostile or careless zone, all permitted by their spelling.
func TestDialJudgesAddresses(t *testing.T) {
	for _, c := range []struct {
		name, grants, answers string
		dialed                string
		reason                Reason
		rule, suggested       string
	}{
		{"public", "a.example", "93.184.216.34", "93.184.216.34:443", Granted, "a.example", ""},
		{"IPv6", "a.example", "2606:4700::1", "[2606:4700::1]:443", Granted, "a.example", ""},
		{"mapped public", "a.example", "::ffff:93.184.216.34", "93.184.216.34:443", Granted, "a.example", ""},
		{"metadata", "a.example", "169.254.169.254", "", AddressRefused, "cloud metadata", ""},
		{"metadata, IPv6", "a.example", "fd00:ec2::254", "", AddressRefused, "cloud metadata", ""},
		{"metadata, NAT64", "a.example", "64:ff9b::a9fe:a9fe", "", AddressRefused, "cloud metadata", ""},
		{"loopback", "a.example", "127.0.0.1", "", AddressRefused, "loopback", "host:127.0.0.1:443"},
		{"mapped loopback", "*", "::ffff:127.0.0.1", "", AddressRefused, "loopback", "host:127.0.0.1:443"},
		{"private", "*", "10.0.0.7", "", AddressRefused, "private", "host:10.0.0.7:443"},
		{"own network", "*", "5.6.7.8", "", AddressRefused, string(ownNetwork), "host:5.6.7.8"},
		{"own network, NAT64", "*", "64:ff9b::506:708", "", AddressRefused, string(ownNetwork), "host:[64:ff9b::506:708]"},
		{"own network, IPv6", "*", "2a01:4f8:1:2::7", "", AddressRefused, string(ownNetwork), "host:[2a01:4f8:1:2::7]"},
		{"mixed", "a.example", "10.0.0.7 127.0.0.1 93.184.216.34", "93.184.216.34:443", Granted, "a.example", ""},
		{"named", "a.example 10.0.0.7", "10.0.0.7 10.0.0.8", "10.0.0.7:443", Granted, "a.example", ""},
		{"named at another port", "~a.example 10.0.0.7:22", "10.0.0.7", "", AddressRefused, "private", "host:10.0.0.7:443"},
		{"a company's", "a.example", "10.0.0.7", "10.0.0.7:443", Granted, "a.example", ""},
		{"a neighbour's", "a.example", "5.6.7.8", "5.6.7.8:443", Granted, "a.example", ""},
		{"a company's, IPv6", "a.example", "fd12::1", "[fd12::1]:443", Granted, "a.example", ""},
		{"a company's, at another port", "a.example:8443 *", "10.0.0.7", "", AddressRefused, "private", "host:10.0.0.7:443"},
		{"this machine's own", "a.example", "5.6.7.9", "", AddressRefused, string(ownAddress), "host:5.6.7.9"},
		{"this machine's own in a private network", "a.example", "10.9.0.9 64:ff9b::a09:9", "", AddressRefused, string(ownAddress), "host:10.9.0.9:443"},
		{"this machine's own, named", "10.9.0.9 a.example", "10.9.0.9", "10.9.0.9:443", Granted, "a.example", ""},
		{"a VPN client's for the name", "a.example", "198.18.0.5", "198.18.0.5:443", Granted, "a.example", ""},
		{"a VPN client's, after a yes to a command", "~a.example", "198.18.0.5", "198.18.0.5:443", Granted, "a.example", ""},
		{"a VPN client's own", "a.example", "198.18.0.1", "", AddressRefused, string(ownAddress), "host:198.18.0.1:443"},
		{"a VPN client's, at another port", "a.example:8443 *", "198.18.0.5", "", AddressRefused, "special-purpose", "host:198.18.0.5:443"},
		{"a VPN client's, by a wildcard", "*", "198.18.0.5", "", AddressRefused, "special-purpose", "host:198.18.0.5:443"},
		{"a closed network's", "a.example", "192.0.2.7 203.0.113.7 240.0.0.7", "192.0.2.7:443", Granted, "a.example", ""},
		{"a closed network's, IPv6", "a.example", "2001:db8::7", "[2001:db8::7]:443", Granted, "a.example", ""},
		{"a carrier's", "a.example", "100.64.0.7", "100.64.0.7:443", Granted, "a.example", ""},
		{"a veiled address", "a.example", "2001:0:1::1 64:ff9b:1::7f00:1 ::127.0.0.1", "", AddressRefused, string(veiled), "host:[2001:0:1::1]:443"},
		{"of a link", "a.example", "169.254.7.7", "", AddressRefused, "link-local", "host:169.254.7.7:443"},
		{"below it", "*.example.com a.example:22 *", "10.0.0.7", "", AddressRefused, "private", "host:10.0.0.7:443"},
		{"no address", "a.example", "", "", Unresolved, "a.example", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := &fakeNet{names: map[string][]string{"a.example.": strings.Fields(c.answers)}}
			conn, v := New(grants(t, strings.Fields(c.grants)...), f.options()).Dial(t.Context(), "A.example", 443)
			if got := strings.Join(f.dialed, " "); got != c.dialed || (conn != nil) != (c.dialed != "") {
				t.Errorf("dialled %q, want %q", got, c.dialed)
			}
			if v.Reason != c.reason || v.Rule != c.rule || v.SuggestedGrant != c.suggested {
				t.Errorf("got %+v", v)
			}
			if want := []string{"ip a.example."}; !slices.Equal(f.asked, want) {
				t.Errorf("asked %q, want %q", f.asked, want)
			}
		})
	}
}

// rebinder gives a public address first and the machine's own afterwards.
type rebinder struct{ fakeNet }

func (r *rebinder) LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error) {
	r.names = map[string][]string{host: {"93.184.216.34"}}
	if len(r.asked) > 0 {
		r.names[host] = []string{"127.0.0.1"}
	}
	return r.fakeNet.LookupNetIP(ctx, network, host)
}

func TestDialResolvesOnce(t *testing.T) {
	r := &rebinder{}
	o := r.options()
	o.Resolver = r
	c := New(grants(t, "a.example"), o)
	if _, v := c.Dial(t.Context(), "a.example", 443); v.Outcome != Allowed {
		t.Fatal(v.Message)
	}
	if len(r.asked) != 1 || !slices.Equal(r.dialed, []string{"93.184.216.34:443"}) {
		t.Errorf("asked %q, dialled %q", r.asked, r.dialed)
	}
	if _, v := c.Dial(t.Context(), "a.example", 443); v.Reason != AddressRefused || len(r.dialed) != 1 {
		t.Errorf("after rebinding: %s, dialled %q", v.Message, r.dialed)
	}
}

func TestDialTriesTheNextAddress(t *testing.T) {
	f := &fakeNet{
		names: map[string][]string{"a.example.": {"2606:4700::1", "93.184.216.34"}},
		fails: map[string]bool{"[2606:4700::1]:443": true},
	}
	conn, v := New(grants(t, "a.example"), f.options()).Dial(t.Context(), "a.example", 443)
	if conn == nil || v.Outcome != Allowed || len(f.dialed) != 2 {
		t.Errorf("%+v, dialled %q", v, f.dialed)
	}
	f.fails["93.184.216.34:443"] = true
	if conn, v = New(grants(t, "a.example"), f.options()).Dial(t.Context(), "a.example", 443); conn != nil || v.Outcome != Failed {
		t.Errorf("all refused: %+v", v)
	}
}

// silent never answers.
type silent struct{ fakeNet }

func (*silent) DialContext(ctx context.Context, _, _ string) (net.Conn, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func TestDialEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &silent{fakeNet{names: map[string][]string{"a.example.": {"1.1.1.1", "2.2.2.2"}}}}
		o := s.options()
		o.Dialer = s
		c, start := New(grants(t, "a.example"), o), time.Now()
		if _, v := c.Dial(t.Context(), "a.example", 443); v.Outcome != Failed || v.Reason != Unreachable {
			t.Errorf("%+v", v)
		}
		if took := time.Since(start); took != 20*time.Second {
			t.Errorf("took %s, want the 20 s of the default", took)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, v := c.Dial(ctx, "a.example", 443); v.Reason != Canceled {
			t.Errorf("canceled: %+v", v)
		}
	})
}

func TestUnknownNetworksRefuse(t *testing.T) {
	f := &fakeNet{names: map[string][]string{"a.example.": {"93.184.216.34"}}}
	o := f.options()
	o.Networks = func() ([]netip.Prefix, error) { return nil, errors.New("no netlink") }
	if conn, v := New(grants(t, "*"), o).Dial(t.Context(), "a.example", 443); conn != nil || v.Reason != Internal {
		t.Errorf("%+v", v)
	}
}

// FuzzCheck: a canonical host reads as itself, what is suggested is enough and narrow, a failure names no host, and
// special addresses are never allowed by a grant that does not name them.
func FuzzCheck(f *testing.F) {
	for _, host := range []string{
		"github.com", "127.0.0.1", "::1", "0x7f.1", "a\x00b", "localhost", "169.254.169.254", "xn--a", "a_b.c", "1.2.3.4.",
		"2002:7f00:1::", "[::1]", "a@b", "*.b.c",
	} {
		f.Add(host, 443)
	}
	f.Fuzz(func(t *testing.T, host string, port int) {
		h, err := ParseHost(host)
		if err != nil && h != (Host{}) {
			t.Fatalf("ParseHost(%q) failed and returned %v", host, h)
		}
		if again, err2 := ParseHost(h.String()); err == nil && (err2 != nil || again != h) {
			t.Fatalf("ParseHost(%q) = %q, which reads as %q, %v", host, h, again, err2)
		}
		v := New(nil, Options{}).Check(host, port)
		if v.Outcome != Denied {
			t.Fatalf("allowed without a grant: %+v", v)
		}
		if strings.ContainsFunc(v.Host+v.Message, func(r rune) bool { return r < ' ' }) {
			t.Fatalf("control characters in %+v", v)
		}
		text, ok := strings.CutPrefix(v.SuggestedGrant, "host:")
		if !ok || v.Reason == Loopback {
			return
		}
		g, err := ParseGrant(text)
		if err != nil {
			t.Fatalf("suggested %q: %v", text, err)
		}
		if v := New([]Grant{g}, Options{}).Check(host, port); v.Outcome != Allowed {
			t.Fatalf("suggested %q is not enough: %+v", text, v)
		}
		if v := New([]Grant{g}, Options{}).Check("other.example", port); v.Outcome == Allowed && v.Host != h.String() {
			t.Fatalf("suggested %q is too much", text)
		}
	})
}

// FuzzParseGrant: what is read is printed so that it reads the same.
func FuzzParseGrant(f *testing.F) {
	for _, text := range []string{"github.com", "*.a.b:1", "[::1]:8080", "*", "*:22", "localhost", "0.0.0.0", "a:b"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		g, err := ParseGrant(text)
		if err != nil {
			if g != (Grant{}) {
				t.Fatalf("ParseGrant(%q) failed and returned %v", text, g)
			}
			return
		}
		if again, err := ParseGrant(g.String()); err != nil || again != g {
			t.Fatalf("ParseGrant(%q) = %q, which reads as %v, %v", text, g, again, err)
		}
	})
}

// BenchmarkDial is the cost of the law: what a connection takes beside resolving and dialling.
func BenchmarkDial(b *testing.B) {
	f := &fakeNet{names: map[string][]string{"a.example.": {"93.184.216.34"}}}
	o := f.options()
	o.Networks = OwnNetworks
	c := New(grants(b, "github.com", "*.example.com", "a.example"), o)
	for b.Loop() {
		if conn, v := c.Dial(b.Context(), "a.example", 443); conn == nil {
			b.Fatal(v.Message)
		}
	}
}
