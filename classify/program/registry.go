package program

import (
	_ "embed"
	"iter"
	"strings"
	"sync"
)

// The tables describe programs in the language of the package's comment. They are strings, since the first command waits for their index.
var (
	//go:embed tables/shell.txt
	shellTable string // shells, and programs that run a command among their words
	//go:embed tables/files.txt
	filesTable string // names, attributes, copies, archives
	//go:embed tables/text.txt
	textTable string
	//go:embed tables/git.txt
	gitTable string
	//go:embed tables/code.txt
	codeTable string // builds, interpreters, packages
	//go:embed tables/machine.txt
	machineTable string // processes, disks, services, users
	//go:embed tables/services.txt
	servicesTable string // networks, containers, forges
	//go:embed tables/partial.txt
	partialTable string // programs that are known in part
)

// entry is one description as its table has it. Most are never needed, so each is read at its first lookup.
type entry struct {
	text    string
	once    sync.Once
	spec    *Spec
	carried CarriedCode
}

// read returns the description, and the kinds of code that the words may carry.
func (e *entry) read() (*Spec, CarriedCode) {
	e.once.Do(func() {
		e.spec = &Spec{}
		e.spec.read(e.text)
		e.carried = carriedBy(e.spec)
	})
	return e.spec, e.carried
}

func allTables() []string {
	return []string{shellTable, filesTable, textTable, gitTable, codeTable, machineTable, servicesTable, partialTable}
}

// registry are the descriptions by the names of their programs, and the parts that several share by "define NAME".
var registry = sync.OnceValue(func() map[string]*entry {
	byName := make(map[string]*entry, 2048)
	for names, text := range entries(allTables()...) {
		e := &entry{text: text}
		if strings.HasPrefix(names, "define ") {
			byName[names] = e
			continue
		}
		for name := range strings.FieldsSeq(names) {
			byName[name] = e
		}
	}
	return byName
})

// entries yields the names that each entry of some tables describes, and its text. Empty lines stand between entries.
func entries(tables ...string) iter.Seq2[string, string] {
	return func(yield func(names, text string) bool) {
		for _, table := range tables {
			for text := range strings.SplitSeq(table, "\n\n") {
				if names := entryNames(text); names != "" && !yield(names, text) {
					return
				}
			}
		}
	}
}

// ofFiles are the names of the programs in the table of files.
var ofFiles = sync.OnceValue(func() map[string]bool {
	programs := map[string]bool{}
	for names := range entries(filesTable) {
		for name := range strings.FieldsSeq(names) {
			programs[name] = true
		}
	}
	return programs
})

// OfFiles reports whether a program is described in the table of files: what it destroys are files, and nothing else.
func OfFiles(name string) bool { return ofFiles()[name] }

// entryNames returns the names at the head of an entry, "" if it has none and is a comment.
func entryNames(text string) string {
	text = strings.TrimLeft(text, "\n")
	for strings.HasPrefix(text, "#") {
		_, text, _ = strings.Cut(text, "\n")
	}
	names, _, _ := strings.Cut(text, "\n")
	for {
		_, after, more := strings.Cut(text, "\n\talso ")
		if !more {
			return names
		}
		line, _, _ := strings.Cut(after, "\n")
		names, text = names+" "+line, after
	}
}

// Lookup returns the description of the program with this name, nil if there is none.
func Lookup(name string) *Spec {
	if e := registry()[name]; e != nil {
		if spec, _ := e.read(); !spec.Partial {
			return spec
		}
	}
	return nil
}

// shared returns a description that no program has by itself: that of "define NAME".
func shared(name string) *Spec {
	spec, _ := registry()["define "+name].read()
	return spec
}

// judge finds out what the words of a command line mean that no table can say.
type judge = func(*Args, *Use)

// judgeIndex are the judges by the names that the tables give them. They stand in the file with the name of the table, or of the
// program. It is filled at its first use and not when the program starts, since some judges look descriptions up themselves.
var judgeIndex struct {
	once   sync.Once
	byName map[string]judge
}

