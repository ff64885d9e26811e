package policy

import (
	"sync"

	"toolhost/agenttool"
	"toolhost/host/hook"
	"toolhost/permissions"
	"toolhost/settings"
)

// hooksOf are the hooks that settings name.
func hooksOf(read *settings.Settings) []hook.Hook {
	hooks := make([]hook.Hook, len(read.Hooks))
	for i, h := range read.Hooks {
		hooks[i] = hookOf(h)
	}
	return hooks
}

func hookOf(h settings.Hook) hook.Hook {
	return hook.Hook{
		Event: hook.Event(h.Event), Matcher: hook.Matcher{Tool: h.Matcher.Tool, Input: h.Matcher.Input},
		Command: h.Command, Timeout: h.Timeout, Env: h.Env, Origin: h.Origin,
	}
}

// HookMatch reports whether a call is one that the input rule of a hook's matcher is about. Each rule is compiled once.
func HookMatch(scope agenttool.Scope) func(rule string, r permissions.Request) bool {
	parser := Parser(scope.Dir, scope.Home)
	var compiled sync.Map // rule → func(permissions.Request) bool
	return func(text string, r permissions.Request) bool {
		about, ok := compiled.Load(text)
		if !ok {
			rule, err := parser.Parse(text, agenttool.Deny, agenttool.Origin{})
			about = func(permissions.Request) bool { return true } // settings with such a rule are not loaded
			if err == nil {
				about = permissions.About(rule, scope.Dir)
			}
			compiled.Store(text, about)
		}
		return about.(func(permissions.Request) bool)(r)
	}
}
