# Makes repositories that would run a program, in every form of a table, and prints the directories where a user's git status and git commit show
# whether one does: arm.py DIR MARKS. What a form keeps from before its directory became a repository, it uses afterwards.
import ctypes, mmap, os, socket, sys

base, marks = sys.argv[1:3]
libc = ctypes.CDLL(None, use_errno=True)


def write(path, text, flags=os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode=0o755):
    fd = os.open(path, flags, mode)
    os.write(fd, text)
    os.close(fd)


def over(fd, text):
    os.ftruncate(fd, 0)
    os.pwrite(fd, text, 0)


def renameat2(old, new, flags):
    if libc.syscall(316, -100, os.fsencode(old), -100, os.fsencode(new), flags) != 0:
        raise OSError(ctypes.get_errno(), "renameat2")


# Vehicles: before(path) keeps something of the file, which has a harmless text, and returns after(path), which writes evil text.
def descriptor(path, evil):
    fd = os.open(path, os.O_RDWR)
    return lambda now: over(fd, evil)


def appended(path, evil):
    fd = os.open(path, os.O_WRONLY | os.O_APPEND)
    return lambda now: os.write(fd, evil)


def hardlink(path, evil):
    os.link(path, path + "-kept")
    kept = os.open(path + "-kept", os.O_PATH)
    return lambda now: write("/proc/self/fd/%d" % kept, evil, os.O_WRONLY | os.O_TRUNC)


def otherName(path, evil):
    os.link(path, base + "/other-name")
    def after(now):
        write(base + "/other-name", evil, os.O_WRONLY | os.O_TRUNC)
    return lambda now: (after(now), os.unlink(base + "/other-name"))


def mapped(path, evil):
    fd = os.open(path, os.O_RDWR)
    os.ftruncate(fd, len(evil))
    os.pwrite(fd, harmlessOf(path).ljust(len(evil), b"\n"), 0)
    memory = mmap.mmap(fd, len(evil))
    os.close(fd)
    return lambda now: (memory.__setitem__(slice(0, len(evil)), evil), memory.flush())


def directory(path, evil):
    at = os.open(os.path.dirname(path), os.O_PATH | os.O_DIRECTORY)
    def after(now):
        fd = os.open(os.path.basename(path), os.O_WRONLY | os.O_TRUNC | os.O_CREAT, 0o755, dir_fd=at)
        os.write(fd, evil)
        os.close(fd)
    return after


def directoryRename(path, evil):
    at = os.open(os.path.dirname(path), os.O_RDONLY | os.O_DIRECTORY)
    write(base + "/evil", evil)
    return lambda now: os.rename(base + "/evil", os.path.basename(path), dst_dir_fd=at)


def place(path, evil):
    fd = os.open(path, os.O_PATH)
    return lambda now: write("/proc/self/fd/%d" % fd, evil, os.O_WRONLY | os.O_TRUNC)


def reader(path, evil):
    fd = os.open(path, os.O_RDONLY)
    return lambda now: write("/proc/self/fd/%d" % fd, evil, os.O_RDWR | os.O_TRUNC)


def child(path, evil):
    fd = os.open(path, os.O_RDWR)
    r, w = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(w)
        os.read(r, 1)
        over(fd, evil)
        os._exit(0)
    os.close(fd)
    return lambda now: (os.close(w), os.waitpid(pid, 0))


def passed(path, evil):
    a, b = socket.socketpair()
    fd = os.open(path, os.O_RDWR)
    socket.send_fds(a, [b"x"], [fd])
    os.close(fd)
    return lambda now: over(socket.recv_fds(b, 1, 1)[1][0], evil)


def before(path, evil):
    write(path, evil)
    return lambda now: None


def beforeRenamed(path, evil):
    write(path + "-new", evil)
    os.rename(path + "-new", path)
    return lambda now: None


def inPlace(path, evil):
    return lambda now: write(now, evil, os.O_WRONLY | os.O_TRUNC)


def appendedNow(path, evil):
    return lambda now: write(now, evil, os.O_WRONLY | os.O_APPEND)


def again(path, evil):
    return lambda now: (os.unlink(now), write(now, evil, os.O_WRONLY | os.O_CREAT | os.O_EXCL))


def renamed(path, evil):
    return lambda now: (write(base + "/evil", evil), os.rename(base + "/evil", now))


def renamedOpen(path, evil):
    def after(now):
        fd = os.open(base + "/evil", os.O_RDWR | os.O_CREAT, 0o755)
        os.rename(base + "/evil", now)
        over(fd, evil)
    return after


