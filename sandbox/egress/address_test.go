package egress

import (
	"slices"
	"testing"
)

// TestNetworks: each line of the table is read, and has a class that addresses can have.
func TestNetworks(t *testing.T) {
	known := []class{unspecified, loopback, private, linkLocal, metadata, multicast, broadcast, special, veiled}
	for _, n := range networks() {
		if !slices.Contains(known, n.class) || n.prefix != n.prefix.Masked() {
			t.Errorf("%v is %q", n.prefix, n.class)
		}
	}
	if len(networks()) != 34 {
		t.Errorf("%d networks", len(networks()))
	}
}
