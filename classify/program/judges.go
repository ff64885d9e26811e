package program

import "sync"

// judge finds out what the words of a command line mean that no table can say.
type judge = func(*Args, *Use)

// judgeIndex are the judges by the names that the tables give them. They stand in the file with the name
// of the table, or of the program. It is filled at the first use, since some judges look up descriptions.
var judgeIndex struct {
	once   sync.Once
	byName map[string]judge
}

func judges() map[string]judge {
	judgeIndex.once.Do(func() {
		judgeIndex.byName = map[string]judge{
			"effects": effectsAlone,
			"busybox": judgeBusybox, "entr": judgeEntr, "env": judgeEnv, "flock": judgeFlock, "parallel": judgeParallel, "watch": judgeWatch,
			"chrt": judgeChrt, "xargs": judgeXargs, "shell": judgeShell, "otherShell": judgeOtherShell,
			"change": judgeChange, "copy": judgeCopy, "destroyer": judgeDestroyer, "mkdir": judgeMkdir, "mktemp": judgeMktemp,
			"move": judgeMove, "split": judgeSplit, "date": judgeDate, "dd": judgeDD, "here": judgeHere, "seq": judgeSeq, "sleep": judgeSleep,
			"tree": judgeTree, "fd": judgeFd, "fdSearch": judgeFdSearch, "rg": judgeRg, "ag": judgeAg,
			"packer": judgePacker, "tar": judgeTar, "tarUse": judgeTarUse, "unzip": judgeUnzip, "zipinfo": judgeZipinfo,
			"find": judgeFind,
			"ar":   judgeAr, "bat": judgeBat, "xmllint": judgeXMLLint, "diff": judgeDiff, "iconv": judgeIconv, "shuf": judgeShuf, "pdftotext": judgePDFText,
			"strings": judgeStrings, "xxd": judgeXxd, "editor": judgeEditor, "less": judgeLess, "man": judgeMan, "more": judgeMore,
			"tput": judgeTput, "grep": judgeGrep, "ldconfig": judgeLdconfig, "ldd": judgeLdd, "names": judgeNames, "object": judgeObject,
			"sed": judgeSed, "awk": judgeAwk, "jq": judgeJq, "yq": judgeYq,
			"builds": judgeBuilds, "cargoMetadata": judgeCargoMetadata, "infrastructure": judgeInfrastructure, "make": judgeMake,
			"dpkg": judgeDpkg, "packages": judgePackages, "pipInstall": judgePipInstall, "pipList": judgePipList, "rpm": judgeRPM,
			"goEnv": judgeGoEnv, "gofmt": judgeGofmt, "goInstall": judgeGoInstall, "goList": judgeGoList, "goModEdit": judgeGoModEdit,
			"goPackages": judgeGoPackages, "goTool": judgeGoTool, "interpreter": judgeInterpreter, "node": judgeNode, "ownLanguage": judgeOwnLanguage,
			"php": judgePHP, "python": judgePython, "npm": judgeNpm, "npmInstall": judgeNpmInstall, "packageManager": judgePackageManager,
			"uv":    judgeUv,
			"bwrap": judgeBwrap, "su": judgeSu, "sudo": judgeSudo, "crontab": judgeCrontab, "getent": judgeGetent, "sysctl": judgeSysctl,
			"free": judgeFree, "hostname": judgeHostname, "kill": JudgeKill, "lsof": judgeLsof, "sends": judgeSends, "ss": judgeSS,
			"top": judgeTop, "vmstat": judgeVmstat, "ip": judgeIP, "netstat": judgeNetstat, "plutil": judgePlutil, "vm_stat": judgeVMStat,
			"aws": judgeAWS, "forge": judgeForge, "gh": judgeGh, "ghAPI": judgeGhAPI, "containerCopy": judgeContainerCopy,
			"dockerRun": judgeDockerRun, "dockerStats": judgeDockerStats, "images": judgeImages, "inside": judgeInside, "copies": judgeCopies,
			"curl": judgeCurl, "dig": judgeDig, "hostsAmongWords": hostsAmongWords, "netcat": judgeNetcat, "ping": judgePing,
			"removesDatabase": removesDatabase, "removesKeys": removesKeys, "ssh": judgeSSH, "wget": judgeWget, "keygen": judgeKeygen,
			"openSSL": judgeOpenSSL, "sshAdd": judgeSSHAdd,
			"git": judgeGit, "gitApply": judgeGitApply, "gitArchive": judgeGitArchive, "gitBlame": judgeGitBlame, "gitBranch": judgeGitBranch,
			"gitCheckout": judgeGitCheckout, "gitClean": judgeGitClean, "gitClone": judgeGitClone, "gitConfig": judgeGitConfig,
			"gitDiff": judgeGitDiff, "gitForeach": judgeGitForeach, "gitFormatPatch": judgeGitFormatPatch, "gitFormats": judgeGitFormats,
			"gitGrep": judgeGitGrep, "gitInit": judgeGitInit, "gitLFS": judgeGitLFS, "gitLog": judgeGitLog, "gitLooks": gitLooks,
			"gitPush": judgeGitPush, "gitReflog": judgeGitReflog, "gitRemotePrune": judgeGitRemotePrune, "gitRemoteShow": judgeGitRemoteShow,
			"gitRemotes": judgeGitRemotes, "gitRemove": judgeGitRemove, "gitReplace": judgeGitReplace, "gitRestore": judgeGitRestore,
			"gitShow": judgeGitShow, "gitStash": judgeGitStash, "gitStashList": judgeGitStashList, "gitSubmodules": judgeGitSubmodules,
			"gitSwitch": judgeGitSwitch, "gitSymbolicRef": judgeGitSymbolicRef, "gitTag": judgeGitTag, "gitWorktree": judgeGitWorktree,
		}
	})
	return judgeIndex.byName
}
