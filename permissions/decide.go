package permissions

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"toolhost/agenttool"
	"toolhost/permissions/protect"
)

// Decide says whether the call may run: allow, ask or deny, with the reason. The caller fills the ids and the time.
//
// The order is:
//
//   - the user's own commands about jobs are allowed
//   - toolhost's own files and settings are denied
//   - deny rules deny
//   - secrets are denied
//   - a deny rule that may match an unknown part asks; where that part is code, not if the sandbox holds the rule
//   - ask rules ask
//   - calls about the session's own jobs, and calls that only read readable paths, are allowed
//   - mode plan denies everything else
//   - protected paths ask
//   - allow rules allow
//   - the mode decides
//
// Decide does no IO but what [Policy.Names] does, and never fails.
//
// Agent Tool v0.2.0, "tool_permission_decision" (AT-137 … AT-139, AT-165).
func (p Policy) Decide(r Request) agenttool.Decision {
	if p.Mode == "" {
		p.Mode = Default
	}
	p = p.at(r)
	v := p.verdict(r)
	v.reads, v.dir = r.Facts.Reads, r.Facts.Dir
	d := agenttool.Decision{
		SchemaVersion: agenttool.SchemaVersion, Mode: string(p.Mode), Behavior: v.behavior, BlockedPath: v.path, Grants: v.grants, Snapshot: p.Snapshot,
		Reason: &agenttool.DecisionReason{Type: v.kind, Detail: v.why}, Failure: v.failure,
	}
	for _, rule := range v.rules {
		if !slices.Contains(d.RuleRefs, rule.Ref()) {
			d.RuleRefs = append(d.RuleRefs, rule.Ref())
		}
	}
	if len(v.rules) > 0 {
		d.Source, d.Reason.RuleRef, d.Reason.Where = v.rules[0].Origin.Source, d.RuleRefs[0], v.rules[0].Origin.Where()
		switch {
		case d.Source == agenttool.SourceManaged:
			d.Reason.Type, d.PolicyRefs = kindPolicy, d.RuleRefs
		case len(r.Facts.Parts) > 1 && d.Reason.Type == kindRule:
			d.Reason.Type = kindSubcommands
		}
	}
	if d.Reason.Type == kindClassifier || v.proved {
		d.Reason.Extra = agenttool.Extra{"classifier": classifierRole}
	}
	if len(r.Facts.Parts) > 1 || len(r.Facts.Parts) == 1 && v.behavior != agenttool.Allow {
		d.Reason.Subcommands = breakdown{&p, r.Facts, v}.list(r)
	}
	if v.behavior == agenttool.Ask {
		d.Protected = p.Protected(r)
		s := suggester{&p, r}
		d.SuggestedUpdates = s.suggest()
		d.Reason.Detail += s.remedy(v, d.SuggestedUpdates)
	}
	return d
}

func (p Policy) verdict(r Request) verdict {
	p = p.at(r)
	f := r.Facts
	if r.ByPerson && f.OwnJobs == agenttool.Yes {
		return because(agenttool.Allow, kindMode, "the person of this session asked for it")
	}
	if path, ok := privatePath(f); ok {
		return because(agenttool.Deny, kindSafety, path+" is toolhost's own state, which no call may touch").at(path)
	}
	held := false
	denied, deny := p.set.forbidden(agenttool.Deny, r, nil)
	mayBeDenied := denied
	if deny && denied.sure == maybe {
		denied, deny = p.set.forbidden(agenttool.Deny, r, p.heldFor(&r))
		held = !deny
	}
	if deny && denied.sure == surely {
		return p.byRule(agenttool.Deny, denied)
	}
	if path, ok := p.stored(r); ok {
		return because(agenttool.Deny, kindSafety, "the repository holds "+path+" with secrets, and this prints it: leave it out with -- ':(exclude)"+path+
			"'; a rule that allows Read("+path+") would let it be read").at(path)
	}
	if path, ok := p.secret(r); ok {
		return because(agenttool.Deny, kindSafety, path+" holds secrets; a rule that allows Read("+path+") would let it be read").at(path)
	}
	if deny {
		return p.unsure(denied)
	}
	protected, writesProtected := p.protectedWrite(r)
	if writesProtected && p.Mode == Bypass {
		return p.protect(protected) // bypass never asks: the write is denied, whatever the rules say
	}
	if asked, ok := p.set.forbidden(agenttool.Ask, r, nil); ok {
		return p.byRule(agenttool.Ask, asked)
	}
	if f.Unwalked != "" {
		v := because(agenttool.Ask, kindSafety, f.Unwalked+", so that it may print secrets")
		if !p.Mode.Asks() {
			v.behavior, v.why = agenttool.Deny, v.why+", and mode "+string(p.Mode)+" denies what would ask"
		}
		return v
	}
	if f.OwnJobs == agenttool.Yes {
		return because(agenttool.Allow, kindMode, "it acts on nothing but this session's own jobs")
	}
	if p.runsUnasked(r) {
		v := because(agenttool.Allow, kindMode, "it only reads, and nothing but what may be read")
		v.proved = r.RunsCode && len(f.Parts) > 0
		return v
	}
	if p.Mode == Plan {
		return because(agenttool.Deny, kindMode, "mode plan runs only calls that read: "+causeOf(&p, r).sentence(f))
	}
	if writesProtected {
		return p.protect(protected)
	}
	if v, ok := p.exposed(r); ok {
		return v
	}
	v := p.allowed(r)
	if held && v.leavesSandbox() {
		return p.unsure(mayBeDenied)
	}
	return v
}

