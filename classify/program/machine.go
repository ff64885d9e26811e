package program

import "strings"

// machineSpecs describes what shows the machine: processors, disks, buses, mounts, kernel settings, logins.
func machineSpecs() []*Spec {
	return append(machineLists(),
		&Spec{Names: "dmesg", Abbreviates: true, Effects: "observes_host",
			Options: `-C,--clear!writes -c,--read-clear!writes -D,--console-off!writes -E,--console-on!writes
				-n,--console-level:text!writes -F,--file:read -f,--facility:text -H,--human!pages -J,--json -k,--kernel
				-L,--color?:text -l,--level:text -P,--nopager -p,--force-prefix -r,--raw --noescape -S,--syslog
				-s,--buffer-size:text -u,--userspace -w,--follow!long_running -W,--follow-new!long_running -x,--decode
				-d,--show-delta -e,--reltime -T,--ctime -t,--notime --time-format:text --since:text --until:text -h,--help
				-V,--version`},
		&Spec{Names: "sysctl", Operands: "setting*", Effects: "observes_host", Judge: judgeSysctl,
			Options: `-a,--all -A -X --deprecated -b,--binary -e,--ignore -N,--names -n,--values -q,--quiet -r,--pattern:text
				-p,--load?:read!writes -f?:read!writes --system!writes -w,--write!writes -d -h,--help -V,--version`},
		// Anything more than these mounts something.
		&Spec{Names: "mount", Options: "-l,--show-labels -t,--types:text -h,--help -V,--version", Effects: "observes_host"},
		&Spec{Names: "crontab", Operands: "table*", Effects: "reads_elsewhere", Judge: judgeCrontab,
			Options: "-l -u:text -e!writes,interactive -r!writes,destroys -i"},
		&Spec{Names: "getent", Operands: "text*", Judge: judgeGetent,
			Options: "-A,--no-addrconfig -i,--no-idn -? --help --usage -V,--version"}, // -s names a library
		&Spec{Names: "systemd-analyze", Effects: "observes_host", Options: "--system --user --no-pager --version -h,--help",
			Operands: "sub?", Sub: []*Spec{
				{Names: "time blame critical-chain unit-paths", Effects: "reaches", Options: "--system --user --no-pager", Operands: "text*"},
				{Names: "calendar timespan timestamp", Options: "--iterations:text --base-time:text", Operands: "text*"},
			}},
		&Spec{Names: "hostnamectl timedatectl loginctl localectl", Effects: "reaches observes_host", Operands: "sub?",
			Options: busOptions, Sub: []*Spec{
				{Names: `status show show-timesync timesync-status list-timezones list-sessions list-users list-seats
					session-status show-session user-status show-user seat-status show-seat list-locales list-keymaps
					list-x11-keymap-models list-x11-keymap-layouts list-x11-keymap-variants list-x11-keymap-options`,
					Options: busOptions, Operands: "text*", Abbreviates: true},
				{Names: `set-hostname hostname icon-name chassis deployment location set-time set-timezone set-local-rtc
					set-ntp activate attach flush-devices lock-session unlock-session lock-sessions unlock-sessions
					enable-linger disable-linger set-locale set-keymap set-x11-keymap`,
					Raw: true, Effects: "writes", Judge: effectsAlone},
				{Names: "terminate-session kill-session terminate-user kill-user terminate-seat", Raw: true,
					Effects: "writes", Judge: effectsAlone},
			}},
	)
}

// busOptions leave out -H and -M, which ask another machine.
const busOptions = ` -p,--property:text -P:text -a,--all --value -l,--full -n,--lines:text -o,--output:text --json:text
	--static --transient --pretty --no-pager --no-legend --no-ask-password --no-convert -h,--help --version `

