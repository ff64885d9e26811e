// Package proc reads facts about a job from the process table: its processes and their names, the processes that hold
// its output, the ports that it listens on, and whether a process is blocked reading the job's input.
//
// It reads /proc. Three principles apply throughout.
//
//   - Processes come and go between any two reads. An ended process is left out without an error, and the start time
//     distinguishes a process from a later one with the same number.
//   - Inaccessible facts (another user's process, one that is not dumpable) are left out as well. Nothing is guessed.
//   - Work is bounded, whatever a job does: there are limits for descriptors, threads and processes. A process could
//     block reads of its memory and its open files, so these have a time limit.
//
// All text that processes control is converted to one line of graphic characters before it is returned.
package proc
