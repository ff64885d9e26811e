package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"toolhost/agenttool"
	"toolhost/cmd/toolhost/internal/dirs"
	"toolhost/host"
	"toolhost/host/hook"
	"toolhost/permissions"
	"toolhost/protect"
	"toolhost/sandbox"
	"toolhost/settings"
	"toolhost/tools/files"
)

// ruleParser reads rules about the tools that toolhost brings. An empty workspace reads rules of any.
func ruleParser(workspace, home string) permissions.Parser {
	return permissions.Parser{
		Names: toolNames(), Home: home, Workspace: workspace, Resolve: dirs.Target,
		Grants: func(grants []string) error {
			_, err := sandbox.ParseGrants(grants)
			return err
		},
	}
}

// toolNames are the names and aliases of all tools.
var toolNames = sync.OnceValue(func() map[string]string {
	return host.Names(builtins(nil, &session{box: &confinement{}}, files.Options{}))
})

// ruleFlags are the rules of the command line.
type ruleFlags struct{ allow, ask, deny []string }

func (f *ruleFlags) addFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringArrayVar(&f.allow, "allow", nil, "`rule` for calls that run unasked, such as 'Write(src/**)' or 'Shell(go test *)'; may be repeated")
	flags.StringArrayVar(&f.ask, "ask", nil, "`rule` for calls that always ask; may be repeated")
	flags.StringArrayVar(&f.deny, "deny", nil, "`rule` for calls that never run; may be repeated")
}

// parse reads them.
func (f ruleFlags) parse(p permissions.Parser) ([]permissions.Rule, error) {
	var rules []permissions.Rule
	for _, given := range []struct {
		flag     string
		behavior agenttool.Behavior
		texts    []string
	}{{"--deny", agenttool.Deny, f.deny}, {"--ask", agenttool.Ask, f.ask}, {"--allow", agenttool.Allow, f.allow}} {
		for _, text := range given.texts {
			rule, err := p.Parse(text, given.behavior, agenttool.Origin{Source: agenttool.SourceCLI})
			if err != nil {
				return nil, fmt.Errorf("%s: %w", given.flag, err)
			}
			rules = append(rules, rule)
		}
	}
	return rules, nil
}

// snapshot is what a session may do, as the person has laid it down: made of settings and of the command line, anew for each
// change of them.
type snapshot struct {
	settings *settings.Settings
	policy   permissions.Policy
	secrets  []string // what is not read, in the words of protect.DefaultReadDeny
	environ  []string // further variables of commands
	hooks    []hook.Hook
}

// snapshotOf makes one: what no layer says is what the command line, or its default, says.
func (s *setup) snapshotOf(read *settings.Settings, scope agenttool.Scope) (*snapshot, error) {
	mode, err := s.modeOf(read)
	if err != nil {
		return nil, err
	}
	parser := ruleParser(scope.Dir, scope.Home)
	rules, err := s.rules.parse(parser)
	if err != nil {
		return nil, err
	}
	for _, r := range read.Rules {
		rule, err := parser.Parse(r.Text, r.Behavior, r.Origin)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", r.Origin.Where(), err)
		}
		rules = append(rules, rule)
	}
	m := &snapshot{settings: read, environ: environOf(read), hooks: hooksOf(read)}
	programs, err := hook.Compile(m.hooks, toolNames())
	if err != nil {
		return nil, err
	}
	m.policy = permissions.Policy{
		Mode: mode, Workspace: scope.Dir, Readable: sync.OnceValue(func() []string { return readableNow(dirs.Real(scope.Home)) }),
		Programs: programs.Files(scope.Dir), Repository: protect.HoldsRepository,
		Guarded: func(path string) bool { return protect.Arms(path) || protect.AsksAtHome(path, dirs.Real(scope.Home)) },
	}.With(rules...)
	return m, m.keepSecrets(scope, s.own)
}

// keepSecrets says what is not read: what is known to hold secrets, less what a rule that allows names, what rules deny, and
// files of toolhost's own.
func (m *snapshot) keepSecrets(scope agenttool.Scope, own []string) error {
	home := dirs.Real(scope.Home)
	known, err := protect.CompileSecrets(protect.DefaultReadDeny(), scope.Roots, home)
	if err != nil {
		return err
	}
	m.secrets = protect.DefaultReadDeny()
	for _, glob := range m.policy.Reading(agenttool.Allow) {
		if known.Denies(strings.TrimSuffix(glob, "/**")) { // one that names a secret, and not one that covers it among others
			m.secrets = append(m.secrets, "!"+glob)
		}
	}
	m.secrets = append(m.secrets, m.policy.Reading(agenttool.Deny)...)
	for _, file := range own {
		m.secrets = append(m.secrets, protect.QuoteGlob(file))
	}
	compiled, err := protect.CompileSecrets(m.secrets, scope.Roots, home)
	if err != nil {
		return err
	}
	m.policy.Secret = compiled.Denies
	return nil
}

// sealed are the names that no command writes: what hooks run, and what rules deny, as far as they name it.
func (m *snapshot) sealed() []string {
	sealed := slices.Clone(m.policy.Programs)
	for _, glob := range m.policy.Writing(agenttool.Deny) {
		if name := strings.TrimSuffix(glob, "/**"); !strings.ContainsAny(name, `*?[{\`) {
			sealed = append(sealed, name)
		}
	}
	return sealed
}

// modeOf is the mode in force: that of the administrator, else of the command line, else of the settings.
func (s *setup) modeOf(read *settings.Settings) (permissions.Mode, error) {
	mode, err := permissions.ParseMode(chosen(read.Mode, s.mode, s.changed("mode")))
	if err != nil {
		return "", fmt.Errorf("--mode: %w", err)
	}
	if mode == permissions.Bypass && os.Geteuid() == 0 {
		return "", errors.New("--mode bypass: not as root, since nothing would hold what runs: start toolhost as an ordinary user, or use --mode sandboxed")
	}
	return mode, nil
}

// chosen returns the value of a setting: the administrator's, else that of the flag if it was given, else that of the other
// layers, else the flag's default.
func chosen[T any](set settings.Value[T], flag T, given bool) T {
	if set.Set && (!given || set.Origin.Source == agenttool.SourceManaged) {
		return set.V
	}
	return flag
}

// changed reports whether a flag was given.
func (s *setup) changed(flag string) bool { return s.cmd != nil && s.cmd.Flags().Changed(flag) }

// environOf returns the variables that settings pass on and set.
func environOf(read *settings.Settings) []string {
	var env []string
	for _, name := range read.EnvPass {
		if value, ok := os.LookupEnv(name.V); ok {
			env = append(env, name.V+"="+value)
		}
	}
	for name, value := range read.EnvSet {
		env = append(env, name+"="+value.V)
	}
	slices.Sort(env)
	return env
}
