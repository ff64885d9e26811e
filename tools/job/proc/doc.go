// Package proc is what the process table says of a job: which processes it has, what they are called, who holds its
// output, which ports it listens on and whether one of them is blocked reading the job's input.
//
// It reads Linux's /proc; elsewhere it knows whether a process lives, and nothing else. Three things hold throughout.
//
//   - Processes come and go between any two reads. Who has gone is left out: it is no error, and a number that was
//     given to somebody else in the meantime is told apart by the time of birth.
//   - What may not be seen (another user's process, one that is not dumpable) is left out as well. Nothing is guessed.
//   - Work is bounded, whatever a job does: descriptors, threads and processes are counted and the counting stops. What
//     a process could make us wait for, its memory and its open files, is looked at with a time limit.
//
// All text that processes choose is made one line of graphic characters before it is returned.
package proc
