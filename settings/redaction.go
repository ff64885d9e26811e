package settings

// The names of tools and of kinds of secrets.
var (
	toolNames   = pattern(`^[A-Za-z_][A-Za-z0-9_.:-]{0,127}$`)
	secretKinds = pattern(`^[a-z][a-z0-9_]{0,31}$`)
)

// redactModel is the word of redaction.strategy that keeps secrets from the model.
const redactModel = "redact"

const kindName = "the name of a kind of secret: up to 32 lower-case letters, digits and _"

// withoutOff returns the settings of a file in the workspace, which cannot have secrets stored.
func withoutOff(s *Settings) *Settings {
	rest := *s
	rest.RedactionOff = nil
	return &rest
}

func notOfAProject(off Value[string]) Problem {
	return Problem{File: off.Origin.File, Line: off.Origin.Line,
		Message: "redaction.off does not count in a file of the workspace, trusted or not: set it in your own settings"}
}