// machineLists describes what can do nothing but list.
func machineLists() []*Spec {
	list := func(names, operands, options string) *Spec {
		return &Spec{Names: names, Operands: operands, Options: options + " -h,--help -V,--version", Abbreviates: true,
			Effects: "observes_host", Harmless: true}
	}
	return []*Spec{
		list("lscpu", "", `-a,--all -b,--online -B,--bytes -C,--caches?:text -c,--offline -J,--json -e,--extended?:text
			-p,--parse?:text -s,--sysroot:read -x,--hex -y,--physical --output-all`),
		list("lsblk", "text*", `-A,--noempty -D,--discard -E,--dedup:text -I,--include:text -J,--json -M,--merge
			-O,--output-all -P,--pairs -S,--scsi -T,--tree?:text -a,--all -b,--bytes -d,--nodeps -e,--exclude:text -f,--fs
			-i,--ascii -l,--list -m,--perms -n,--noheadings -o,--output:text -p,--paths -r,--raw -s,--inverse -t,--topology
			-w,--width:text -x,--sort:text -y,--shell -z,--zoned -N,--nvme -v,--virtio --sysroot:read`),
		list("lsmem", "", `-J,--json -P,--pairs -a,--all -b,--bytes -n,--noheadings -o,--output:text --output-all -r,--raw
			-S,--split:text -s,--sysroot:read --summary?:text`),
		list("lslocks", "", `-b,--bytes -J,--json -i,--noinaccessible -n,--noheadings -o,--output:text --output-all
			-p,--pid:text -r,--raw -u,--notruncate`),
		list("lsns", "text*", `-J,--json -l,--list -n,--noheadings -o,--output:text --output-all -p,--task:text -r,--raw
			-u,--notruncate -W,--nowrap -t,--type:text -T,--tree:text`),
		list("ipcs", "", `-i,--id:text -m,--shmems -q,--queues -s,--semaphores -a,--all -t,--time -p,--pid -c,--creator
			-l,--limits -u,--summary --human -b,--bytes`),
		list("findmnt", "text*", `-s,--fstab -m,--mtab -k,--kernel -p,--poll?:text!long_running -w,--timeout:text -A,--all
			-a,--ascii -b,--bytes -C,--nocanonicalize -c,--canonicalize -D,--df -d,--direction:text -e,--evaluate
			-F,--tab-file:read -f,--first-only -i,--invert -J,--json -l,--list -N,--task:text -n,--noheadings
			-O,--options:text -o,--output:text --output-all -P,--pairs --pseudo --shadowed -R,--submounts -r,--raw --real
			-S,--source:text -T,--target:text --tree -M,--mountpoint:text -t,--types:text -U,--uniq -u,--notruncate
			-v,--nofsroot -y,--shell -x,--verify --verbose --vfs-all`),
		list("mountpoint", "text*", "-q,--quiet --nofollow -d,--fs-devno -x,--devno"),
		list("namei", "text*", "-x,--mountpoints -m,--modes -o,--owners -l,--long -n,--nosymlinks -v,--vertical"),
		list("last lastb", "text*", `-a,--hostlast -d,--dns!reaches -f,--file:read -F,--fulltimes -i,--ip -n,--limit:text
			-R,--nohostname -s,--since:text -t,--until:text -p,--present:text -w,--fullnames -x,--system --time-format:text
			-num`),
		list("whereis", "text*", "-b -m -s -u -l -f -B:text -M:text -S:text"),
		{Names: "lsusb", Effects: "observes_host", // -D opens a device
			Options: "-v,--verbose -s:text -d:text -t,--tree -h,--help -V,--version"},
		{Names: "lsmod", Operands: "", Effects: "observes_host"},
		{Names: "lspci", Operands: "", Effects: "observes_host",
			// -q and -Q ask name servers and keep the answers; -H, -A, -O and -M touch the hardware.
			Options: "-v -vv -vvv -m -mm -t -k -x -b -D -P -PP -n -nn -s:text -d:text -i:read -p:read -F:read"},
		{Names: "lsattr", Operands: "read*", Options: "-R!reads_tree -V -a -d -l -p -v", Harmless: true},
		{Names: "lsb_release", Operands: "", Harmless: true,
			Options: "-h,--help -v,--version -i,--id -d,--description -r,--release -c,--codename -a,--all -s,--short"},
	}
}

// judgeSysctl: NAME=VALUE sets, with -w or without.
func judgeSysctl(a *Args, u *Use) {
	for _, w := range a.Values("setting") {
		if strings.Contains(w.Text, "=") {
			u.Add(Writes, "sysctl sets "+spelled(w))
		} else if !w.Static {
			u.Unknown("sysctl: "+spelled(w)+" may set something", w)
		}
	}
}

// judgeCrontab: without -l and with a file, crontab replaces the table.
func judgeCrontab(a *Args, u *Use) {
	if !a.Has("-l") || len(a.Values("table")) > 0 {
		u.Add(Writes, "crontab replaces the table")
	}
}

// localDatabases are those of getent that are answered as id and ls are; the others ask name servers.
var localDatabases = WordSet("passwd group shadow gshadow services protocols rpc ethers networks aliases initgroups")

func judgeGetent(a *Args, u *Use) {
	if len(a.Operands) > 0 && !(a.Operands[0].Static && localDatabases[a.Operands[0].Text]) {
		u.Add(Reaches, "getent asks name servers")
		return
	}
	for _, w := range a.Operands[:min(1, len(a.Operands))] {
		file := w
		if file.Text = "/etc/" + w.Text; w.Text == "initgroups" {
			file.Text = "/etc/group"
		}
		u.Reads = append(u.Reads, file)
	}
}
