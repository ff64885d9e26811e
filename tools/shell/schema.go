package shell

// description describes the tool to a model.
const description = "Runs a command line with bash and returns its output. Every call is a new shell with an empty stdin: " +
	"variables and functions do not last; a cd in the foreground and files in /tmp do. Commands run in a sandbox: they write the " +
	"workspace and /tmp, and reach the hosts that they name. Every command is a job: one that is still running after timeout_ms, or " +
	"that waits for input, goes on as job j1, j2, … for shell_output, shell_input and shell_kill. Start servers with run_in_background. " +
	"Long output keeps its beginning and end; all of it is stored. Prefer the file and search tools for reading, editing and finding."

// inputSchema is the schema of a model's input.
const inputSchema = `{
  "type": "object",
  "additionalProperties": false,
  "required": ["command"],
  "properties": {
    "command": {"type": "string", "minLength": 1, "maxLength": 65536},
    "description": {"type": "string", "description": "what it does, in a few words"},
    "timeout_ms": {"type": "integer", "minimum": 1, "maximum": 3600000, "default": 120000,
      "description": "how long to wait for its end; it goes on then"},
    "run_in_background": {"type": "boolean", "description": "do not wait at all"},
    "cwd": {"type": "string", "minLength": 1, "description": "directory in the workspace to start in"},
    "tty": {"type": "boolean", "description": "run it on a terminal"},
    "columns": {"type": "integer", "minimum": 1, "maximum": 1000},
    "rows": {"type": "integer", "minimum": 1, "maximum": 1000}
  }
}`

// runtimeSchema is the schema of the normalised input.
const runtimeSchema = `{
  "type": "object",
  "additionalProperties": false,
  "required": ["command", "timeout_ms", "cwd"],
  "properties": {
    "command": {"type": "string", "minLength": 1, "maxLength": 65536},
    "description": {"type": "string"},
    "timeout_ms": {"type": "integer", "minimum": 1, "maximum": 3600000},
    "run_in_background": {"type": "boolean"},
    "cwd": {"type": "string", "description": "absolute path"},
    "tty": {"type": "boolean"},
    "columns": {"type": "integer"},
    "rows": {"type": "integer"}
  }
}`

// Parts of the schemas of results.
const (
	stateSchema   = `{"enum": ["running", "waiting_for_input", "waiting_for_user", "lingering", "ended"]}`
	namesSchema   = `{"type": "array", "items": {"type": "string"}}`
	countSchema   = `{"type": "integer", "minimum": 0}`
	processSchema = `{
      "type": "object",
      "additionalProperties": false,
      "required": ["pid", "command"],
      "properties": {"pid": {"type": "integer"}, "command": {"type": "string"}}
    }`
	waitSchema = `{
      "type": "object",
      "additionalProperties": false,
      "required": ["pid", "command", "on"],
      "properties": {"pid": {"type": "integer"}, "command": {"type": "string"}, "on": {"enum": ["terminal", "stdin"]}}
    }`
	portsSchema = `{"type": "array", "items": {
      "type": "object",
      "additionalProperties": false,
      "required": ["address", "port", "pid", "command"],
      "properties": {"address": {"type": "string"}, "port": {"type": "integer"}, "pid": {"type": "integer"}, "command": {"type": "string"}}
    }}`
)

