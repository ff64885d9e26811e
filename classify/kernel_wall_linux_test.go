package classify_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	kernelUser = 65534
	kernelHome = "/home/dev"
	kernelDir  = kernelHome + "/work"
)

// kernelSystem are the places of the system that a command sees, as far as they are there. Nothing else of it is: in
// particular no sockets of daemons, which no network namespace would hold back.
func (p *kernelPlan) system() []string {
	places := []string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt", "/sys",
		"/var/cache/man", "/var/lib/dpkg", "/var/lib/plocate", p.Outside}
	if g := p.Goroot; g != "" && !strings.HasPrefix(g, "/usr/") && !strings.HasPrefix(g, "/opt/") {
		places = append(places, g)
	}
	return places
}

func kernelDevices() []string { return []string{"null", "zero", "full", "random", "urandom"} }

// enter makes the walls around this process and becomes the command. It returns only if that is not possible, and then
// nothing has run.
func (p *kernelPlan) enter(dir string) error {
	root := filepath.Join(p.Stage, dir, "root")
	if err := p.furnish(root); err != nil {
		return err
	}
	if err := pivot(root); err != nil {
		return err
	}
	if err := os.Chdir(kernelDir); err != nil {
		return err
	}
	return p.become([]string{"bash", "--noprofile", "--norc", "-c", "--", os.Args[len(os.Args)-1]})
}

// furnish puts the system into the command's root, read-only.
func (p *kernelPlan) furnish(root string) error {
	if err := unix.Mount(root, root, "", unix.MS_BIND, ""); err != nil { // the host's mount is not ours to move
		return kernelFailure("bind the root", err)
	}
	for _, place := range p.system() {
		if info, err := os.Lstat(place); err != nil || !info.IsDir() {
			continue
		}
		if err := unix.Mount(place, root+place, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
			return kernelFailure("bind "+place, err)
		}
		attr := &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV}
		if err := unix.MountSetattr(-1, root+place, unix.AT_RECURSIVE, attr); err != nil {
			return kernelFailure("make "+place+" read-only", err)
		}
	}
	const quiet = unix.MS_RDONLY | unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC
	if err := unix.Mount("proc", root+"/proc", "proc", quiet, ""); err != nil {
		return kernelFailure("mount /proc", err)
	}
	return mountDevices(root + "/dev")
}

func mountDevices(dev string) error {
	if err := unix.Mount("tmpfs", dev, "tmpfs", unix.MS_NOSUID|unix.MS_NOEXEC, "size=64k,mode=755"); err != nil {
		return kernelFailure("mount /dev", err)
	}
	err := os.Mkdir(dev+"/shm", 0o777)
	for name, target := range map[string]string{"fd": "fd", "stdin": "fd/0", "stdout": "fd/1", "stderr": "fd/2"} {
		err = errors.Join(err, os.Symlink("/proc/self/"+target, dev+"/"+name))
	}
	for _, name := range kernelDevices() {
		err = errors.Join(err, os.WriteFile(dev+"/"+name, nil, 0o444),
			unix.Mount("/dev/"+name, dev+"/"+name, "", unix.MS_BIND, ""))
	}
	if err != nil {
		return kernelFailure("bind devices", err)
	}
	attr := &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NOSUID}
	if err := unix.MountSetattr(-1, dev, unix.AT_RECURSIVE, attr); err != nil {
		return kernelFailure("make /dev read-only", err)
	}
	return nil
}

// pivot makes a directory the root, and lets go of the one before.
func pivot(root string) error {
	if err := os.Chdir(root); err != nil {
		return err
	}
	if err := unix.PivotRoot(".", "."); err != nil {
		return kernelFailure("change the root", err)
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return kernelFailure("let go of the old root", err)
	}
	return os.Chdir("/")
}

// become drops every privilege and runs a program in place of this one.
func (p *kernelPlan) become(argv []string) error {
	env := []string{"PATH=" + p.path(), "HOME=" + kernelHome, "USER=nobody", "TERM=dumb", "LC_ALL=C", "PAGER=cat",
		"GIT_OPTIONAL_LOCKS=0", "GOMAXPROCS=2", "GOTOOLCHAIN=local"}
	args, err := syscall.SlicePtrFromStrings(argv)
	if err != nil {
		return err
	}
	vars, err := syscall.SlicePtrFromStrings(env)
	if err != nil {
		return err
	}
	path, err := syscall.BytePtrFromString("/bin/bash")
	if err != nil {
		return err
	}
	syscall.Umask(0o022)
	if err := unix.CloseRange(3, ^uint(0), unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return kernelFailure("close descriptors", err)
	}
	if err := p.dropPrivileges(); err != nil {
		return kernelFailure("drop privileges", err)
	}
	if err := setLimits(); err != nil {
		return kernelFailure("set limits", err)
	}
	// Nothing that allocates: the limits already hold.
	_, _, errno := syscall.RawSyscall(syscall.SYS_EXECVE, uintptr(unsafe.Pointer(path)),
		uintptr(unsafe.Pointer(&args[0])), uintptr(unsafe.Pointer(&vars[0])))
	return errno
}

func (p *kernelPlan) dropPrivileges() error {
	for c := uintptr(0); c <= unix.CAP_LAST_CAP; c++ {
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0); err != nil && !errors.Is(err, syscall.EINVAL) {
			return err
		}
	}
	if p.Root {
		// Who opens /dev/stdout needs to own what is behind it.
		err := errors.Join(unix.Fchown(1, kernelUser, kernelUser), unix.Fchown(2, kernelUser, kernelUser),
			syscall.Setgroups(nil), syscall.Setgid(kernelUser), syscall.Setuid(kernelUser))
		if err != nil {
			return err
		}
	}
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return err
	}
	none := [2]unix.CapUserData{}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	if err := unix.Capset(&header, &none[0]); err != nil {
		return err
	}
	return unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
}

func setLimits() error {
	limits := []struct {
		resource int
		max      uint64
	}{
		{unix.RLIMIT_NPROC, 64}, {unix.RLIMIT_FSIZE, 1 << 20}, {unix.RLIMIT_CPU, 2}, {unix.RLIMIT_NOFILE, 256},
		{unix.RLIMIT_CORE, 0}, {unix.RLIMIT_AS, 2 << 30},
	}
	for _, l := range limits {
		if err := unix.Prlimit(0, l.resource, &unix.Rlimit{Cur: l.max, Max: l.max}, nil); err != nil {
			return err
		}
	}
	return nil
}
