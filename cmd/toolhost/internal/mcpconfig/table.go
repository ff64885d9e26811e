package mcpconfig

import (
	"fmt"
	"strings"

	"toolhost/agenttool/near"
)

// Find returns the client with a name.
func Find(name string) (Client, error) {
	var names []string
	for _, c := range Clients() {
		if c.Name == name {
			return c, nil
		}
		names = append(names, c.Name)
	}
	if best := near.Word(name, names); best != "" {
		return Client{}, fmt.Errorf("there is no client %q here; did you mean %s?", name, best)
	}
	return Client{}, fmt.Errorf("there is no client %q here; there are %s", name, strings.Join(names, ", "))
}
