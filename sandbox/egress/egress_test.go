package egress

import (
	"errors"
	"net"
	"net/netip"
	"strings"
	"testing"

	"toolhost/agenttool"
)

func TestParseHost(t *testing.T) {
	long := strings.Repeat("a", 63)
	for _, c := range []struct{ name, text, want string }{
		{"name", "github.com", "github.com"},
		{"upper case", "GitHub.COM", "github.com"},
		{"one trailing dot", "github.com.", "github.com"},
		{"underscore", "_dmarc.a_b.example", "_dmarc.a_b.example"},
		{"punycode", "xn--bcher-kva.example", "xn--bcher-kva.example"},
		{"single label", "intranet", "intranet"},
		{"digits in labels", "1.2.3.4.example", "1.2.3.4.example"},
		{"hex looking name", "0xg.0xcafe.com", "0xg.0xcafe.com"},
		{"longest label", long + ".example", long + ".example"},
		{"IPv4", "93.184.216.34", "93.184.216.34"},
		{"IPv6", "2606:4700::1111", "2606:4700::1111"},
		{"IPv6 in long form", "2606:4700:0:0:0:0:0:1111", "2606:4700::1111"},
		{"IPv6 upper case", "2606:4700::ABCD", "2606:4700::abcd"},
		{"IPv4 mapped", "::ffff:127.0.0.1", "127.0.0.1"},

		{"empty", "", ""},
		{"dot", ".", ""},
		{"two trailing dots", "github.com..", ""},
		{"leading dot", ".github.com", ""},
		{"empty label", "a..b", ""},
		{"long label", long + "a.example", ""},
		{"long name", strings.Repeat("a.", 127) + "aa", ""},
		{"leading hyphen", "-a.example", ""},
		{"trailing hyphen", "a-.example", ""},
		{"NUL", "github.com\x00.evil.example", ""},
		{"NUL at the end", "github.com\x00", ""},
		{"newline", "github.com\n", ""},
		{"carriage return", "github.com\r\nX: y", ""},
		{"space", "github.com evil.example", ""},
		{"leading space", " github.com", ""},
		{"tab", "github.com\t", ""},
		{"userinfo", "user@github.com", ""},
		{"slash", "github.com/x", ""},
		{"backslash", `github.com\evil.example`, ""},
		{"hash", "github.com#x", ""},
		{"percent", "git%68ub.com", ""},
		{"percent NUL", "github.com%00", ""},
		{"asterisk", "*.github.com", ""},
		{"brackets", "[::1]", ""},
		{"unicode name", "bücher.example", ""},
		{"full-width dot", "github。com", ""},
		{"full-width letters", "ｇithub.com", ""},
		{"Kelvin sign", "gitHub.\u212aom", ""},
		{"soft hyphen", "git\u00adhub.com", ""},
		{"invalid UTF-8", "git\xffhub.com", ""},
		{"hex", "0x7f.1", ""},
		{"one hex number", "0x7f000001", ""},
		{"upper-case hex", "0X7F000001", ""},
		{"bare 0x", "127.0.0.0x", ""},
		{"decimal", "2130706433", ""},
		{"short", "127.1", ""},
		{"three parts", "127.0.1", ""},
		{"octal", "0177.0.0.1", ""},
		{"padded", "127.0.0.001", ""},
		{"five parts", "1.2.3.4.5", ""},
		{"too large", "256.1.1.1", ""},
		{"name ending in a number", "example.1", ""},
		{"address with a dot", "127.0.0.1.", ""},
		{"zone", "fe80::1%eth0", ""},
		{"IPv6 and junk", "::1x", ""},
		{"name with a port", "github.com:443", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			h, err := ParseHost(c.text)
			if c.want == "" {
				if err == nil {
					t.Fatalf("ParseHost(%q) = %q, want an error", c.text, h)
				}
				return
			}
			if err != nil || h.String() != c.want {
				t.Errorf("ParseHost(%q) = %q, %v, want %q", c.text, h, err, c.want)
			}
		})
	}
}