def linked(path, evil):
    return lambda now: (write(base + "/evil", evil), os.unlink(now), os.link(base + "/evil", now), os.unlink(base + "/evil"))


def linkedOpen(path, evil):
    def after(now):
        fd = os.open(base + "/evil", os.O_RDWR | os.O_CREAT, 0o755)
        os.unlink(now)
        os.link(base + "/evil", now)
        os.unlink(base + "/evil")
        over(fd, evil)
    return after


def adopted(path, evil):
    def after(now):
        os.unlink(now)
        fd = os.open(os.path.dirname(now), os.O_TMPFILE | os.O_RDWR, 0o755)
        if libc.linkat(-100, b"/proc/self/fd/%d" % fd, -100, os.fsencode(now), 0x400) != 0:
            raise OSError(ctypes.get_errno(), "linkat")
        os.write(fd, evil)
    return after


def exchanged(path, evil):
    return lambda now: (write(base + "/evil", evil), renameat2(base + "/evil", now, 2), os.unlink(base + "/evil"))


def symlink(path, evil):
    def after(now):
        write(os.path.dirname(os.path.dirname(now)) + "/harmless-name", evil)
        os.unlink(now)
        os.symlink(os.path.dirname(os.path.dirname(now)) + "/harmless-name", now)
    return after


def symlinkMoved(path, evil):
    def after(now):
        write(os.path.dirname(os.path.dirname(now)) + "/harmless-name", evil)
        os.symlink(os.path.dirname(os.path.dirname(now)) + "/harmless-name", base + "/l")
        os.rename(base + "/l", now)
    return after


def sentFile(path, evil):
    fd = os.open(path, os.O_WRONLY)
    def after(now):
        write(base + "/evil", evil)
        source = os.open(base + "/evil", os.O_RDONLY)
        os.ftruncate(fd, 0)
        os.copy_file_range(source, fd, len(evil), None, 0)
        os.unlink(base + "/evil")
    return after


def awayAndBack(path, evil):
    def after(now):
        os.rename(now, base + "/away")
        write(base + "/away", evil)
        os.rename(base + "/away", now)
    return after


def shapeAwayAndBack(path, evil):
    def after(now):
        git = os.path.dirname(now)
        if not os.path.lexists(git + "/objects"):
            git = os.path.dirname(git)
        os.rename(git + "/objects", git + "/o")
        write(now, evil)
        os.rename(git + "/o", git + "/objects")
    return after


def parentAwayAndBack(path, evil):
    def after(now):
        parent = os.path.dirname(now)
        os.rename(parent, base + "/p")
        write(base + "/p/" + os.path.basename(now), evil)
        os.rename(base + "/p", parent)
    return after


def parentNew(path, evil):
    def after(now):
        parent = os.path.dirname(now)
        if os.path.basename(parent) != "hooks":
            return inPlace(path, evil)(now)
        os.rename(parent, base + "/p")
        os.mkdir(base + "/q")
        write(base + "/q/" + os.path.basename(now), evil)
        os.rename(base + "/q", parent)
    return after


# Becomings: they make of the directory d a work tree whose git has its parts in the directory that they return, called with "before"; called with
# "after" they complete it.
def shaped(git, *but):
    os.makedirs(git, exist_ok=True)
    for name in ("objects", "refs"):
        if name not in but:
            os.makedirs(git + "/" + name, exist_ok=True)
    if "HEAD" not in but:
        write(git + "/HEAD", b"ref: refs/heads/main\n", mode=0o644)


def headLast(d):
    shaped(d + "/.git", "HEAD")
    yield d + "/.git"
    shaped(d + "/.git")
    yield d + "/.git"


def bareObjectsLast(d):
    shaped(d, "objects")
    yield d
    shaped(d)
    yield d


def bareRefsMoved(d):
    shaped(d, "refs")
    os.mkdir(d + "/r")
    yield d
    os.rename(d + "/r", d + "/refs")
    yield d


def bareHeadMoved(d):
    shaped(d, "HEAD")
    write(d + "/h", b"ref: refs/heads/main\n")
    yield d
    os.rename(d + "/h", d + "/HEAD")
    yield d


def bareHeadLinked(d):
    shaped(d, "HEAD")
    write(d + "/h", b"ref: refs/heads/main\n")
    yield d
    os.link(d + "/h", d + "/HEAD")
    yield d


