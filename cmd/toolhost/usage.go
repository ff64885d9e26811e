package main

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"toolhost/agenttool/near"
)

// The errors of cobra and pflag, which name no remedy.
var (
	badValue    = regexp.MustCompile(`(?s)^invalid argument (".*") for "([^"]*)" flag: (.*)$`)
	unknownFlag = regexp.MustCompile(`^unknown flag: --(.*)$`)
	exclusive   = regexp.MustCompile(`none of the others can be; \[(\S+) (\S+).*\] were all set$`)
	unknownWord = regexp.MustCompile(`(?s)^unknown command ("[^"]*") for "[^"]*"(?:\n\nDid you mean this\?\n\t(\S+))?`)
	wrongNumber = regexp.MustCompile(`^(accepts|requires) .*arg\(s\)`)
)

// usageError adds the remedy to an error of a command line: those of the library name none. serve is toolhost serve, whose flags other commands take behind --.
func usageError(cmd *cobra.Command, err error, serve *cobra.Command) error {
	text, help := err.Error(), ": see "+cmd.CommandPath()+" --help"
	if m := badValue.FindStringSubmatch(text); m != nil {
		return fmt.Errorf("%s %s: %s", lastName(m[2]), strings.Trim(m[1], `"`), remedy(m[3]))
	}
	if m := unknownFlag.FindStringSubmatch(text); m != nil {
		if takesServeFlags(cmd) && has(serve, m[1]) {
			return fmt.Errorf("--%s is a flag of toolhost serve: write it at the end, behind --, as in %s claude -- --%[1]s", m[1], cmd.CommandPath())
		}
		return fmt.Errorf("there is no flag --%s%s%s", m[1], meantFlag(cmd, m[1]), help)
	}
	if m := exclusive.FindStringSubmatch(text); m != nil {
		return fmt.Errorf("--%s and --%s exclude each other: give one of them", m[1], m[2])
	}
	if m := unknownWord.FindStringSubmatch(text); m != nil {
		switch {
		case !cmd.HasSubCommands():
			return fmt.Errorf("%s takes no argument %s%s", cmd.CommandPath(), m[1], help)
		case m[2] != "":
			return fmt.Errorf("there is no command %s; did you mean %s?", m[1], m[2])
		}
		if meant := meantCommand(cmd, strings.Trim(m[1], `"`)); meant != "" {
			return fmt.Errorf("there is no command %s; did you mean %s?", m[1], meant)
		}
		return fmt.Errorf("there is no command %s%s", m[1], help)
	}
	if wrongNumber.MatchString(text) {
		return fmt.Errorf("give %s%s", cmd.UseLine(), help)
	}
	if strings.HasPrefix(text, "unknown shorthand flag") || strings.HasPrefix(text, "flag needs an argument") {
		return errors.New(text + help)
	}
	return err
}

// takesServeFlags reports whether a command passes the words behind -- to toolhost serve.
func takesServeFlags(cmd *cobra.Command) bool { return strings.Contains(cmd.Use, "FLAGS OF SERVE") }

// has reports whether a command has a flag, given as name or name=value.
func has(cmd *cobra.Command, flag string) bool {
	name, _, _ := strings.Cut(flag, "=")
	return cmd.Flags().Lookup(name) != nil
}

// remedy describes the values of a flag, by the error of a bad one.
func remedy(why string) string {
	switch {
	case strings.Contains(why, "strconv.ParseBool"):
		return "give true or false"
	case strings.Contains(why, "strconv."):
		return "give a whole number"
	case strings.HasPrefix(why, "time: "):
		return "write a time like 90s, 10m or 1h30m"
	}
	if _, advice, ok := strings.Cut(why, ": "); ok {
		return advice
	}
	return why
}

// meantCommand returns the command below cmd whose name is nearest to a misspelt one.
func meantCommand(cmd *cobra.Command, name string) string {
	var names []string
	for _, sub := range cmd.Commands() {
		if !sub.Hidden {
			names = append(names, sub.Name())
		}
	}
	return near.Word(name, names)
}

// lastName returns the long name of "-n, --lines".
func lastName(names string) string { return names[strings.LastIndexByte(names, ' ')+1:] }

// meantFlag suggests the flag whose name is nearest to a misspelt one.
func meantFlag(cmd *cobra.Command, name string) string {
	var names []string
	for line := range strings.Lines(cmd.Flags().FlagUsages()) {
		if _, rest, ok := strings.Cut(line, "--"); ok {
			names = append(names, strings.Fields(rest)[0])
		}
	}
	if best := near.Word(name, names); best != "" {
		return ", did you mean --" + best + "?"
	}
	return ""
}