func TestSplitAuthority(t *testing.T) {
	for _, c := range []struct {
		name, text string
		fallback   int
		host       string
		port       int // 0: an error
	}{
		{"host and port", "github.com:443", 0, "github.com", 443},
		{"fallback", "github.com", 80, "github.com", 80},
		{"IPv6", "[::1]:8080", 0, "::1", 8080},
		{"IPv6 fallback", "[::1]", 80, "::1", 80},
		{"no port", "github.com", 0, "", 0},
		{"empty port", "github.com:", 80, "", 0},
		{"port 0", "github.com:0", 0, "", 0},
		{"port too large", "github.com:65536", 0, "", 0},
		{"signed port", "github.com:+80", 0, "", 0},
		{"padded port", "github.com:080", 0, "", 0},
		{"two ports", "github.com:80:443", 0, "", 0},
		{"port and junk", "github.com:443x", 0, "", 0},
		{"bare IPv6", "::1", 80, "", 0},
		{"userinfo", "good.example@evil.example:443", 0, "", 0},
		{"userinfo with a port", "good.example:443@evil.example:443", 0, "", 0},
		{"open bracket", "[::1:80", 0, "", 0},
		{"name in brackets", "[github.com]:80", 0, "", 0},
		{"junk after brackets", "[::1]x:80", 0, "", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			host, port, err := SplitAuthority(c.text, c.fallback)
			if c.port == 0 {
				if err == nil {
					t.Fatalf("SplitAuthority(%q) = %q, %d, want an error", c.text, host, port)
				}
				return
			}
			if err != nil || host != c.host || port != c.port {
				t.Errorf("SplitAuthority(%q) = %q, %d, %v, want %q, %d", c.text, host, port, err, c.host, c.port)
			}
		})
	}
}

func TestParseGrant(t *testing.T) {
	for _, c := range []struct{ text, want, errorHas string }{
		{"github.com", "github.com", ""},
		{"GitHub.com.", "github.com", ""},
		{"github.com:22", "github.com:22", ""},
		{"*.github.com", "*.github.com", ""},
		{"*.github.com:8443", "*.github.com:8443", ""},
		{"127.0.0.1:5432", "127.0.0.1:5432", ""},
		{"10.0.0.7", "10.0.0.7", ""},
		{"[::1]:8080", "[::1]:8080", ""},
		{"[fd00::7]", "[fd00::7]", ""},
		{"*", "*", ""},
		{"*:8443", "*:8443", ""},

		{"", "", "empty"},
		{"https://github.com", "", "host alone"},
		{"github.com/x", "", "host alone"},
		{"::1", "", "brackets"},
		{"::1:8080", "", "brackets"},
		{"localhost:8080", "", "127.0.0.1:8080"},
		{"app.localhost", "", "own loopback"},
		{"*.com", "", "two labels"},
		{"**.github.com", "", "whole labels"},
		{"*github.com", "", "whole labels"},
		{"a.*.com", "", "whole labels"},
		{"*.10.0.0.1", "", "nothing below"},
		{"*.", "", "empty"},
		{"0.0.0.0:80", "", "one host"},
		{"[::]:80", "", "one host"},
		{"224.0.0.1", "", "one host"},
		{"255.255.255.255", "", "one host"},
		{"user@github.com", "", "user information"},
		{"github.com:http", "", "65535"},
		{"github.com:443 evil.com", "", "65535"},
		{"127.1:80", "", "four decimal"},
		{"bücher.example", "", "punycode"},
	} {
		t.Run(c.text, func(t *testing.T) {
			g, err := ParseGrant(c.text)
			if c.want != "" {
				if err != nil || g.String() != c.want {
					t.Errorf("ParseGrant(%q) = %q, %v, want %q", c.text, g, err, c.want)
				}
				return
			}
			if !errors.Is(err, agenttool.InvalidArguments) || !strings.Contains(err.Error(), c.errorHas) {
				t.Errorf("ParseGrant(%q): %v, want invalid_arguments with %q", c.text, err, c.errorHas)
			}
			if g != (Grant{}) {
				t.Errorf("ParseGrant(%q) failed and returned %v", c.text, g)
			}
		})
	}
}

