// Package job runs commands as jobs. A job begins with a process and ends when nothing is left of it: neither the command
// nor anything that it started, in whatever session or group that is.
//
//	jobs := job.New(job.Options{Session: box, Owner: session})
//	j, err := jobs.Start(&job.Spec{Line: "make", Command: command})
//	reason := j.Await(ctx, job.Wait{Limit: 2 * time.Minute})
//	report := j.Report()
//	…
//	jobs.Close()
//
// Whoever starts a job may wait for it, and may stop waiting: the job goes on. Its output is kept by package output and read
// by cursor, its processes are looked at by package proc. The command has ended when its process has exited, not when
// its pipes are closed; who still holds a pipe then is named.
//
// A job dies whole. The sandbox that starts it (package sandbox) ends all that descends from it when it is told so, and when
// this process is gone. One that ends its own supervisor is known by a mark in its environment, see [Mark].
package job
