// Package settings reads the settings files of five layers and merges them, with the origin of every value. It keeps
// project files from loosening anything before the user trusts them, watches the files, and writes rules into them.
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
// Values of the command line rank between the last two layers: only a value of source policy_settings overrides them.
// Lists of all layers are joined, and each entry keeps its origin. Single values, and each entry of env.set and
// jobs.limits, come from the strongest layer that sets them. A missing file is an empty layer, except for the file
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
//	  "files": {"durability": "file"},      // none, file or full: the durability of write and edit, see below
//	  "search": {"index": "strict"},        // off, strict or watched; left out, the size of the tree decides
//	  "jobs": {"max": 50, "timeout": "0s", "output": "1GiB", "limits": {"nofile": 512, "as": "4GiB"}},
//	  "max_parallel": 10,
//	  "tools": {"disable": ["shell"]},      // clients do not see these tools, and cannot call them
//	  "redaction": {
//	    "patterns": [{"kind": "acme_token", "pattern": "acme-([0-9]{8})"}], // further secrets; the first group, or all of the match
//	    "off": ["jwt"],                     // kinds that are stored as they are; never of a project
//	    "strategy": "record"                // record, or redact: the model reads no secrets either
//	  },
//	  "retention": {                        // after the last use of a session
//	    "sessions": "720h",                 // its log and everything else
//	    "payloads": "720h",                 // its stored outputs; the records of the calls stay
//	    "size": "5GiB"                      // of all sessions: above it outputs go, the largest and oldest first
//	  },
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
// Times are hours, minutes, seconds and milliseconds in this order (1h30m, 90s, 250ms). Sizes are bytes, or up to six
// digits with KiB, MiB, GiB or TiB. Limits are those of setrlimit: as, core, data, fsize, memlock, stack (sizes or
// bytes), cpu (seconds), nofile, nproc; and of all commands of a session together: processes, memory (a size). [Schema] describes the same format for programs.
//
// write and edit change a file completely or not at all, even if this process is killed. files.durability is about
// crashes of the machine. With file, the default, the content is on disk before the file takes its name, so a crash
// leaves the old or the new content. With full, the name is on disk too when the call ends. With none the system
// decides when to write: a crash can leave a recently changed file empty, without its old content.
//
// search.index selects the cache of grep and glob between calls: none (off); an index that is compared with the
// status of every file at each call (strict); or one that is updated by kernel events (watched), which is faster in
// large trees, but notices a change through a hard link outside of the tree or through mapped memory with a delay.
// The default is strict for up to 20,000 files and watched above.
//
// A file may contain keys of a newer version. In the file's top level, in files, search and jobs, an unknown key that
// resembles no known one is reported with its place. The rest of the file then counts only where it permits nothing:
// rules that deny and ask, hooks, limits, a stricter mode or level. The permissive parts count again once the key is
// removed or known, since the key may have narrowed them. Elsewhere (permissions, a rule, sandbox, approvals, env,
// http, jobs.limits, hooks), in the administrator's file, and with [Options].Strict, an unknown key is an error like
// a misspelt one: it may forbid something that no other part of the file forbids.
//
// A misspelt key, a wrong type, a repeated key, an invalid rule or a rule that fails an example is a [Problem] with
// its place. At the start every problem is an error, and all are reported at once. Later the last valid content of
// the file stays in force, and the snapshot carries the problem.
//
// A file is not read if it is larger than 1 MiB, not a regular file, or nested more than 32 deep. The files of the
// user, the administrator and the command line may be symbolic links, but must belong to the user or root, and no
// other user may have write permission. Links are not followed to project files.
//
// # Trust
//
// Files in the workspace may only restrict, since a command, an archive or a repository may have written them: the
// project's file, the local one, and one in a root that the command line names. Their deny and ask rules count, and
// so do their mode and sandbox.require if they are at least as strict as those of the layers below. Everything else
// is left out and listed in [Settings].Untrusted until the user trusts the workspace: [Trust] pins the digest of
// exactly these items. When the digest changes, the files only restrict again, and a problem gives the reason.
// Comments, notes and restricting rules do not change the digest. It covers the content of workspace programs that a
// hook names, but not of other programs that these start. An allow rule that toolhost wrote for the user ([Remember])
// is pinned separately, and counts without trust in the rest. A table in powers.go tells for each key which values
// restrict.
//
// During a session these files also cannot loosen anything by dropping a restriction: a removed deny or ask rule, or
// a stricter mode or level that was changed, stays in force, with a problem, until the user accepts the change
// ([Watcher.Accept]).
//
// The store is a JSON file of mode 0600:
//
//	{"workspaces": {"/home/me/project": {"digest": "sha256:…", "own": ["sha256:…"], "at": "2026-11-22T10:00:00Z"}}}
//
// # Writing
//
// Adding and removing a rule change a file in place: only the text of the rule, its comma and its line. They write a new file
// beside it (.settings.json.new), wait until it is on disk, and rename it. They hold a lock (.settings.json.lock) and
// remove it afterwards. A process that is killed leaves the old file or the new one; [Open] removes its other
// leftovers.
package settings
