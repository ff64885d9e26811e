// Package locale keeps commands in locales where each ASCII byte is a character of its own.
//
// A shell command is analysed as UTF-8. In GBK, GB 18030, Big5 and Shift_JIS a backslash or a quote may be the second byte of a longer
// character, and in some sets of eight bits a byte above ASCII is a blank: bash would read another command. Such locales are replaced by
// C.UTF-8; the language of messages is kept in LANGUAGE.
package locale

import (
	"slices"
	"strings"
)

// utf8 is the locale that replaces others.
const utf8 = "C.UTF-8"

// Plain reports whether the value of a locale variable names a character set that is known to be UTF-8 or ASCII. Names without a
// character set are not plain, short of C and POSIX: the set is then the one that the system has for the language.
func Plain(name string) bool {
	switch name {
	case "", "C", "POSIX":
		return true
	}
	language, rest, ok := strings.Cut(name, ".")
	charset, modifier, modified := strings.Cut(rest, "@")
	return ok && letters(language) && (!modified || letters(modifier)) &&
		(strings.EqualFold(charset, "UTF-8") || strings.EqualFold(charset, "utf8"))
}

func letters(s string) bool {
	return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_") == ""
}

// Variable reports whether an environment variable chooses a locale.
func Variable(name string) bool { return name == "LANG" || strings.HasPrefix(name, "LC_") }

// Environ returns env with all locales plain; entries are "NAME=value". If it replaces a locale and LANGUAGE is not set, it sets
// LANGUAGE to the language of the locale that decides on messages, the first of LC_ALL, LC_MESSAGES and LANG.
func Environ(env []string) []string {
	if !slices.ContainsFunc(env, func(entry string) bool { return strange(entry) != "" }) {
		return env
	}
	env = slices.Clone(env)
	spoken, found := "", map[string]string{}
	for i, entry := range env {
		name, value, _ := strings.Cut(entry, "=")
		switch {
		case strange(entry) != "":
			env[i] = name + "=" + utf8
			found[name] = language(value)
		case name == "LANGUAGE" && value != "":
			spoken = value
		case name == "LC_ALL" && value != "", name == "LC_MESSAGES" && value != "":
			found[name] = ""
		}
	}
	for _, name := range []string{"LC_ALL", "LC_MESSAGES", "LANG"} {
		value, ok := found[name]
		if ok && value != "" && spoken == "" {
			env = slices.DeleteFunc(env, func(entry string) bool { return strings.HasPrefix(entry, "LANGUAGE=") })
			return append(env, "LANGUAGE="+value)
		}
		if ok {
			break
		}
	}
	return env
}

// strange returns the value of a locale variable that is not plain, else "".
func strange(entry string) string {
	name, value, ok := strings.Cut(entry, "=")
	if !ok || !Variable(name) || Plain(value) {
		return ""
	}
	return value
}

// language returns the value of LANGUAGE for a locale: zh_CN:zh for zh_CN.GBK; "" if the name has no language.
func language(name string) string {
	name, _, _ = strings.Cut(name, ".")
	name, _, _ = strings.Cut(name, "@")
	short, region, _ := strings.Cut(name, "_")
	switch {
	case len(short) < 2 || len(short) > 3 || !letters(name):
		return ""
	case region == "":
		return short
	}
	return name + ":" + short
}
