package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"toolhost/sandbox"
)

// fileSystems are those whose ioctls make names or change files, with the size of a small one and how it is made of a directory. xfs takes none,
// and the attempt is copied into it.
var fileSystems = []struct{ name, size, made string }{
	{"btrfs", "150M", "mkfs.btrfs -q --rootdir %s %s"},
	{"ext4", "24M", "mkfs.ext4 -q -O ^metadata_csum -d %s %s"},
	{"xfs", "400M", "true %s && mkfs.xfs -q %s"},
}

// tryVolumes makes attempts on file systems of a machine, in a mount namespace of the test's: what their ioctls do no call names.
func tryVolumes(t *testing.T, r *escapeTools) {
	if os.Getuid() != 0 {
		t.Skip("file systems are mounted by root")
	}
	for _, fs := range fileSystems {
		t.Run(fs.name, func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath("mkfs." + fs.name); err != nil {
				t.Skipf("no mkfs.%s", fs.name)
			}
			for _, who := range accounts(t) {
				a := r.attempt(t, who, sandbox.Full)
				if said, harm := onVolume(a, fs.size, fs.made, func() *exec.Cmd { return a.alone(`$P volumes $WS $OUT`) }); len(harm) == 0 && fs.name != "xfs" {
					t.Errorf("%s: does no harm even without a sandbox, and so shows nothing:\n%s", who.name, said)
				}
				for _, level := range anywhere {
					a := r.attempt(t, who, level)
					said, harm := onVolume(a, fs.size, fs.made, func() *exec.Cmd {
						return a.boxed(sandbox.Workspace, `$P volumes $WS $OUT; cp --reflink=auto file copy && echo COPIED`)
					})
					if len(harm) > 0 || !strings.Contains(said, "COPIED") {
						t.Errorf("%s %s: %s\n%s", who.name, level, harm, said)
					}
				}
			}
		})
	}
}

// onVolume runs a command of an attempt, which lies on a file system of its own then, and returns what it said and what harm it did.
func onVolume(a *escapeAttempt, size, made string, command func() *exec.Cmd) (said string, harm []string) {
	a.t.Helper()
	image := filepath.Join(a.t.(*testing.T).TempDir(), "image")
	said, code := a.said(exec.Command("sh", "-c", "truncate -s "+size+" "+image+" && "+fmt.Sprintf(made, a.dir, image)))
	if code != 0 {
		a.t.Skipf("no file system is made: %s", said)
	}
	const look = `cd "$DIR" && for n in ws/.vscode ws/.envrc outside/.vscode outside/.envrc outside/evil; do
		[ -e $n ] && echo "HARM $n"; done; lsattr -v outside/file 2>/dev/null | grep -q '^ *4711 ' && echo HARM version; true`
	cmd := command()
	inner := []string{"sh", "-c", `set -e; mkdir "$1.up"; mount -o loop ` + image + ` "$1.up"; [ -e "$1.up/ws" ] || cp -a "$1/." "$1.up"
		chown --reference="$1" "$1.up"; mount --move "$1.up" "$1"; rmdir "$1.up"; DIR=$1; who=$2; shift 2; cd "$DIR/ws"
		if [ "$who" = 0 ]; then "$@" || true; else setpriv --reuid "$who" --regid "$who" --clear-groups -- "$@" || true; fi
		` + look, "sh", a.dir, "0"}
	if a.who.id != nil {
		inner[len(inner)-1] = fmt.Sprint(a.who.id.Uid)
	}
	outer := a.command(append([]string{"unshare", "-m", "--propagation", "private"}, append(inner, cmd.Args...)...)...)
	outer.SysProcAttr.Credential = nil
	said, code = a.said(outer)
	if code != 0 {
		a.t.Skipf("no file system is mounted: %s", said)
	}
	for line := range strings.Lines(said) {
		if strings.HasPrefix(line, "HARM") || strings.Contains(line, "ESCAPED") {
			harm = append(harm, strings.TrimSpace(line))
		}
	}
	return said, harm
}
