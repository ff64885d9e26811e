package program

import "strings"

// packageSpecs describes the package managers of systems, and pip: queries of their own databases; everything else changes the
// system.
func packageSpecs() []*Spec {
	return []*Spec{
		{Names: "dpkg", Operands: "text*", Judge: judgeDpkg, Locks: "/var/lib/dpkg/lock-frontend /var/lib/dpkg/lock",
			Options: `-l,--list -s,--status -L,--listfiles -S,--search -p,--print-avail -C,--audit -V,--verify --get-selections
				--print-architecture --print-foreign-architectures --compare-versions --no-pager --robot -? --help --version
				-i,--install!writes,runs_code --unpack!writes,runs_code --configure!writes,runs_code
				-r,--remove!writes,destroys -P,--purge!writes,destroys -a,--pending --set-selections!writes
				--clear-selections!writes --add-architecture!writes --remove-architecture!writes`},
		{Names: "dpkg-query", Operands: "text*",
			Options: `-l,--list -s,--status -L,--listfiles -S,--search -p,--print-avail -W,--show -c,--control-path
				--control-list --control-show --load-avail --no-pager -f,--showformat:text -? --help --version`},
		{Names: "apt", Options: aptOptions, Operands: "sub?", Sub: []*Spec{aptAsks("list search show policy depends rdepends"),
			aptRemoves(), aptUpdate(), aptChanges("install reinstall upgrade full-upgrade satisfy edit-sources download source")}},
		{Names: "apt-get", Options: aptOptions, Operands: "sub?", Sub: []*Spec{aptRemoves(), aptUpdate(), aptChanges(`install reinstall
			upgrade dist-upgrade dselect-upgrade source build-dep satisfy check download clean autoclean markauto`)}},
		{Names: "apt-cache", Options: aptOptions, Sub: []*Spec{aptAsks(`show showsrc search policy depends rdepends pkgnames
			madison stats showpkg`)}},
		{Names: "apt-mark", Sub: []*Spec{aptAsks("showauto showmanual showhold"),
			aptChanges("auto manual hold unhold minimize-manual")}},
		{Names: "rpm", Raw: true, Judge: judgeRPM},
		{Names: "pip pip3", Options: pipOptions + "-V,--version -h,--help", Operands: "sub?", Sub: []*Spec{
			{Names: "show", Options: pipOptions + "-f,--files", Operands: "text*"},
			{Names: "check", Options: pipOptions},
			{Names: "list", Judge: judgePipList, Options: pipOptions + `-o,--outdated -u,--uptodate -e,--editable -l,--local
				--user --path:read --pre --format:text --not-required --exclude-editable --include-editable --exclude:text`},
			{Names: "help", Operands: "text*"},
			{Names: "install download wheel lock", Raw: true, Effects: "writes reaches runs_code",
				Judge: judgePipInstall},
			{Names: "uninstall", Raw: true, Effects: "writes destroys", Judge: effectsAlone},
			{Names: "freeze", Raw: true, Effects: "runs_code",
				Judge: reason("runs git in the directories of editable packages")},
		}},
		{Names: `aptitude dpkg-reconfigure yum dnf zypper pacman apk emerge snap flatpak port nix-env brew`, Raw: true,
			Loses: true, Effects: "writes reaches runs_code", Judge: judgePackages},
	}
}

// aptOptions leave out -o and -c, which may name programs.
const aptOptions = ` -q,--quiet -v,--version -h,--help `

// aptAsks describes queries. Apt saves their computed results if it may.
func aptAsks(names string) *Spec {
	return &Spec{Names: names, Operands: "text*", Effects: "not_concurrent",
		Options: aptOptions + `--installed --upgradable --upgradeable --manual-installed -a,--all-versions -n,--names-only
			-f,--full --no-all-versions -i,--important --recurse --no-pre-depends --no-depends --no-recommends --no-suggests
			--no-conflicts --no-breaks --no-replaces --no-enhances --generate --verbose`}
}

func aptChanges(names string) *Spec {
	return &Spec{Names: names, Raw: true, Effects: "writes reaches runs_code", Locks: aptLocks,
		Judge: reason("changes installed packages, and reaches the sources of apt's configuration")}
}

// aptLocks are the locks of apt and dpkg while they change installed packages.
const aptLocks = "/var/lib/dpkg/lock-frontend /var/lib/dpkg/lock /var/cache/apt/archives/lock"

func aptUpdate() *Spec {
	return &Spec{Names: "update", Raw: true, Effects: "writes reaches adds", Locks: "/var/lib/apt/lists/lock",
		Judge: reason("fetches lists of packages from the sources of apt's configuration")}
}

func aptRemoves() *Spec {
	return &Spec{Names: "remove purge autoremove autopurge", Raw: true, Effects: "writes destroys runs_code", Locks: aptLocks,
		Judge: effectsAlone}
}

// judgeDpkg: without an action that is known to ask there is another one, or none.
func judgeDpkg(a *Args, u *Use) {
	if !a.oneOf("--list", "--status", "--listfiles", "--search", "--print-avail", "--audit", "--verify", "--get-selections",
		"--print-architecture", "--print-foreign-architectures", "--compare-versions", "--help", "--version") {
		u.Add(Writes, "changes installed packages")
	}
}

// judgeRPM: even a query makes the database if there is none, in the home on systems of other packages.
func judgeRPM(a *Args, u *Use) {
	switch first := a.Argv[min(1, len(a.Argv)-1)]; {
	case len(a.Operands) == 1 && first.Static && first.Text == "--version":
	case first.Static && (strings.HasPrefix(first.Text, "-q") || first.Text == "--query"):
		u.Add(Writes, "creates its database if there is none")
		u.Unknown("rpm: options may run commands", first)
	default:
		u.Add(Writes, "changes installed packages")
		u.Unknown("rpm: packages run scripts", first)
	}
}

// pipOptions leave out --log, --python and --config-settings.
const pipOptions = ` --isolated --require-virtualenv -v,--verbose -q,--quiet --no-input --no-color
	--disable-pip-version-check --no-python-version-warning `

func judgePipInstall(a *Args, u *Use) {
	u.Reasons = append(u.Reasons, because("installs packages, runs their code and reaches the index of pip's configuration"))
	localPackages(a, u)
}

// judgePipList: whether there is a newer pip is not looked at, since PIP_DISABLE_PIP_VERSION_CHECK is among the variables of commands.
func judgePipList(a *Args, u *Use) {
	if a.oneOf("--outdated", "--uptodate") {
		u.Add(Reaches, "asks the index which versions there are")
		u.Add(NotConcurrent, "writes the index's answers into a cache")
	}
}

// judgePackages finds commands that remove packages.
func judgePackages(a *Args, u *Use) {
	for _, w := range a.Operands {
		switch w.Text {
		case "remove", "purge", "autoremove", "uninstall", "erase", "-r", "-P", "--purge", "--remove", "-R", "-Rns",
			"-Rs", "-e":
			u.Add(Destroys, "removes packages: "+w.Text)
			return
		}
	}
}