// exposed is the verdict of a call that could change names which the map does not know, or of a command that could use what the sandbox cannot
// cover, whatever rules allow it. A machine that is short of something denies: the same call is decided once there is room again.
func (p Policy) exposed(r Request) (verdict, bool) {
	confined := r.RunsCode && p.Confines
	if len(r.Facts.Writes) == 0 && (!confined || p.Mode == Bypass) {
		return verdict{}, false
	}
	m, err := p.names()
	if e := agenttool.SystemFailure("the protected names could not be found", err); agenttool.IsShortage(err) {
		v := because(agenttool.Deny, kindSafety, e.Message)
		v.failure = e
		return v, true
	}
	if p.Mode == Bypass {
		return verdict{}, false
	}
	why := ""
	switch {
	case err != nil:
		why = "the protected names could not be found: " + err.Error()
	case m == nil:
	case confined && len(m.Uncovered()) > 0:
		why = "the sandbox cannot cover all that it should: " + protect.Describe(m.Uncovered())
	case len(m.Unknown()) > 0:
		why = "not all protected names are known: " + protect.Describe(m.Unknown())
	}
	if why == "" {
		return verdict{}, false
	}
	v := because(agenttool.Ask, kindSafety, why)
	if !p.Mode.Asks() {
		v.behavior, v.why = agenttool.Deny, v.why+", and mode "+string(p.Mode)+" denies what would ask"
	}
	return v, true
}

// allowed decides about a call that nothing forbids and that is no reading.
func (p Policy) allowed(r Request) verdict {
	c := coverOf(&p, r)
	if c.whole {
		v := c.verdict()
		if r.RunsCode {
			v.grants = append(append(v.grants, p.set.networks()...), p.written(r)...)
		}
		return v
	}
	v := verdict{}
	switch {
	case p.Mode == Bypass:
		v = because(agenttool.Allow, kindMode, "mode bypass runs every call that no rule forbids")
	case p.Mode == Sandboxed && p.confined(r):
		v = because(agenttool.Allow, kindMode, "mode sandboxed runs commands that the sandbox confines")
		if r.Facts.OpenWorld != agenttool.Yes {
			v.grants = p.set.networks()
		}
		v.grants = append(v.grants, p.written(r)...)
	case p.Confines && onlyScratch(r.Facts) && edit{&p, r}.inside():
		v = because(agenttool.Allow, kindMode, "it writes nothing but the session's own /tmp")
	case (p.Mode == AcceptEdits || p.Mode == Sandboxed) && edit{&p, r}.inside():
		v = because(agenttool.Allow, kindMode, "mode "+string(p.Mode)+" lets files of the workspace be edited")
	default:
		kind, why := c.whyNot()
		if v = because(agenttool.Ask, kind, why); p.Mode == DontAsk {
			v.behavior, v.why = agenttool.Deny, why+", and mode dont_ask denies what would ask"
		}
	}
	v.covered = c.parts
	return v
}

