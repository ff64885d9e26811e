package sandbox

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// readsSecret lowers the limits of whatever might cover a secret again, and then reads it as often as it can.
const readsSecret = `import os, resource, sys, time
for thread in os.listdir("/proc/1/task"):
    for limit in (resource.RLIMIT_NOFILE, resource.RLIMIT_NPROC):
        try: resource.prlimit(int(thread), limit, (4, 4)); print("lowered", thread)
        except OSError: pass
open("up", "w").close()
reads = leaks = 0
while not os.path.exists("stop"):
    for _ in range(200):
        reads += 1
        try:
            with open(".env", "rb", 0) as f:
                if b"SECRET" in f.read(64): leaks += 1
        except OSError: pass
print(reads, "reads,", leaks, "gave the secret")
time.sleep(0.5)
late = 0
for _ in range(1000):
    try:
        with open(".env", "rb", 0) as f: late += b"SECRET" in f.read(64)
    except OSError: pass
print("late", late)
`

// TestSecretIsCoveredAgain: whatever a command does to its helper, a secret that the user saves by putting another file in its place is covered again. What
// the command reads meanwhile docs/sandbox.md says.
func TestSecretIsCoveredAgain(t *testing.T) {
	needs(t, "/usr/bin/python3")
	for _, abi := range []int{0, landlockABI()} { // with a pid namespace of its own, and in that of the session
		b := homeBench(t, nil)
		b.abi = abi
		b.write(t, ".env", "KEY=SECRET\n")
		b.write(t, "read.py", readsSecret)
		p := b.start(t, Profile{Access: Workspace}, "/usr/bin/python3 read.py > said 2>&1")
		b.await(t, "up")
		saves := 0
		for begun := time.Now(); time.Since(begun) < 2*time.Second; saves++ {
			b.write(t, ".env.new", "KEY=SECRET\n")
			must(t, os.Rename(filepath.Join(b.ws, ".env.new"), filepath.Join(b.ws, ".env")))
			time.Sleep(20 * time.Millisecond)
		}
		b.write(t, "stop", "")
		over(t, "its end", p.Gone())
		said, _ := os.ReadFile(filepath.Join(b.ws, "said"))
		t.Logf("Landlock %d, %d saves: %s", abi, saves, said)
		if !strings.HasSuffix(string(said), "late 0\n") || strings.Contains(string(said), "lowered") {
			t.Errorf("Landlock %d: %s", abi, said)
		}
	}
}
