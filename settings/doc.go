// Package settings reads what people say about calls: the files of five layers, merged, with the place of every value;
// keeps what a project brings from loosening anything before a person trusts it; watches the files; and writes rules
// into them.
//
//	w, err := settings.Open(settings.Options{User: user, Project: project, Local: local, Workspace: dir, Trust: store})
//	rules := w.Current().Rules                                     // one snapshot, never changed
//	go w.Watch(ctx, func(s *settings.Settings) { ... })            // until ctx is done
//	err = settings.Remember(o, o.Local, agenttool.Allow, "Shell(go test *)")
//
// # Layers
//
// Weakest first; their names are the rule sources of the standard:
//
//	user_settings      $XDG_CONFIG_HOME/toolhost/settings.json      the person's own
//	project_settings   WORKSPACE/.toolhost/settings.json            brought by the project
//	local_settings     WORKSPACE/.toolhost/settings.local.json      the person's, in this project
//	flag_settings      a file that the command line names
//	policy_settings    /etc/toolhost/settings.json                  the administrator's
//
// Values of the command line stand between the last two: whoever has them lets a value of source policy_settings win, and no
// other. Lists of all layers are joined, each entry with its own origin; single values and the entries of env.set and
// jobs.limits are those of the strongest layer that gives them. A file that is missing is an empty layer, but for the one
// that the command line names.
//
// # Format
//
// A file is one object of JSON in UTF-8, with comments and trailing commas. Every key may be left out:
//
//	{
//	  "$schema": "…",                       // for editors, ignored
//	  "mode": "default",                    // default, accept_edits, plan, sandboxed or dont_ask; bypass is a flag only
//	  "permissions": {                      // deny, then ask, then allow, wherever they stand
//	    "allow": [
//	      "Shell(go test *)",
//	      {
//	        "rule": "Write(src/**)",
//	        "match": ["src/a.go"],          // examples that the rule must match …
//	        "not_match": ["srcs/a"],        // … and must not
//	        "note": "generated code",       // for people
//	        "added": "2026-11-22T10:00:00Z" // when it was remembered
//	      }
//	    ],
//	    "ask": ["Shell(git push *)"],
//	    "deny": ["Read(secrets)"]
//	  },
//	  "add_dirs": ["../lib", "~/notes"],    // relative to the workspace, absolute, or below ~
//	  "sandbox": {"require": "landlock"},   // none, landlock, landlock+notify or full
//	  "approvals": {
//	    "wait": "attached",                 // attached, always or never
//	    "timeout": "10m",                   // at least 1s
//	    "in_band_scopes": "session"         // session or user: the widest scope of an answer that comes through the client
//	  },
//	  "env": {"pass": ["MY_VAR"], "set": {"CI": "1"}},
//	  "http": {"callback_hosts": ["agents.example.com"]},
//	  "files": {"durability": "file"},      // none, file or full: what write and edit wait for, see below
//	  "search": {"index": "strict"},        // off, strict or watched; left out, the size of the tree decides
//	  "jobs": {"max": 50, "timeout": "0s", "output": "1GiB", "limits": {"nofile": 512, "as": "4GiB"}},
//	  "max_parallel": 10,
//	  "hooks": {                            // pre_tool_use, post_tool_use, post_tool_use_failure, permission_request,
//	    "pre_tool_use": [{                  // permission_decision, result_persistence
//	      "matcher": {"tool": "Shell", "input": "Shell(git push *)"},
//	      "command": ["./check.sh", "arg"], // no shell reads it; relative to the workspace
//	      "timeout_ms": 10000,              // 1 to 600000
//	      "env": {"A": "b"}
//	    }]
//	  }
//	}
//
// Times are hours, minutes, seconds and milliseconds in this order (1h30m, 90s, 250ms). Sizes are bytes, or up to six digits with KiB, MiB, GiB
// or TiB. Limits are those of setrlimit: as, core, data, fsize, memlock, stack (sizes or bytes), cpu (seconds), nofile,
// nproc. [Schema] is the same for programs.
//
// A change by write or edit is there as a whole or not at all, whatever becomes of this process. files.durability is about
// the machine: with file, the default, the content is on the disk before the file takes its name, so that a crash leaves the
// old or the new content; with full the name is on the disk as well when the call ends. With none the system writes the file
// when it sees fit: a crash can leave a file empty that was just changed, its old content gone too.
//
// search.index is what grep and glob keep between calls: nothing (off); an index that is compared with the status of every
// file at each call (strict); or one that the system tells of changes (watched), which is faster in large trees and does
// not see a change through a further name outside of the tree or through mapped memory at once. Left out, it is strict for up to 20,000 files and
// watched above.
//
// A file may hold keys of a newer version: in the file as a whole, in files, search and jobs, a key that resembles none is told with its
// place, and the rest of the file counts as far as it permits nothing: rules that deny and ask, hooks, limits, a stricter mode or level.
// What it permits counts again when the key is gone or known, since the key may have narrowed it. Elsewhere (permissions, a rule, sandbox,
// approvals, env, http, jobs.limits, hooks), in the administrator's file, and with [Options].Strict, such a key is as wrong as a misspelt
// one: it may forbid something, and no other part of the file can stand for it.
//
// A misspelt key, a wrong type, a key that stands twice, a rule that is none or that fails an example is a
// [Problem] with its place. At the start every problem is an error, all of them told at once. Later the file counts as it
// was when it was read last, and the snapshot has the problem.
//
// A file is not read if it is larger than 1 MiB, no regular file or nested more than 32 deep. The user's, the
// administrator's and the one of the command line may be links, but must belong to the person or root and be writable by
// nobody else. Those of a project are not followed if they are links.
//
// # Trust
//
// Files in the workspace may only restrict, since a command, an archive or a repository may have written them: the project's file, the local
// one, and one in a root that the command line names. Their deny and ask rules count, and their mode and sandbox.require if they are at least
// as strict as what the layers below say. All else is left out and listed in [Settings].Untrusted, until a person trusts the workspace:
// [Trust] pins the digest of exactly this rest. When it is another one, the files only restrict again, and a problem says why. Comments, notes, and
// rules that restrict change nothing about it. The digest holds the content of the workspace's programs that a hook names; what these
// run is not pinned. An allow rule that toolhost wrote for the person ([Remember]) is pinned by itself, and counts beside what nobody trusts.
// One table in powers.go says for each key whether its values restrict.
//
// While a session runs these files loosen nothing by losing a restriction either: a deny or ask rule that is taken out, a mode or level that becomes
// looser, stays in force, with a problem, until a person says otherwise ([Watcher.Accept]).
//
// The store is a JSON file of mode 0600:
//
//	{"workspaces": {"/home/me/project": {"digest": "sha256:…", "own": ["sha256:…"], "at": "2026-11-22T10:00:00Z"}}}
//
// # Writing
//
// [AddRule] and [RemoveRule] change a file in place: only the text of the rule, its comma and its line. They write a new file
// beside it (.settings.json.new), wait until it is on disk, and rename it, under a lock (.settings.json.lock) that is
// gone afterwards. A process that is killed leaves the old file or the new one; [Open] removes
// what else it left.
package settings