func judges() map[string]judge {
	judgeIndex.once.Do(func() {
		judgeIndex.byName = map[string]judge{
			"effects": effectsAlone,
			"busybox": judgeBusybox, "entr": judgeEntr, "env": judgeEnv, "flock": judgeFlock, "parallel": judgeParallel,
			"watch": judgeWatch,
			"chrt":  judgeChrt, "xargs": judgeXargs, "shell": judgeShell, "otherShell": judgeOtherShell,
			"change": judgeChange, "copy": judgeCopy, "destroyer": judgeDestroyer, "mkdir": judgeMkdir, "mktemp": judgeMktemp,
			"move": judgeMove, "split": judgeSplit, "date": judgeDate, "dd": judgeDD, "here": judgeHere, "seq": judgeSeq,
			"sleep": judgeSleep,
			"tree":  judgeTree, "fd": judgeFd, "fdSearch": judgeFdSearch, "rg": judgeRg, "ag": judgeAg,
			"packer": judgePacker, "tar": judgeTar, "tarUse": judgeTarUse, "unzip": judgeUnzip, "zipinfo": judgeZipinfo,
			"find": judgeFind,
			"ar":   judgeAr, "bat": judgeBat, "xmllint": judgeXMLLint, "diff": judgeDiff, "iconv": judgeIconv, "shuf": judgeShuf,
			"pdftotext": judgePDFText,
			"strings":   judgeStrings, "xxd": judgeXxd, "editor": judgeEditor, "less": judgeLess, "man": judgeMan, "more": judgeMore,
			"tput": judgeTput, "grep": judgeGrep, "ldconfig": judgeLdconfig, "ldd": judgeLdd, "names": judgeNames, "object": judgeObject,
			"sed": judgeSed, "awk": judgeAwk, "jq": judgeJq, "yq": judgeYq,
			"builds": judgeBuilds, "cargoMetadata": judgeCargoMetadata, "infrastructure": judgeInfrastructure, "make": judgeMake,
			"dpkg": judgeDpkg, "packages": judgePackages, "pipInstall": judgePipInstall, "pipList": judgePipList, "rpm": judgeRPM,
			"goEnv": judgeGoEnv, "gofmt": judgeGofmt, "goInstall": judgeGoInstall, "goList": judgeGoList, "goModEdit": judgeGoModEdit,
			"goPackages": judgeGoPackages, "goTool": judgeGoTool, "interpreter": judgeInterpreter, "node": judgeNode,
			"ownLanguage": judgeOwnLanguage,
			"php":         judgePHP, "python": judgePython, "npm": judgeNpm, "npmInstall": judgeNpmInstall, "packageManager": judgePackageManager,
			"uv":    judgeUv,
			"bwrap": judgeBwrap, "su": judgeSu, "sudo": judgeSudo, "crontab": judgeCrontab, "getent": judgeGetent, "sysctl": judgeSysctl,
			"free": judgeFree, "hostname": judgeHostname, "kill": JudgeKill, "lsof": judgeLsof, "sends": judgeSends, "ss": judgeSS,
			"top": judgeTop, "vmstat": judgeVmstat, "ip": judgeIP, "netstat": judgeNetstat, "plutil": judgePlutil, "vm_stat": judgeVMStat,
			"aws": judgeAWS, "forge": judgeForge, "gh": judgeGh, "ghAPI": judgeGhAPI, "containerCopy": judgeContainerCopy,
			"dockerRun": judgeDockerRun, "dockerStats": judgeDockerStats, "images": judgeImages, "inside": judgeInside,
			"copies": judgeCopies,
			"curl":   judgeCurl, "dig": judgeDig, "hostsAmongWords": hostsAmongWords, "netcat": judgeNetcat, "ping": judgePing,
			"removesDatabase": removesDatabase, "removesKeys": removesKeys, "ssh": judgeSSH, "wget": judgeWget, "keygen": judgeKeygen,
			"openSSL": judgeOpenSSL, "sshAdd": judgeSSHAdd,
			"git": judgeGit, "gitApply": judgeGitApply, "gitArchive": judgeGitArchive, "gitBlame": judgeGitBlame,
			"gitBranch":   judgeGitBranch,
			"gitCheckout": judgeGitCheckout, "gitClean": judgeGitClean, "gitClone": judgeGitClone, "gitConfig": judgeGitConfig,
			"gitDiff": judgeGitDiff, "gitForeach": judgeGitForeach, "gitFormatPatch": judgeGitFormatPatch, "gitFormats": judgeGitFormats,
			"gitGrep": judgeGitGrep, "gitInit": judgeGitInit, "gitLFS": judgeGitLFS, "gitLog": judgeGitLog, "gitLooks": gitLooks,
			"gitPush": judgeGitPush, "gitReflog": judgeGitReflog, "gitRemotePrune": judgeGitRemotePrune,
			"gitRemoteShow": judgeGitRemoteShow,
			"gitRemotes":    judgeGitRemotes, "gitRemove": judgeGitRemove, "gitReplace": judgeGitReplace, "gitRestore": judgeGitRestore,
			"gitShow": judgeGitShow, "gitStash": judgeGitStash, "gitStashList": judgeGitStashList, "gitSubmodules": judgeGitSubmodules,
			"gitSwitch": judgeGitSwitch, "gitSymbolicRef": judgeGitSymbolicRef, "gitTag": judgeGitTag, "gitWorktree": judgeGitWorktree,
		}
	})
	return judgeIndex.byName
}

// Words is a set of words: names of programs, options, keys. The zero value is empty.
type Words map[string]bool

// WordSet returns the words of a text, which blanks and line ends separate. Sets are made once, as tables.
//
// A search in the text itself is no substitute: it finds parts of words, several words, and no word that stands at a line end if it
// looks for blanks around it.
func WordSet(text string) Words {
	set := Words{}
	for word := range strings.FieldsSeq(text) {
		set[word] = true
	}
	return set
}
