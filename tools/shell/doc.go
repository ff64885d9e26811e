// Package shell is the tool that runs a command line with bash.
//
// A call is one fresh, non-interactive bash: its own session, no terminal unless it asks for one, an environment that is
// built ([Environ]) and a directory that was located before the decision and is entered by descriptor.
//
//	tools := shell.New(w, shell.Options{Environ: os.Environ(), Jobs: jobs})
//	call, err := tools[0].Bind(scope, []byte(`{"command":"go test ./...","timeout_ms":60000}`))
//	out, err := call.Run(ctx, reporter)
//
// # Jobs
//
// Every command is a job of toolhost/tools/job: to run it in the foreground is to start it and to wait. A command that has not
// ended when its timeout_ms is over, or that waits for input, is not ended: the call is answered and the job goes on. A command
// ends when its process does, not when its pipes are closed; who still holds a pipe then is named, and is part of the job. When a
// call is cancelled, its job gets SIGTERM, a grace, and SIGKILL, with all that descends from it.
//
// The other three tools read what a job says, by cursor; answer it; and end it. A line to a shell at its
// prompt is judged like a command; what goes to a program that may run it is unknown, see [job.Input.Reader].
//
// # Output
//
// The result of a command holds the beginning and the end of each stream within fixed bounds, cleaned of escape sequences; every
// byte of output that is longer, or that outlives its call, is in a payload of the session.
//
// # Where commands run
//
// A cd in the foreground moves the session's directory; variables and functions end with their command. The facts of a command
// are those of toolhost/classify, and the sandbox of toolhost/sandbox holds them: what is proved to read only runs in a
// profile that can do no more. It also gets an environment that keeps it so, and programs that lie in the workspace are
// refused then. Without a sandbox a command runs as the person does.
package shell