// byRule is the verdict of a rule that denies or asks.
func (p Policy) byRule(b agenttool.Behavior, f finding) verdict {
	rule := &p.set.rules[f.rule]
	v := verdict{behavior: b, kind: kindRule, rules: []*Rule{rule}, path: f.path}
	word := "denied by "
	if b == agenttool.Ask {
		word = "asked about because of "
		if f.sure == maybe {
			word = "asked about, since it may be a match of "
		}
	}
	v.why = word + describe(rule)
	if b == agenttool.Ask && !p.Mode.Asks() && p.Mode != Bypass {
		v.behavior, v.why = agenttool.Deny, v.why+", and mode "+string(p.Mode)+" denies what would ask"
	}
	return v
}

// unsure is the verdict for a deny rule that may match, depending on an unknown part of the call.
func (p Policy) unsure(f finding) verdict {
	v := p.byRule(agenttool.Ask, f)
	v.why = "part of the command is not known, and may be denied by " + describe(v.rules[0])
	if f.why != "" {
		v.why = f.why + "; it may run what is denied by " + describe(v.rules[0])
	}
	if !p.Mode.Asks() {
		v.behavior = agenttool.Deny
	}
	return v
}

// secret returns the first secret whose content the call reads. What tools and commands of the sandbox see without its secrets is none.
func (p Policy) secret(r Request) (string, bool) {
	if p.Secret == nil {
		return "", false
	}
	for _, path := range r.Facts.Reads {
		spelled := filepath.Clean(path.Absolute)
		if (p.Confines || !r.RunsCode) && p.Cut != nil && path.Resolved == spelled && p.Cut(spelled) {
			continue
		}
		if !path.Names && (p.Secret(spelled) || path.Resolved != spelled && p.Secret(path.Resolved)) {
			return path.Spelling, true
		}
	}
	return "", false
}

// stored returns the first secret that git prints out of its objects.
func (p Policy) stored(r Request) (string, bool) {
	for _, path := range r.Facts.Reads {
		if path.Stored && p.SecretName != nil && p.SecretName(path.Absolute) {
			return path.Spelling, true
		}
	}
	return "", false
}

// privatePath returns the first path of toolhost's own that the call touches.
func privatePath(f *agenttool.Facts) (string, bool) {
	for _, paths := range [2][]agenttool.Path{f.Reads, f.Writes} {
		for _, p := range paths {
			if p.Private {
				return p.Spelling, true
			}
		}
	}
	return "", false
}

// runsUnasked reports whether the call is proved to do nothing but read what may be read.
func (p Policy) runsUnasked(r Request) bool {
	f := r.Facts
	if f.ReadOnly != agenttool.Yes || f.PathsComplete != agenttool.Yes || len(f.Writes) > 0 || f.OpenWorld != agenttool.No || p.foreign(r) {
		return false
	}
	return !slices.ContainsFunc(f.Reads, p.outside)
}

// classifierRole is the record of the classifier (AT-167): it has completed; its proof lets a call run, and an unproved call
// asks, and is never denied. The reason's detail is its reason.
var classifierRole = json.RawMessage(`{"classifier_ref":"toolhost.classify","status":"completed","may":["approve","recommend"]}`)

// listsWorktrees reports whether git itself writes there which work trees a repository has. The sandbox holds the files among them that git
// obeys.
func listsWorktrees(f *agenttool.Facts, w agenttool.Path) bool {
	if w.By < 1 || w.By > len(f.Parts) || w.Root == "" || !strings.HasSuffix(w.Resolved, "/.git/worktrees") {
		return false
	}
	part := &f.Parts[w.By-1]
	words := part.Argv
	if part.Means != nil && meansInRoots(f, part) {
		words = part.Means
	}
	return part.Exact && len(words) > 1 && words[0] == "git" && words[1] == "worktree"
}

// protect decides about a write to a protected path.
func (p Policy) protect(path string) verdict {
	why := path + " is protected: other programs run or obey it"
	if !p.Mode.Asks() {
		return because(agenttool.Deny, kindSafety, why+", and mode "+string(p.Mode)+" denies what would ask for that").at(path)
	}
	return because(agenttool.Ask, kindSafety, why+", so that no rule allows it").at(path)
}
