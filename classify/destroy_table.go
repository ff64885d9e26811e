package classify

import (
	"slices"
	"strings"
)

// destroys returns what a command destroys, "" if nothing is known.
func destroys(name string, args []string) string {
	switch name {
	case "rm", "rmdir", "unlink", "srm", "trash":
		return name + " deletes files"
	case "shred", "truncate", "wipe", "scrub", "blkdiscard", "wipefs", "sfdisk", "fdisk", "parted", "mkswap", "mke2fs",
		"cryptsetup", "lvremove", "vgremove", "pvremove":
		return name + " destroys content"
	case "chmod", "chown", "chgrp":
		return when(recursive(args) && slices.ContainsFunc(args, wholeSystem),
			name+" loses who may do what with a whole system")
	case "kill":
		return when(len(args) > 1 && args[len(args)-1] == "-1", "kill ends every process")
	case "redis-cli", "valkey-cli":
		return when(slices.ContainsFunc(args, func(a string) bool { return listedFold(redisRemoves, a) }), name+" removes keys")
	case "mysqladmin":
		return when(hasAny(args, "drop"), "mysqladmin removes a database")
	case "dd":
		return when(anyPrefix(args, "of="), "dd writes over its output")
	case "find":
		return when(slices.Contains(args, "-delete"), "find removes files")
	case "git":
		return destroysGit(args)
	case "rsync":
		return when(anyPrefix(args, "--del", "--remove-source"), "rsync removes files")
	case "tar", "bsdtar":
		return when(anyPrefix(args, "--delete", "--remove-files", "--recursive-unlink"), "tar removes files")
	case "crontab":
		return when(slices.Contains(args, "-r"), "crontab removes the table")
	case "userdel", "groupdel", "deluser", "delgroup":
		return name + " removes an account"
	case "kubectl", "oc":
		return when(slices.Contains(args, "delete") || slices.Contains(args, "drain"), name+" removes resources")
	case "docker", "podman", "nerdctl":
		return when(hasAny(args, "rm", "rmi", "prune", "kill") || slices.Contains(args, "down") && hasAny(args, "-v", "--volumes"),
			name+" removes containers, images or volumes")
	case "terraform", "tofu", "pulumi":
		return when(hasAny(args, "destroy", "-destroy"), name+" destroys resources")
	case "aws":
		return when(hasAny(args, "rm", "rb") || anyPrefix(args, "delete-", "terminate-"), "aws removes resources")
	case "gcloud", "az", "gh", "heroku", "fly", "flyctl":
		return when(hasAny(args, "delete", "destroy", "apps:destroy"), name+" removes resources")
	case "dropdb", "dropuser":
		return name + " removes a database or a user"
	}
	if strings.HasPrefix(name, "mkfs") {
		return name + " makes a file system over what was there"
	}
	return ""
}

// destroysGit looks at a git command line; words before the subcommand are skipped.
func destroysGit(args []string) string {
	sub, rest := gitSubcommand(args)
	short := func(letters string) bool { return anyLetter(rest, letters) }
	switch sub {
	case "push":
		refs := slices.ContainsFunc(rest, func(a string) bool {
			return strings.HasPrefix(a, "+") || strings.HasPrefix(a, ":") && len(a) > 1
		})
		return when(refs || short("fd") || anyPrefix(rest, "--forc", "--mi", "--de", "--pru"),
			"`git push` replaces or removes what is on the remote")
	case "reset":
		return when(anyPrefix(rest, "--h", "--merge", "--k"), "`git reset` discards changes")
	case "clean":
		return when((short("f") || anyPrefix(rest, "--f")) && !short("n") && !anyPrefix(rest, "--dr"), "`git clean` deletes files")
	case "checkout":
		return when(short("f") || anyPrefix(rest, "--f", "--ours", "--theirs") || hasAny(rest, "--", ".") || anyPrefix(rest, "./"),
			"`git checkout` discards changes")
	case "switch":
		return when(short("fC") || anyPrefix(rest, "--f", "--dis"), "`git switch` discards changes")
	case "restore":
		staged := anyPrefix(rest, "--st") || short("S")
		return when(!staged || anyPrefix(rest, "--w") || short("W"), "`git restore` discards changes")
	case "branch":
		return when(short("DdMf") || anyPrefix(rest, "--de", "--forc"), "`git branch` removes or replaces a branch")
	case "tag":
		return when(short("df") || anyPrefix(rest, "--d", "--forc"), "`git tag` removes or replaces a tag")
	case "stash":
		return when(hasAny(rest, "drop", "clear"), "`git stash` throws changes away")
	case "reflog":
		return when(hasAny(rest, "expire", "delete"), "`git reflog` forgets commits")
	case "worktree":
		return when(hasAny(rest, "remove", "prune"), "`git worktree` deletes files")
	case "update-ref":
		return when(short("d") || slices.Contains(rest, "--stdin"), "`git update-ref` removes references")
	case "remote":
		return when(hasAny(rest, "remove", "rm", "prune"), "`git remote` removes references")
	case "rm":
		return when(!anyPrefix(rest, "--ca", "--dr") && !short("n"), "`git rm` deletes files")
	case "filter-branch", "filter-repo", "prune", "gc":
		return "`git " + sub + "` removes files or commits"
	}
	return ""
}

