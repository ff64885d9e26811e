package shell

// description is what a model reads of the tool.
const description = "Runs a command line with bash and returns what it printed. Every call is a new shell without a " +
	"terminal and with an empty stdin: cd, variables and functions do not last; files in /tmp do. Commands run in a " +
	"sandbox: they write the workspace and /tmp, and reach the hosts that they name. Long output keeps its beginning and end; all of it is stored and its " +
	"reference given. Prefer the file and search tools for reading, editing and finding."

// inputSchema is what a model may send.
const inputSchema = `{
  "type": "object",
  "additionalProperties": false,
  "required": ["command"],
  "properties": {
    "command": {"type": "string", "minLength": 1, "maxLength": 65536},
    "description": {"type": "string", "description": "what it does, in a few words"},
    "timeout_ms": {"type": "integer", "minimum": 1, "maximum": 3600000, "default": 120000,
      "description": "ended after this time"},
    "run_in_background": {"type": "boolean", "description": "not available yet"},
    "cwd": {"type": "string", "minLength": 1, "description": "directory in the workspace to start in"},
    "tty": {"type": "boolean", "description": "not available yet"}
  }
}`

// runtimeSchema is the input as it runs, with everything filled in.
const runtimeSchema = `{
  "type": "object",
  "additionalProperties": false,
  "required": ["command", "timeout_ms", "cwd"],
  "properties": {
    "command": {"type": "string", "minLength": 1, "maxLength": 65536},
    "description": {"type": "string"},
    "timeout_ms": {"type": "integer", "minimum": 1, "maximum": 3600000},
    "cwd": {"type": "string", "description": "absolute path"}
  }
}`

// outputSchema is the structured content of a result. The streams are cleaned and cut; the byte counts are not.
const outputSchema = `{
  "type": "object",
  "additionalProperties": false,
  "required": ["exit_code", "timed_out", "duration_ms", "cwd", "stdout", "stderr", "stdout_bytes", "stderr_bytes",
    "stdout_truncated", "stderr_truncated", "sandbox"],
  "properties": {
    "exit_code": {"type": ["integer", "null"]},
    "signal": {"type": "string"},
    "timed_out": {"type": "boolean"},
    "duration_ms": {"type": "integer", "minimum": 0},
    "cwd": {"type": "string"},
    "stdout": {"type": "string"},
    "stderr": {"type": "string"},
    "stdout_bytes": {"type": "integer", "minimum": 0},
    "stderr_bytes": {"type": "integer", "minimum": 0},
    "stdout_truncated": {"type": "boolean"},
    "stderr_truncated": {"type": "boolean"},
    "still_held_by": {"type": "array", "items": {
      "type": "object",
      "additionalProperties": false,
      "required": ["pid", "command"],
      "properties": {"pid": {"type": "integer"}, "command": {"type": "string"}}
    }},
    "killed_leftovers": {"type": "integer", "minimum": 1},
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
    "running": {"type": "array", "items": {"type": "string"}}
  }
}`
