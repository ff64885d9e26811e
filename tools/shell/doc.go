// Package shell provides the tool that runs a command line with bash.
//
// A call starts a fresh, non-interactive bash. It has its own session, no terminal unless requested, an environment
// made by [Environ], and a directory that was located before the decision and is entered by descriptor.
//
//	tools := shell.New(w, shell.Options{Environ: os.Environ(), Jobs: jobs})
//	call, err := tools[0].Bind(scope, []byte(`{"command":"go test ./...","timeout_ms":60000}`))
//	out, err := call.Run(ctx, reporter)
//
// # Jobs
//
// Every command is a job of toolhost/tools/job: running it in the foreground means starting it and waiting. A command
// that is still running after its timeout_ms, or that waits for input, is not ended: the call returns and the job
// continues. A command ends when its process ends, not when its pipes are closed; processes that still hold a pipe
// are listed and remain part of the job. When a call is cancelled, all processes of its job get SIGTERM and, after a
// grace period, SIGKILL.
//
// The other three tools read the output of a job by cursor, send it input, and end it. A line to a shell at its
// prompt is judged like a command. Input to a program that may execute it is unknown, see [job.Reader].
//
// # Output
//
// The result of a command holds the beginning and the end of each stream within fixed bounds, without escape
// sequences. Longer output, and output after the end of the call, is stored completely in a payload of the session.
//
// # Where commands run
//
// A cd in the foreground changes the session's directory; variables and functions end with their command. The facts
// of a command come from toolhost/classify, and the sandbox of toolhost/sandbox enforces them: a command that
// provably only reads runs in a read-only profile. It also gets an environment that keeps it read-only, and is
// refused if one of its programs lies in the workspace. Without a sandbox a command has all rights of the user.
package shell
