package memory

import (
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
	"testing/fstest"
	"time"
)

// TestGroupMemory: the least limit on the way from a process's control group to the root counts, in each layout of control groups.
func TestGroupMemory(t *testing.T) {
	const none = math.MaxInt64
	for _, tt := range []struct {
		name  string
		files map[string]string
		want  int64
	}{
		{"no control groups", nil, none},
		{"version 2", map[string]string{"proc/self/cgroup": "0::/user.slice/a\n", "sys/fs/cgroup/user.slice/a/memory.max": "67108864\n"}, 64 << 20},
		{"no limit", map[string]string{"proc/self/cgroup": "0::/a\n", "sys/fs/cgroup/a/memory.max": "max\n"}, none},
		{"a limit above", map[string]string{
			"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/memory.max": "1000\n", "sys/fs/cgroup/a/b/memory.max": "max\n"}, 1000},
		{"a stricter limit above", map[string]string{
			"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/memory.max": "1000\n", "sys/fs/cgroup/a/b/memory.max": "2000\n"}, 1000},
		{"a container", map[string]string{"proc/self/cgroup": "0::/../../other\n", "sys/fs/cgroup/memory.max": "1000\n"}, 1000},
		{"version 1", map[string]string{
			"proc/self/cgroup":                             "9:name=systemd:/\n4:memory:/x\n5:cpu,cpuacct:/y\n0::/\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes":   "9223372036854771712\n",
			"sys/fs/cgroup/memory/x/memory.limit_in_bytes": "2000\n"}, 2000},
		{"a container of version 1", map[string]string{
			"proc/self/cgroup": "4:memory:/docker/0123\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": "3000\n"}, 3000},
	} {
		t.Run(tt.name, func(t *testing.T) {
			root := fstest.MapFS{}
			for name, text := range tt.files {
				root[name] = &fstest.MapFile{Data: []byte(text)}
			}
			if got := groupMemory(root); got != tt.want {
				t.Errorf("%d, want %d", got, tt.want)
			}
		})
	}
}

// TestAddressRoom: without a limit on the address space there is no end of it.
func TestAddressRoom(t *testing.T) {
	size := &fstest.MapFile{Data: []byte("1000 20 3 4 0 5 0\n")}
	if got := addressRoom(fstest.MapFS{"proc/self/statm": size}, 100<<20); got != 100<<20-int64(1000*os.Getpagesize()) {
		t.Errorf("of 100 MiB %d are left", got)
	}
	for name, root := range map[string]fstest.MapFS{"no limit": {"proc/self/statm": size}, "an unknown size": {}} {
		limit := uint64(math.MaxUint64)
		if name != "no limit" {
			limit = 1
		}
		if got := addressRoom(root, limit); got != math.MaxInt64 {
			t.Errorf("%s: %d", name, got)
		}
	}
	if got := addressRoom(fstest.MapFS{"proc/self/statm": size}, 1); got != 0 {
		t.Errorf("of a limit below the size %d are left", got)
	}
}

// TestStart: the first collection of a process comes late, and those after it as usual.
func TestStart(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(gcPercent))
	percent := func() uint64 {
		s := []metrics.Sample{{Name: "/gc/gogc:percent"}}
		metrics.Read(s)
		return s[0].Value.Uint64()
	}
	Start()
	if n := percent(); n != shortPercent {
		t.Errorf("at the start the collector waits for %d percent, want %d", n, shortPercent)
	}
	for end := time.Now().Add(time.Minute); percent() != gcPercent; time.Sleep(time.Millisecond) {
		if runtime.GC(); time.Now().After(end) {
			t.Fatalf("after a collection it waits for %d percent, want %d", percent(), gcPercent)
		}
	}
}
