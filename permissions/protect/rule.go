package protect

// Rule says why a name is protected. It is a stable word, fit for records, rules and grants.
type Rule string

// The rules.
const (
	VCSHooks         Rule = "vcs-hooks"         // programs that version control runs
	VCSConfig        Rule = "vcs-config"        // version control's configuration and pointers, which name programs
	ShellStartup     Rule = "shell-startup"     // files that shells and sessions run when they start
	EditorConfig     Rule = "editor-config"     // configuration of editors, debuggers and agents
	ToolConfig       Rule = "tool-config"       // configuration of build and package tools
	ToolhostSettings Rule = "toolhost-settings" // toolhost's own settings
	SSH              Rule = "ssh"               // keys, and the lists of accounts that may log in
	Credentials      Rule = "credentials"       // programs and keys that prove who the person is
	Secret           Rule = "secret"            // must not be read
	Denied           Rule = "denied"            // the user forbade every write
)

// Hold is how commands are kept from a name. File tools always ask.
type Hold uint8

// The holds, weakest first.
const (
	OnlyAsks Hold = iota // commands write it
	Reports              // commands write it, and a change is put before the person
	Seals                // commands cannot write it
)
