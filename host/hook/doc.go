// Package hook runs the commands that the user's settings name for moments of calls, and merges their answers.
//
// A hook is a program with its arguments, without a shell. It gets one JSON object on stdin, a line that ends, and may
// answer with one JSON object on stdout, of at most 1 MiB. White space alone is no opinion.
//
//	stdin    the record of the run (hook_id, hook_event, invocation_id, tool_id, matcher) with session_id, workspace,
//	         dir, mode, tool, and as far as they are known input (normalised: paths are absolute), facts, decision
//	         (after one was taken, or when a user is about to be asked) and result (after the call). Result content
//	         above 256 KiB is a preview and a reference
//	stdout   message              string: told to the user
//	         progress             string, or {"message", "percent"?}
//	         permission_result    {"behavior": "allow" | "ask" | "deny", "reason"?}
//	         updated_input        object: the input to run instead
//	         additional_context   list of strings or {"text"}: told to the model with the result
//	         stop                 {"reason"?}: the call does not run, or the model should stop after it
//	         updated_output       string, or {"content"?, "structured_content"?}: the output to return instead
//
// The events, and the keys of each besides message and additional_context:
//
//	pre_tool_use            the input is bound             progress, permission_result, updated_input, stop
//	permission_request      a user is about to be asked    the same
//	permission_decision     it is decided                  stop
//	post_tool_use           the call ran and succeeded     progress, stop, updated_output
//	post_tool_use_failure   the call ran and failed        progress, stop
//	result_persistence      before a result is kept        updated_output
//
// Any other key is an error. Exit code 0 is an answer. Before the call ([Event.Before]), 2 denies with stderr as the reason, whatever
// stdout says; after the decision, when nothing can be denied any more, it stops the call. Everything else is a failure: another code,
// a signal, a timeout, a missing program, an answer that cannot be read. A failure before the call blocks it; a failure after it is
// reported and changes nothing. The table of docs/hooks.md has all of it.
//
// A hook runs as the user, outside of any sandbox, in the workspace, in a session of its own without a terminal. Its
// environment is built: PATH without directories of the workspace, HOME, USER, LANG, LC_*, TZ, TMPDIR, TERM=dumb, TOOLHOST_HOOK, what
// its settings add, TOOLHOST_HOOK_EVENT, TOOLHOST_SESSION and TOOLHOST_WORKSPACE. It has ended when its process
// has; its background processes may go on until the session or its process ends, but cannot hold up the call. A hook that exceeds
// its time is ended with all its processes.
//
//	set, err := hook.Compile(hooks, names)
//	runs := runner.Prepare(set.For(hook.PreToolUse, "write", matches), about)
//	runner.Run(ctx, runs, subject)
//	outcome := hook.Merge(hook.PreToolUse, runs)
//
// Agent Tool v0.2.0, "tool_hook" (AT-010, AT-170 … AT-185).
package hook
