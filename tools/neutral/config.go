package neutral

import (
	"strings"

	"toolhost/permissions/protect/gitconfig"
)

// parseConfig returns the settings of a configuration file. Text that git refuses, or may read differently, is an error.
func parseConfig(text string) (all []gitconfig.Setting, err error) {
	if strings.ContainsAny(text, "\x00\v\f") {
		return nil, gitconfig.ErrSyntax
	}
	for s, err := range gitconfig.Parse(text) {
		if err != nil || !strings.Contains(s.Key, ".") {
			return nil, gitconfig.ErrSyntax
		}
		all = append(all, s)
	}
	return all, nil
}

// splitKey splits a key; the subsection may contain dots.
func splitKey(key string) (section, sub, name string) {
	first, last := strings.IndexByte(key, '.'), strings.LastIndexByte(key, '.')
	if first < 0 {
		return "", "", key
	}
	if first == last {
		return key[:first], "", key[last+1:]
	}
	return key[:first], key[first+1 : last], key[last+1:]
}