def objectsLinkedTo(d):
    shaped(d, "objects")
    os.mkdir(d + "/o")
    yield d
    os.symlink("o", d + "/objects")
    yield d


def moved(d):
    shaped(d + "/x")
    yield d + "/x"
    os.rename(d + "/x", d + "/.git")
    yield d + "/.git"


def movedUnshaped(d):
    os.makedirs(d + "/x")
    yield d + "/x"
    os.rename(d + "/x", d + "/.git")
    shaped(d + "/.git")
    yield d + "/.git"


def treeMoved(d):
    shaped(d + "-tree/.git", "HEAD")
    yield d + "-tree/.git"
    shaped(d + "-tree/.git")
    os.rmdir(d)
    os.rename(d + "-tree", d)
    yield d + "/.git"


def pointed(d):
    shaped(d + "/plain", "refs")
    yield d + "/plain"
    shaped(d + "/plain")
    write(d + "/.git", b"gitdir: plain\n")
    yield d + "/plain"


def linkedGit(d):
    shaped(d + "/plain", "refs")
    yield d + "/plain"
    shaped(d + "/plain")
    os.symlink("plain", d + "/.git")
    yield d + "/plain"


def common(d):
    os.makedirs(d + "/.git")
    shaped(d + "/shared", "HEAD", "refs")
    write(d + "/.git/HEAD", b"ref: refs/heads/main\n")
    yield d + "/shared"
    write(d + "/.git/commondir", b"../shared\n")
    os.mkdir(d + "/shared/refs")
    yield d + "/shared"


def commonLate(d):
    os.makedirs(d + "/.git")
    shaped(d + "/shared", "HEAD")
    write(d + "/.git/HEAD", b"ref: refs/heads/main\n")
    fd = os.open(d + "/.git/commondir", os.O_RDWR | os.O_CREAT, 0o644)
    os.write(fd, b"../other\n")
    yield d + "/shared"
    over(fd, b"../shared\n")
    os.close(fd)
    yield d + "/shared"


def plainInit(d):
    os.system("git init -q " + d)
    yield d + "/.git"
    yield d + "/.git"


vehicles = [descriptor, appended, hardlink, otherName, mapped, directory, directoryRename, place, reader, child, passed, before, beforeRenamed, inPlace, appendedNow, again,
            renamed, renamedOpen, linked, linkedOpen, adopted, exchanged, symlink, symlinkMoved, sentFile, awayAndBack, shapeAwayAndBack, parentAwayAndBack, parentNew]
becomings = [headLast, bareObjectsLast, bareRefsMoved, bareHeadMoved, bareHeadLinked, objectsLinkedTo, moved, movedUnshaped, treeMoved, pointed, linkedGit, common, commonLate, plainInit]

few = [descriptor, before, renamed, inPlace]
parts = ["config", "hooks/pre-commit"]
config = b"[core]\n\trepositoryformatversion = 0\n\tbare = false\n"


def harmlessOf(path):
    return config if path.endswith("config") else b"#!/bin/sh\n"


def attempt(what, do):
    try:
        return do()
    except (OSError, ValueError) as e:
        sys.stderr.write("%s: %s\n" % (what, e))


for become in becomings:
    for vehicle in vehicles if become in (headLast, moved, common) else few:
        for part in parts:
            name = "%s-%s-%s" % (become.__name__, vehicle.__name__, part.split("/")[0])
            mark, d = marks + "/" + name, base + "/" + name
            bare = b"\tworktree = %s\n" % os.fsencode(d) if become.__name__.startswith(("bare", "objects")) else b""
            if part == "config":
                evil = config + bare + b"\tfsmonitor = \"touch %s #\"\n" % os.fsencode(mark)
            else:
                evil = b"#!/bin/sh\ntouch %s\n" % os.fsencode(mark)
            os.makedirs(d)
            steps = become(d)
            git = attempt(name, lambda: next(steps))
            if git is None:
                continue
            os.makedirs(git + "/hooks", exist_ok=True)
            attempt(name, lambda: write(git + "/config", config + bare))
            attempt(name, lambda: write(git + "/hooks/pre-commit", b"#!/bin/sh\n"))
            after = attempt(name, lambda: vehicle(git + "/" + part, evil))
            git = attempt(name, lambda: next(steps)) or git
            attempt(name, lambda: after(git + "/" + part)) if after else None
            for rest in ("evil", "away", "p", "q", "l", "other-name"):
                if os.path.lexists(base + "/" + rest):
                    os.system("rm -rf " + base + "/" + rest)
            print(d)