// gitSubcommand skips git's own options.
func gitSubcommand(args []string) (string, []string) {
	for i := 0; i < len(args); i++ {
		switch a := args[i]; {
		case a == "-C" || a == "-c" || a == "--git-dir" || a == "--work-tree" || a == "--namespace" || a == "--exec-path" ||
			a == "--config-env" || a == "--super-prefix":
			i++
		case !strings.HasPrefix(a, "-"):
			return a, args[i+1:]
		}
	}
	return "", nil
}

// redisRemoves are the commands of Redis that remove keys.
var redisRemoves = []string{"flushall", "flushdb", "del", "unlink", "getdel"}

func listedFold(list []string, word string) bool {
	return slices.ContainsFunc(list, func(each string) bool { return strings.EqualFold(each, word) })
}

// destroysQuery returns what a text in the language of a database destroys.
func destroysQuery(text string) string {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return r != '_' && (r < 'a' || r > 'z') && (r < '0' || r > '9') && r < 0x80
	})
	for i, word := range words {
		after := ""
		if i+1 < len(words) {
			after = words[i+1]
		}
		switch {
		case word == "drop" && after != "", word == "truncate" && after != "", word == "delete" && after == "from",
			word == "flushall", word == "flushdb":
			return "the query removes data: " + word
		}
	}
	return ""
}

func recursive(args []string) bool { return anyLetter(args, "R") || anyPrefix(args, "--recursive") }

// wholeSystem reports whether a path is the root, a directory right below it, or a home.
func wholeSystem(arg string) bool {
	dir, all := strings.CutSuffix(arg, "/*")
	dir = strings.TrimSuffix(dir, "/")
	if strings.HasPrefix(arg, "/") && (dir == "" || strings.LastIndexByte(dir, '/') == 0) {
		return true
	}
	return dir == "~" || dir == "$HOME" || all && dir == ""
}

func when(cond bool, what string) string {
	if cond {
		return what
	}
	return ""
}

func hasAny(args []string, words ...string) bool {
	return slices.ContainsFunc(args, func(a string) bool { return slices.Contains(words, a) })
}

func anyPrefix(args []string, beginnings ...string) bool {
	return slices.ContainsFunc(args, func(a string) bool {
		return slices.ContainsFunc(beginnings, func(b string) bool { return strings.HasPrefix(a, b) })
	})
}

// anyLetter reports whether one of the letters is in a group of short options.
func anyLetter(args []string, letters string) bool {
	return slices.ContainsFunc(args, func(a string) bool {
		return len(a) > 1 && a[0] == '-' && a[1] != '-' && strings.ContainsAny(a[1:], letters)
	})
}

// isDisk reports whether a path is a disk.
func isDisk(text string) bool {
	for _, disk := range []string{"sd", "hd", "vd", "xvd", "nvme", "mmcblk", "disk", "rdisk", "loop", "dm-", "md", "mapper/"} {
		if strings.HasPrefix(text, "/dev/"+disk) {
			return true
		}
	}
	return false
}
