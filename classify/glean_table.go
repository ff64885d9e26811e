package classify

import (
	"strings"

	"toolhost/classify/program"
)

// taker is the kind of text that a program takes; zero if it takes none.
type taker uint8

const (
	shellText     taker = iota + 1
	aliasText           // NAME=TEXT, for the shell
	scriptText          // in a language with files, processes and strings
	queryText           // for a database
	editorText          // commands of an editor, ! runs one of the shell
	filterText          // sed or awk
	gitText             // aliases and settings
	subscriptText       // names of variables, whose subscripts are evaluated
)

// reads reports whether a program of this kind takes text from stdin.
func (t taker) reads() bool {
	return t == shellText || t == scriptText || t == queryText || t == editorText
}

var takers = takerTable(map[taker]string{
	shellText: "sh bash dash ash zsh ksh mksh fish busybox su eval source . trap ssh rsh mosh script watch parallel entr " +
		"bind at batch tmux screen",
	aliasText: "alias",
	scriptText: "python python2 python3 pypy pypy3 perl ruby irb node nodejs deno bun php lua Rscript osascript tclsh " +
		"expect julia groovy mongo mongosh",
	queryText: "psql pgcli mysql mariadb mycli sqlite3 sqlite duckdb sqlcmd clickhouse-client cqlsh sqlplus bq " +
		"snowsql redis-cli valkey-cli",
	editorText:    "vi vim nvim gvim view ex ed emacs vimdiff rvim",
	filterText:    "sed gsed awk gawk mawk nawk",
	gitText:       "git",
	subscriptText: "test [ printf read unset mapfile readarray wait compgen complete",
})

func takerTable(kinds map[taker]string) map[string]taker {
	table := map[string]taker{}
	for kind, names := range kinds {
		for name := range strings.FieldsSeq(names) {
			table[name] = kind
		}
	}
	return table
}

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

// wrappers run the command that is among their words.
var wrappers = program.WordSet(`sudo doas su pkexec run0 runuser setpriv env genv timeout gtimeout nice gnice nohup gnohup stdbuf time gtime xargs gxargs
	parallel command builtin exec eval setsid ionice chrt taskset flock watch strace ltrace gdb perf script unshare nsenter chroot
	systemd-run busybox toybox find gfind fd fdfind ssh slogin autossh mosh docker podman kubectl oc nerdctl npx npm pnpm pnpx yarn bun
	bunx poetry uv uvx pipx pipenv direnv mise devbox nix-shell nix make cargo go entr coproc caffeinate proot fakeroot trap noglob
	nocorrect firejail bwrap torify proxychains tsocks unbuffer expect sg newgrp start-stop-daemon run-parts sem pee ifne chronic
	prlimit cpulimit choom cgexec numactl catchsegv valgrind rlwrap stap faketime linux32 linux64 setarch i386 x86_64 uname26
	xvfb-run dbus-run-session hyperfine watchexec nodemon concurrently cross-env cross-env-shell dotenv dotenvx doppler aws-vault op
	gosu su-exec tini dumb-init chpst setuidgid envdir softlimit lxc incus machinectl distrobox toolbox flatpak-spawn wsl vagrant rush
	docker-compose podman-compose eatmydata ts sshpass setlock daemonize at batch ccache distcc bear`)

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
