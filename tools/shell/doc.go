// Package shell is the tool that runs a command line with bash.
//
// A call is one fresh, non-interactive bash: its own session, no terminal, an empty stdin, an environment that is
// built ([Environ]) and a directory that was located before the decision and is entered by descriptor.
//
//	t := shell.New(w, shell.Options{Environ: os.Environ()})
//	call, err := t.Bind(scope, []byte(`{"command":"go test ./...","timeout_ms":60000}`))
//	out, err := call.Run(ctx, reporter)
//
// # The end of a command
//
// A command ends when its process does, not when its pipes are closed: whatever is still in them is read for a
// short while, then what the command left running in its session is ended with it, and whoever holds a pipe beyond
// that is named in the result. When its time is over, or the call is cancelled, the session and everything that
// descends from the command gets SIGTERM, a grace, and SIGKILL. The process stays an unreaped zombie until all of
// that is done, so that the kernel cannot give its number, under which the session is found, to anybody else.
//
// # Output
//
// Both streams are read as they come and kept within fixed bounds: the text for the model is cleaned (escape
// sequences, carriage returns, cut or invalid UTF-8) and holds the beginning and the end; every byte of a stream
// that is longer goes to a payload of the session.
//
// # Limits
//
// The facts of a command are those of toolhost/classify, and the sandbox of toolhost/sandbox holds them: what is proved
// to read only runs in a profile that can do no more. It also gets an environment that keeps it so, and programs that lie in
// the workspace are refused then. In a sandbox, what a command leaves in the background goes on until the session ends,
// unless the command is ended from outside.
//
// Without a sandbox, processes that leave both the session and the family tree of a command (a double fork with setsid)
// outlive it; they are named when they hold its output. Elsewhere than on Linux only the process group is ended.
package shell
