package main

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"toolhost/sandbox"
)

// fileAttempts write, move or mark what lies outside.
var fileAttempts = []attempt{
	{
		name: "write outside", row: "Append to an outside file", at: anywhere, readOnly: true, shell: true,
		script: `echo x >> $OUT/file; echo x > $OUT/file; : > $OUT/file; touch $OUT/new; mkdir $OUT/made
			rm -rf $OUT/tree; ln -s x $OUT/link
			mkfifo $OUT/pipe; dd if=/dev/zero of=$OUT/file bs=1 count=1 conv=notrunc; cp file $OUT/copy
			truncate -s 0 $OUT/file`,
	},
	{
		name: "write outside by other names", at: anywhere, readOnly: true,
		script: `echo x >> ../outside/file; cd tree; echo x >> ../../outside/file; echo x >> /proc/self/root$OUT/file
			echo x >> /proc/self/cwd/../../outside/file; echo x >> /proc/1/root$OUT/file
			echo x >> /proc/$$/task/$$/root$OUT/file
			exec 8<$OUT; echo x >> /proc/self/fd/8/file; echo x >> /dev/fd/8/new; echo x >> //$OUT//./file`,
	},
	{
		name: "write through links", at: anywhere, shell: true, changes: "ws/out ws/f ws/d ws/attempt.sh",
		script: `ln -s $OUT out; echo x >> out/file; echo x > out/new; rm -rf out/tree; ln -s $OUT/file f; echo x >> f
			cp -f file f/
			ln -s ../outside d; tee -a d/file < file; mv d/file d/moved`,
	},
	{
		name: "attributes through links", at: watched, changes: "ws/f ws/d",
		script: `ln -s $OUT/file f; chmod 777 f; touch -d 1999-01-01 f; ln -s ../outside d; chmod 777 d/file
			chmod -R 777 d/; touch -d 1999-01-01 d/tree/file; $P attributes f; $P attributes d/file`,
	},
	{
		name: "hard link of an outside file", row: "Hard link an outside file", at: anywhere, changes: "ws/h ws/h2",
		script: `ln $OUT/file h; echo x >> h; exec 9<$OUT/file; ln -L /proc/self/fd/9 h2; echo x >> h2
			ln file $OUT/new`,
	},
	{
		name: "rename in and out", row: "rename a workspace dir tree", at: anywhere, changes: "ws/in ws/f",
		script: `mv -T tree $OUT/gone; mv -T $OUT/tree in; mv $OUT/file f
			python3 -c '
import os,sys
for a,b in ((sys.argv[1]+"/tree",sys.argv[2]+"/gone2"),(sys.argv[2]+"/tree",sys.argv[1]+"/in2"),(sys.argv[2]+"/file",sys.argv[1]+"/file")):
    try: os.rename(a,b); print("ESCAPED rename",a)
    except OSError as e: print(e)' $WS $OUT`,
	},
	{
		name: "open again to write", row: "Write through /proc/self/fd/N", at: anywhere, readOnly: true, shell: true,
		script: `exec 7<$OUT/file; echo x > /proc/self/fd/7; echo x >> /dev/fd/7; truncate -s 1 /proc/self/fd/7
			cat file > /proc/$$/fd/7`,
	},
	{
		name: "attributes of an outside file", at: watched, readOnly: true, shell: true,
		script: `$P attributes $OUT/file; chmod 700 $OUT; touch $OUT; chmod -R a+w $OUT/tree`,
	},
	{
		name: "attributes where nobody watches", at: []sandbox.Level{sandbox.Landlock}, readOnly: true,
		script:  `$P attributes $OUT/file; chmod 700 $OUT`,
		finding: "9: at level landlock attributes of outside files change",
	},
	{name: "every call that names a file, outside", at: anywhere, readOnly: true, changes: "ws/spare",
		script: `$P names $OUT/new $WS/spare`},
	{
		name: "open_by_handle_at", row: "open_by_handle_at", at: anywhere, readOnly: true, only: "root",
		script: `$P handle $OUT/file .; $P handle $OUT/file /`,
	},
	{
		name: "devices and set-user-id files", row: "mknod block/char device", at: anywhere, readOnly: true, changes: "ws/mnt",
		script: `$P nodes $WS/mnt; mknod mnt/null c 1 3 && cat < mnt/null && echo ESCAPED; mknod mnt/b b 1 3
			chmod u+s file; chmod 4755 file
			install -m 4755 file mnt/s; cp -p $P mnt/p; chmod 4755 mnt/p`,
		harm: func(a *escapeAttempt, _ string) string { return setUserID(a) },
	},
	{
		name: "a set-user-id program of another", only: "user", at: anywhere, readOnly: true, shell: true,
		set: func(a *escapeAttempt) {
			if a.who.id == nil {
				a.t.Skip("not root: no such program to be made")
			}
			path := a.path("outside/id")
			if err := copyFile("/usr/bin/id", path); err != nil {
				a.t.Skip(err)
			}
			if err := os.Chmod(path, os.ModeSetuid|0o755); err != nil {
				a.t.Fatal(err)
			}
		},
		script: `$OUT/id`,
		harm: func(_ *escapeAttempt, said string) string {
			if strings.Contains(said, "euid=0") {
				return "it ran as root"
			}
			return ""
		},
	},
	{
		name: "flags of files", row: "ioctl on block/loop/tun/fuse", at: anywhere, readOnly: true,
		script: `$P immutable $WS/file; $P immutable $OUT/file`,
	},
	{
		name: "devices of the machine", at: []sandbox.Level{sandbox.Full}, readOnly: true,
		script: `for d in loop0 loop-control vda sda nvme0n1 kvm fuse net/tun uinput uhid mem kmsg port \
			input/event0 dri/card0 snd/timer bus/usb ptmx0 tty1 ttyS0 vcs console hwrng rtc0 watchdog0 \
			userfaultfd vhost-net mapper/control btrfs-control
			do [ -e /dev/$d ] && echo ESCAPED /dev/$d; done; ls /dev`,
		unfit: "looks only",
	},
	{
		name: "settings of the kernel", at: anywhere, only: "root", readOnly: true,
		script: `for f in /proc/sys/kernel/ns_last_pid /proc/sys/vm/max_map_count /proc/sys/net/core/somaxconn \
			/proc/1/oom_score_adj /sys/kernel/mm/ksm/run \
			/sys/fs/cgroup/cgroup.procs /sys/fs/cgroup/*/cgroup.procs /proc/self/uid_map /proc/1/mem /proc/1/clear_refs
			do (exec 9>>$f && echo ESCAPED $f) 2>/dev/null; done`,
	},
	{
		name: "memory and streams of the first process", at: []sandbox.Level{sandbox.Full}, readOnly: true,
		unfit: "it is this sandbox's",
		script: `for f in mem environ maps fd/0 fd/3 root cwd auxv io stack syscall map_files fdinfo/3
			do head -qc1 /proc/1/$f 2>/dev/null | grep -q . && echo ESCAPED $f
			ls /proc/1/$f/* 2>/dev/null && echo ESCAPED $f; done; ls -l /proc/1/fd | grep -- '->' && echo ESCAPED fds; true`,
	},
	{
		name: "temporary files of others", readOnly: true, row: "Shared /tmp", shell: true, changes: "ws/attempt.sh",
		set: func(a *escapeAttempt) { temporary(a, "/tmp"); temporary(a, "/var/tmp"); temporary(a, "/dev/shm") },
		script: `for d in /tmp /var/tmp /dev/shm; do cat $d/$(basename $DIR)/f; echo x > $d/$(basename $DIR)/f
			rm -r $d/$(basename $DIR)
			mkdir -p $d/$(basename $DIR) && ln -s $OUT/file $d/$(basename $DIR)/later; done; true`,
		harm: func(a *escapeAttempt, _ string) string {
			for _, dir := range []string{"/tmp", "/var/tmp", "/dev/shm"} {
				dir = filepath.Join(dir, filepath.Base(a.dir))
				list, _ := os.ReadDir(dir)
				if b, _ := os.ReadFile(filepath.Join(dir, "f")); string(b) != a.canary || len(list) != 1 {
					return fmt.Sprintf("%s is %q, with %v", dir, b, list)
				}
			}
			return ""
		},
	},
	{
		name: "temporary files of others are not written", at: []sandbox.Level{sandbox.LandlockNotify,
			sandbox.Landlock}, readOnly: true,
		set:    func(a *escapeAttempt) { temporary(a, "/tmp") },
		script: `echo x > /tmp/$(basename $DIR)/f; touch /tmp/$(basename $DIR)/new; rm -r /tmp/$(basename $DIR)`,
		harm: func(a *escapeAttempt, _ string) string {
			dir := filepath.Join("/tmp", filepath.Base(a.dir))
			list, _ := os.ReadDir(dir)
			if b, _ := os.ReadFile(filepath.Join(dir, "f")); string(b) != a.canary || len(list) != 1 {
				return fmt.Sprintf("%s is %q, with %v", dir, b, list)
			}
			return ""
		},
	},
	{
		name: "what toolhost knows", readOnly: true, shell: true, changes: "ws/attempt.sh",
		set: func(a *escapeAttempt) {
			a.write("home/.config/toolhost/settings.json", "{} // "+a.canary)
			private := filepath.Join(a.state, "toolhost", "private-"+filepath.Base(a.dir))
			a.mkdir(filepath.Dir(private))
			if err := os.WriteFile(private, []byte(a.canary), 0o644); err != nil {
				a.t.Fatal(err)
			}
			a.own(private)
		},
		script: `cat $STATE/toolhost/private-$(basename $DIR); echo x > $STATE/toolhost/private-$(basename $DIR)
			rm -f $STATE/toolhost/private-*
			cat $H/.config/toolhost/settings.json; echo x > $H/.config/toolhost/settings.json
			mv $STATE/toolhost $STATE/t2; find $STATE -type f -exec cat {} +`,
		harm: func(a *escapeAttempt, _ string) string {
			private := filepath.Join(a.state, "toolhost", "private-"+filepath.Base(a.dir))
			if b, _ := os.ReadFile(private); string(b) != a.canary {
				return fmt.Sprintf("toolhost's file is %q", b)
			}
			return ""
		},
		unfit: "it would destroy the state of the other tests",
	},
	{
		name: "a directory as stdin", at: []sandbox.Level{sandbox.Full}, readOnly: true, stdin: ".", changes: "home/.ssh",
		row: "stdin/stdout given as O_RDWR host file or tty",
		script: `cd /proc/self/fd/0; cat home/.ssh/id_test ws/.env; chmod 600 outside/file; ls ..
			echo x > outside/file`,
	},
	{
		name: "an outside file as stdin", at: watched, readOnly: true, stdin: "outside/file",
		script: `$P attributes /proc/self/fd/0 > /dev/null; chmod 777 /proc/self/fd/0; echo x > /proc/self/fd/0
			echo x >&0; touch -d 1999-01-01 /dev/stdin
			python3 -c 'import os; os.fchmod(0,0o777)'; python3 -c 'import os; os.ftruncate(0,0)'`,
	},
	{
		name: "a sealed file as stdin", at: watched, readOnly: true, stdin: "ws/.bashrc",
		set: func(a *escapeAttempt) { a.write("ws/.bashrc", "# pristine\n") },
		script: `$P attributes /proc/self/fd/0 > /dev/null; echo evil >> /proc/self/fd/0
			python3 -c 'import os; os.fchmod(0,0o777)'`,
	},
	{
		name: "descriptors that toolhost was started with", at: anywhere, readOnly: true, shell: true, changes: "ws/attempt.sh",
		set: func(a *escapeAttempt) {
			f, err := os.OpenFile(a.path("outside/file"), os.O_RDWR, 0)
			dir, err2 := os.Open(a.out)
			l, err3 := net.Listen("tcp", "127.0.0.1:0")
			if err != nil || err2 != nil || err3 != nil {
				a.t.Fatal(err, err2, err3)
			}
			s, err := l.(*net.TCPListener).File()
			if err != nil {
				a.t.Fatal(err)
			}
			a.extra = []*os.File{f, dir, s}
			a.t.Cleanup(func() { f.Close(); dir.Close(); s.Close(); l.Close() })
		},
		script: `for n in 3 4 5 6 7 8 9 10 11 12
			do [ -e /proc/self/fd/$n ] && readlink /proc/$$/fd/$n && echo ESCAPED fd $n; done; echo x >&3
			echo x > /proc/self/fd/4/file`,
	},
	{
		name: "toolhost's directories in a home that is the workspace",
		set: func(a *escapeAttempt) {
			a.stateAt(filepath.Join(a.home, ".local", "state"))
			a.ws = a.home
			a.write("home/.local/state/toolhost/sandbox-level.json", "{}")
			a.write("home/.config/toolhost/settings.json", "{}")
			a.mkdir(filepath.Join(a.home, ".local/share"))
		},
		script: `cd $H; mv .local l; mkdir -p .local/state/toolhost
			echo forged > .local/state/toolhost/sandbox-level.json; mv .local/state l2; mv .local/state/toolhost l3
			rm -rf .local/state; mv .config c; mkdir -p .config/toolhost; echo forged > .config/toolhost/settings.json
			rm -rf .config; mv .ssh s; rm -rf .ssh
			echo evil >> .bashrc; echo evil > .bash_profile; echo evil > .zshenv; mkdir .config
			echo evil > .config/fish; true`,
		changes: "home/.local/state/toolhost/* home/l2 home/l3",
		harm: func(a *escapeAttempt, _ string) string {
			if strings.Contains(a.read("home/.local/state/toolhost/sandbox-level.json"), "forged") {
				return "toolhost's state is forged"
			}
			return ""
		},
	},
	{
		name: "start-up files of the home", row: "Write ~/.bashrc ~/.profile", at: anywhere, readOnly: true,
		shell: true, changes: "ws/attempt.sh",
		script: `for f in .bashrc .profile .zshrc .bash_profile .config/fish/config.fish .gitconfig \
			.config/git/config .ssh/authorized_keys .ssh/config .local/bin/ls .config/autostart/x .vimrc .npmrc
			do mkdir -p $H/$(dirname $f); echo evil >> $H/$f; done; cd; echo evil >> .bashrc; mv .bashrc b
			git config --global core.pager evil; rm -f .profile; ln -sf /etc/passwd .zshenv; true`,
	},
	{
		name: "masks without end", unfit: "there are none without a sandbox", changes: "ws/.env.*",
		script: `for i in {1..800}; do : > .env.$i; done; sleep .3
			[ $(wc -l < /proc/self/mountinfo) -lt 400 ] || echo ESCAPED $(wc -l < /proc/self/mountinfo) mounts
			rm -f .env.?*`,
	},
	{
		name: "a pipe of the host", at: anywhere, readOnly: true, shell: true, changes: "ws/attempt.sh",
		set: func(a *escapeAttempt) {
			a.host("mkfifo $OUT/pipe")
			f, err := os.OpenFile(a.path("outside/pipe"), os.O_RDWR, 0) // both ends, so that nobody waits
			if err != nil {
				a.t.Fatal(err)
			}
			a.t.Cleanup(func() { f.Close() })
			pipes.Store(a, f)
		},
		script: `echo ESCAPE > $OUT/pipe; echo ESCAPE >> $OUT/pipe
			python3 -c 'import os,sys; os.write(os.open(sys.argv[1],os.O_RDWR),b"E")' $OUT/pipe; true`,
		harm: func(a *escapeAttempt, _ string) string {
			f, _ := pipes.Load(a)
			if n, err := unix.IoctlGetInt(int(f.(*os.File).Fd()), unix.TIOCINQ); err != nil || n > 0 {
				return fmt.Sprintf("the pipe has %d bytes: %v", n, err)
			}
			return ""
		},
	},
	{
		name: "things that no walk should stop at", at: watched, changes: "ws/dd", unfit: "it shows that nothing hangs",
		script: `mkdir dd; mkfifo dd/.envrc dd/.env dd/config; ln -s /dev/zero dd/.mcp.json; ln -s . dd/loop
			ln -s loop/loop dd/.vscode
			p=dd; for i in {1..200}; do p=$p/x; done; mkdir -p $p; mkdir dd/$'new\nline' dd/$'\xff\xfe'
			echo x > dd/$'new\nline'/.envrc
			mkdir -p dd/g/.git; mkfifo dd/g/.git/config dd/g/.git/HEAD; ln -s /dev/zero dd/g/.git/commondir; true`,
	},
	{
		name: "core dumps", row: "Core dump", at: anywhere, readOnly: true, unfit: "the machine's own handler would run",
		script: `ulimit -c unlimited; ulimit -c; $P crash; cd tree; $P crash
			[ $(ulimit -Hc) = 0 ] || echo ESCAPED limit`,
	},
}

// pipes are the pipes of attempts.
var pipes sync.Map

// setUserID finds a set-user-id file or device in the workspace.
func setUserID(a *escapeAttempt) string {
	for name, e := range a.look() {
		if e.Mode&(os.ModeSetuid|os.ModeDevice) != 0 {
			return fmt.Sprintf("%s is %v", name, e.Mode)
		}
	}
	return ""
}

// temporary makes a file of the attempt's name in a directory that everybody shares.
func temporary(a *escapeAttempt, dir string) {
	dir = filepath.Join(dir, filepath.Base(a.dir))
	if err := os.Mkdir(dir, 0o755); err != nil {
		a.t.Skip(err)
	}
	a.t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.WriteFile(filepath.Join(dir, "f"), []byte(a.canary), 0o644); err != nil {
		a.t.Fatal(err)
	}
	a.own(dir)
	a.own(filepath.Join(dir, "f"))
}
