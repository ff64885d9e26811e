package main

// apart runs toolhost in mount and user namespaces of the test, so that what a broken sandbox lets through is not the machine's.
func apart(a *escapeAttempt) {
	a.outerState()
	a.under = []string{"unshare", "-Urm"}
}

// callAttempts are calls that no build needs.
var callAttempts = []attempt{
	{
		name: "privileged calls", row: "bpf, perf_event_open, userfaultfd", at: anywhere, readOnly: true, shell: true,
		changes: "ws/attempt.sh", script: `$P privileged`,
	},
	{name: "rings", row: "io_uring_setup", at: anywhere, readOnly: true, script: `$P privileged | grep io_uring`},
	{
		name: "namespaces", row: "clone3 with CLONE_NEWUSER", at: anywhere, readOnly: true, shell: true, changes: "ws/attempt.sh",
		script: `$P namespaces; unshare -Ur echo ESCAPED by unshare; unshare -U echo ESCAPED by unshare
			unshare -n echo ESCAPED by unshare; unshare -m echo ESCAPED by unshare`,
	},
	{
		name: "mounts", row: "chroot / pivot_root", at: anywhere, readOnly: true, shell: true, changes: "ws/attempt.sh", set: apart,
		script: `$P mounts $WS/mnt; mount -t tmpfs none mnt; mount --bind $OUT mnt; ls mnt; mount -o remount,rw /
			umount /proc; chroot . true && echo ESCAPED; true`,
		unfit: "its calls are refused for what they are given, or would mount on the machine",
	},
	{
		name: "masks taken off", readOnly: true, shell: true, changes: "ws/attempt.sh", unfit: "there are none without a sandbox", set: apart,
		script: `umount -l $WS/.env; umount $H/.ssh; umount -l $WS; umount -l /; cat .env $H/.ssh/id_test`,
	},
	{
		name: "namespaces of others", row: "setns to a host namespace", at: anywhere, readOnly: true, only: "root",
		script: `$P setns; nsenter -t 1 -m true && echo ESCAPED; nsenter -t 1 -U true && echo ESCAPED
			nsenter -t $PPID -n true && echo ESCAPED`,
	},
	{name: "calls of other instruction sets", at: anywhere, readOnly: true, script: `$P foreign`},
	{name: "families of sockets", at: anywhere, readOnly: true, script: `$P families`},
	{
		name: "bounds", at: anywhere, readOnly: true, unfit: "the machine has its own", changes: "ws/big",
		script: `[ "$(ulimit -n)" -le 1024 ] || echo ESCAPED open files; $P exhaust files
			[ "$(ulimit -Hf)" = unlimited ] && echo ESCAPED file size
			[ "$(ulimit -Hu)" = unlimited ] && echo ESCAPED processes; [ "$(ulimit -Hc)" = 0 ] || echo ESCAPED core`,
	},
}
