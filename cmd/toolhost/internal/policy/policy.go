// Package policy combines settings and the command line into the policy of a session: rules, mode, secrets, hooks and variables.
// Each change of one of them makes a new [Snapshot].
package policy

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

	"toolhost/agenttool"
	"toolhost/cmd/toolhost/internal/builtin"
	"toolhost/cmd/toolhost/internal/confine"
	"toolhost/cmd/toolhost/internal/dirs"
	"toolhost/host/hook"
	"toolhost/permissions"
	"toolhost/permissions/protect"
	"toolhost/persist/redact"
	"toolhost/settings"
)

// Snapshot is the policy of a session at one time: settings and command line.
type Snapshot struct {
	Settings  *settings.Settings
	Policy    permissions.Policy
	Secrets   []string // globs of files that are not read, in the form of [protect.DefaultReadDeny]
	Revealed  []string // files among the known secrets that a rule lets calls read
	Environ   []string // further variables of commands
	Hooks     []hook.Hook
	Redaction redact.Rules

	known *protect.Secrets
}

// Known reports whether an absolute path is one of the known secrets, whatever rules say about it.
func (m *Snapshot) Known(path string) bool {
	return m.known != nil && path != "" && m.known.Denies(path)
}

// New makes a snapshot. Where settings say nothing, the command line or its default counts.
func New(f Flags, read *settings.Settings, scope agenttool.Scope) (*Snapshot, error) {
	mode, err := f.mode(read)
	if err != nil {
		return nil, err
	}
	parser := Parser(scope.Dir, scope.Home)
	rules, err := f.rules(parser)
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
	m := &Snapshot{Settings: read, Environ: environOf(read), Hooks: hooksOf(read)}
	if m.Redaction, err = redactionOf(read); err != nil {
		return nil, err
	}
	programs, err := hook.Compile(m.Hooks, builtin.Names())
	if err != nil {
		return nil, err
	}
	m.Policy = permissions.Policy{
		Mode: mode, Fixed: read.Mode.Set && read.Mode.Origin.Source == agenttool.SourceManaged, Workspace: scope.Dir,
		Readable: sync.OnceValue(func() []string {
			return append(confine.Readable(dirs.Real(scope.Home), scope.Roots), confine.Beside(scope)...)
		}),
		Programs: programs.Files(scope.Dir), Home: dirs.Real(scope.Home),
		Disabled: disabledBy(read),
	}.With(rules...)
	return m, m.hideSecrets(scope, f.Own)
}

// hideSecrets sets which files are not read: the known secrets except those that an allow rule names, what rules deny, and own.
func (m *Snapshot) hideSecrets(scope agenttool.Scope, own []string) error {
	home, trees := dirs.Real(scope.Home), slices.Concat(scope.Roots, confine.Beside(scope))
	known, err := protect.CompileSecrets(protect.DefaultReadDeny(), trees, home)
	if err != nil {
		return err
	}
	m.known, m.Secrets = known, protect.DefaultReadDeny()
	for _, glob := range m.Policy.Reading(agenttool.Allow) {
		if known.Names(strings.TrimSuffix(glob, "/**")) { // one that names a secret, and not one that covers it among others
			m.Secrets = append(m.Secrets, "!"+glob)
			if !strings.ContainsAny(glob, `*?[{\`) {
				m.Revealed = append(m.Revealed, glob)
			}
		}
	}
	m.Secrets = append(m.Secrets, m.Policy.Reading(agenttool.Deny)...)
	for _, file := range own {
		m.Secrets = append(m.Secrets, protect.QuoteGlob(file))
	}
	compiled, err := protect.CompileSecrets(m.Secrets, trees, home)
	if err != nil {
		return err
	}
	m.Policy.Secret, m.Policy.Cut, m.Policy.SecretName = compiled.Denies, compiled.Cut, compiled.Names
	return nil
}

// Sealed are the names that no command writes: the programs of hooks, and the paths that deny rules name without wildcards.
func (m *Snapshot) Sealed() []string {
	sealed := slices.Clone(m.Policy.Programs)
	for _, glob := range m.Policy.Writing(agenttool.Deny) {
		if name := strings.TrimSuffix(glob, "/**"); !strings.ContainsAny(name, `*?[{\`) {
			sealed = append(sealed, name)
		}
	}
	return sealed
}

// mode is the mode in force: the administrator's, else that of the command line, else that of the settings.
func (f Flags) mode(read *settings.Settings) (permissions.Mode, error) {
	mode, err := agenttool.ParseMode(Choose(f, "mode", read.Mode, f.Mode))
	if err != nil {
		return "", fmt.Errorf("--mode: %w", err)
	}
	if mode == permissions.Bypass && os.Geteuid() == 0 {
		return "", errors.New("--mode bypass: not as root, since nothing would hold what runs: start toolhost as an ordinary user, or use --mode sandboxed")
	}
	return mode, nil
}

// Choose returns the value in force: the administrator's, else that of the flag if it was given, else that of the other settings, else
// the flag's default.
func Choose[T any](f Flags, flag string, set settings.Value[T], value T) T {
	if set.Set && (!f.Is(flag) || set.Origin.Source == agenttool.SourceManaged) {
		return set.V
	}
	return value
}

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
