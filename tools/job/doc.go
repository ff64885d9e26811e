// Package job runs commands as jobs. A job begins with a process and ends when the command and all processes that it
// started have ended, in any session or group.
//
//	jobs := job.New(job.Options{Session: box, Owner: session})
//	j, err := jobs.Start(ctx, &job.Spec{Line: "make", Command: command})
//	reason := j.Await(ctx, job.Wait{Limit: 2 * time.Minute})
//	report := j.Report()
//	…
//	jobs.Close()
//
// The caller that starts a job may wait for it, and may stop waiting: the job continues. Package output stores the
// output, which is read by cursor, and package proc examines the processes. The command has ended when its process
// has exited, not when its pipes are closed; processes that still hold a pipe are then listed.
//
// A job ends as a whole. The sandbox that starts it (package sandbox) ends all descendants on request, and when this
// process ends. If a job kills its own supervisor, its processes are found by a mark in their environment, see
// [Mark].
package job
