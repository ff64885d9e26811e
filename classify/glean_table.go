package classify

import "strings"

// removingCalls are what a script spells where it removes files or data.
var removingCalls = []string{
	"rmtree", "os.remove", "os.unlink", "os.rmdir", "os.removedirs", ".unlink(", "unlink(", "unlink ", "unlinkSync",
	"fs.rm", "rmSync", "rmdir", "rimraf", "FileUtils.rm", "FileUtils.remove", "File.delete", "Dir.delete", ".rmtree",
	"remove_tree", "Deno.remove", "dropDatabase(", ".drop()", ".deleteMany(", ".deleteOne(",
}

// runningCalls are what a script spells where it runs commands, whose texts are among its strings.
var runningCalls = []string{
	"system", "popen", "Popen", "subprocess", "exec", "spawn", "`", "%x", "qx", "passthru", "Open3", "do shell script",
	"Deno.Command",
}

// namesCommand reports whether what a variable holds is run by those who read it: EDITOR, GIT_SSH_COMMAND.
func namesCommand(variable string) bool {
	switch variable {
	case "PS0", "PS1", "PS2", "PS4", "LESSOPEN", "LESSCLOSE", "GIT_EXTERNAL_DIFF", "SHELL", "VISUAL", "BROWSER", "GIT_SSH":
		return true
	}
	for _, end := range []string{"EDITOR", "PAGER", "COMMAND", "Command", "ASKPASS", "_RSH"} {
		if strings.HasSuffix(variable, end) {
			return true
		}
	}
	return strings.HasPrefix(variable, "GIT_CONFIG_VALUE_")
}