func TestClassOf(t *testing.T) {
	for _, c := range []struct {
		addr string
		want class
	}{
		{"93.184.216.34", public}, {"1.1.1.1", public}, {"172.32.0.1", public}, {"100.128.0.1", public},
		{"2606:4700::1111", public}, {"2a00:1450::1", public}, {"64:ff9b::5db8:d822", public}, {"2002:5db8:d822::1", public},
		{"127.0.0.1", loopback}, {"127.255.255.254", loopback}, {"::1", loopback}, {"::ffff:127.0.0.1", loopback},
		{"64:ff9b::7f00:1", loopback}, {"2002:7f00:1::", loopback},
		{"0.0.0.0", unspecified}, {"0.1.2.3", unspecified}, {"::", unspecified}, {"::ffff:0.0.0.0", unspecified},
		{"10.0.0.1", private}, {"172.16.0.1", private}, {"172.31.255.255", private}, {"192.168.1.1", private},
		{"100.64.0.1", private}, {"100.127.255.255", private}, {"fd12::1", private}, {"fc00::1", private},
		{"fec0::1", private}, {"::ffff:10.0.0.1", private}, {"64:ff9b::a00:1", private}, {"2002:c0a8:101::1", private},
		{"169.254.1.1", linkLocal}, {"fe80::1", linkLocal}, {"fe80::1%eth0", linkLocal}, {"2002:a9fe:101::", linkLocal},
		{"169.254.169.254", metadata}, {"fd00:ec2::254", metadata}, {"::ffff:169.254.169.254", metadata},
		{"64:ff9b::a9fe:a9fe", metadata}, {"2002:a9fe:a9fe::", metadata}, {"168.63.129.16", metadata},
		{"169.254.170.2", metadata}, {"100.100.100.200", metadata}, {"192.0.0.192", metadata},
		{"224.0.0.1", multicast}, {"239.1.1.1", multicast}, {"ff02::1", multicast},
		{"255.255.255.255", broadcast}, {"240.0.0.1", special}, {"192.0.2.1", special}, {"198.18.0.1", special},
		{"203.0.113.9", special}, {"2001:0:1::1", veiled}, {"2001:2::1", special}, {"2001:db8::1", special}, {"3fff::1", special},
		{"::127.0.0.1", veiled}, {"64:ff9b:1::7f00:1", veiled}, {"100::1", veiled}, {"4000::1", veiled},
	} {
		t.Run(c.addr, func(t *testing.T) {
			if got := classOf(netip.MustParseAddr(c.addr)); got != c.want {
				t.Errorf("classOf(%s) = %s, want %s", c.addr, got, c.want)
			}
		})
	}
}

func TestOwnNetworkOf(t *testing.T) {
	for _, c := range []struct {
		name, addr string
		ones, bits int
		want       string
	}{
		{"usual", "203.0.113.9", 24, 32, "203.0.113.9/24"},
		{"point to point", "203.0.113.9", 32, 32, "203.0.113.9/32"},
		{"takes everything", "203.0.113.9", 0, 32, "203.0.113.9/32"},
		{"half of everything", "203.0.113.9", 1, 32, "203.0.113.9/32"},
		{"IPv6", "2001:db8:1:2::9", 64, 128, "2001:db8:1:2::9/64"},
		{"IPv6 takes all unicast", "2001:db8::9", 3, 128, "2001:db8::9/128"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := ownNetworkOf(netip.MustParseAddr(c.addr), net.CIDRMask(c.ones, c.bits))
			if got.String() != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// TestOwnNetworks shows that this machine's own loopback is seen.
func TestOwnNetworks(t *testing.T) {
	networks, err := OwnNetworks()
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range networks {
		if n.Contains(netip.MustParseAddr("127.0.0.1")) {
			return
		}
	}
	t.Skipf("no loopback interface is up here: %v", networks)
}