// outputSchema is the schema of the structured content. The streams are cleaned and cut; the byte counts are not.
const outputSchema = `{
  "type": "object",
  "additionalProperties": false,
  "required": ["job", "state", "exit_code", "timed_out", "duration_ms", "cwd", "stdout", "stderr", "stdout_bytes", "stderr_bytes",
    "stdout_truncated", "stderr_truncated", "cursor", "sandbox"],
  "properties": {
    "job": {"type": "string"},
    "state": ` + stateSchema + `,
    "exit_code": {"type": ["integer", "null"], "description": "null while it runs, and when a signal ended it"},
    "signal": {"type": "string"},
    "timed_out": {"type": "boolean", "description": "ended by the time limit of all jobs; not by timeout_ms, which ends nothing"},
    "duration_ms": ` + countSchema + `,
    "cwd": {"type": "string"},
    "stdout": {"type": "string"},
    "stderr": {"type": "string"},
    "stdout_bytes": ` + countSchema + `,
    "stderr_bytes": ` + countSchema + `,
    "stdout_truncated": {"type": "boolean"},
    "stderr_truncated": {"type": "boolean"},
    "cursor": {"type": "integer", "minimum": 0, "description": "end of the output in this result, for shell_output"},
    "still_held_by": {"type": "array", "items": ` + processSchema + `},
    "running": ` + namesSchema + `,
    "waits_for": ` + waitSchema + `,
    "ports": ` + portsSchema + `,
    "sandbox": {
      "type": "object",
      "additionalProperties": false,
      "required": ["profile", "level"],
      "properties": {
        "profile": {"enum": ["read_only", "workspace", "unconfined"]},
        "level": {"enum": ["full", "landlock+notify", "landlock", "none"]},
        "partial": {"type": "array", "items": {"type": "string"}, "description": "what is protected and could not be covered"}
      }
    },
    "sandbox_violations": {"type": "array", "items": {
      "type": "object",
      "additionalProperties": false,
      "required": ["wall", "certain"],
      "properties": {
        "wall": {"enum": ["protected_name", "egress", "tripwire", "file_system", "network"]},
        "path": {"type": "string"}, "host": {"type": "string"}, "call": {"type": "string"}, "rule": {"type": "string"},
        "grant": {"type": "string", "description": "what would permit it, for agenttool/decide"},
        "detail": {"type": "string"}, "certain": {"type": "boolean"}
      }
    }},
    "hosts": {"type": "array", "items": {
      "type": "object",
      "description": "reached, or tried: an allowed host without bytes did not answer",
      "additionalProperties": false,
      "required": ["host", "allowed", "bytes_sent", "bytes_received"],
      "properties": {
        "host": {"type": "string"}, "port": ` + countSchema + `, "allowed": {"type": "boolean"},
        "bytes_sent": ` + countSchema + `, "bytes_received": ` + countSchema + `
      }
    }},
    "changed_files": {"type": "array", "items": {
      "type": "object",
      "description": "files of the machine that the command changed so far, as the sandbox saw it; absent where it sees none",
      "additionalProperties": false,
      "required": ["path", "change"],
      "properties": {
        "path": {"type": "string"}, "change": {"enum": ["created", "written", "renamed", "removed"]},
        "from": {"type": "string", "description": "the name before"}
      }
    }},
    "more_changes": {"type": "integer", "minimum": 1, "description": "changes of files that are not listed"},
    "more_hosts": {
      "type": "object",
      "description": "attempts to reach hosts that are not listed",
      "additionalProperties": false,
      "required": ["attempts", "bytes_sent", "bytes_received"],
      "properties": {"attempts": ` + countSchema + `, "bytes_sent": ` + countSchema + `, "bytes_received": ` + countSchema + `}
    }
  }
}`

// The schemas of the tools for jobs.
const (
	readSchema = `{
  "type": "object",
  "additionalProperties": false,
  "required": ["job"],
  "properties": {
    "job": {"type": "string", "minLength": 1},
    "cursor": {"type": "integer", "minimum": 0, "description": "offset in the whole output; default: where the last reading ended"},
    "wait_ms": {"type": "integer", "minimum": 0, "maximum": 300000, "description": "for new output, or for until"},
    "until": {"type": "string", "description": "exit, match:REGEX or quiet:MS; wait_ms is 30000 then"},
    "tail": {"type": "integer", "minimum": 1, "maximum": 10000, "description": "the last lines instead"},
    "grep": {"type": "string", "minLength": 1, "description": "the lines that match (RE2) instead"},
    "stream": {"enum": ["stdout", "stderr"]}
  }
}`
	feedSchema = `{
  "type": "object",
  "additionalProperties": false,
  "required": ["job"],
  "properties": {
    "job": {"type": "string", "minLength": 1},
    "text": {"type": "string", "maxLength": 65536, "description": "sent as it is: end a line with \n"},
    "keys": {"type": "array", "maxItems": 100, "items": {"type": "string"}, "description": "sent after text: enter, ctrl-c, up, f1, …"},
    "eof": {"type": "boolean", "description": "then end its input"},
    "columns": {"type": "integer", "minimum": 1, "maximum": 1000},
    "rows": {"type": "integer", "minimum": 1, "maximum": 1000},
    "wait_ms": {"type": "integer", "minimum": 0, "maximum": 300000, "default": 1000, "description": "for its answer"}
  }
}`
	killSchema = `{
  "type": "object",
  "additionalProperties": false,
  "required": ["job"],
  "properties": {
    "job": {"type": "string", "minLength": 1},
    "signal": {"type": "string", "default": "TERM"},
    "grace_ms": {"type": "integer", "minimum": 0, "maximum": 60000, "default": 2000, "description": "until KILL"}
  }
}`
	readingSchema = `{
  "type": "object",
  "additionalProperties": false,
  "required": ["job", "state", "exit_code", "cursor", "next_cursor", "bytes", "lines", "text", "more"],
  "properties": {
    "job": {"type": "string"},
    "state": ` + stateSchema + `,
    "exit_code": {"type": ["integer", "null"]},
    "signal": {"type": "string"},
    "cursor": ` + countSchema + `,
    "next_cursor": ` + countSchema + `,
    "bytes": ` + countSchema + `,
    "lines": ` + countSchema + `,
    "text": {"type": "string"},
    "more": {"type": "boolean"},
    "missing": {
      "type": "object",
      "additionalProperties": false,
      "required": ["from", "to", "reason"],
      "properties": {"from": ` + countSchema + `, "to": ` + countSchema + `, "reason": {"type": "string"}}
    },
    "matched": {"type": "boolean"},
    "matches": {"type": "integer", "minimum": 0, "description": "lines that grep found"},
    "waits_for": ` + waitSchema + `,
    "ports": ` + portsSchema + `,
    "running": ` + namesSchema + `,
    "killed": ` + namesSchema + `
  }
}`
)
