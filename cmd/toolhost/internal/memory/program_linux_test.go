package memory

import (
	"bytes"
	"encoding/binary"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
)

const smaps = `00400000-010fa000 r-xp 00000000 fe:00 779098                             /bin/toolhost
Size:              13288 kB
Rss:               10152 kB
Anonymous:             0 kB
VmFlags: rd ex mr mw me
010fa000-01d6e000 r--p 00cfa000 fe:00 779098                             /bin/toolhost
Anonymous:             4 kB
01d6e000-01e61000 rw-p 0196e000 fe:00 779098                             /bin/toolhost
Anonymous:             0 kB
01e61000-01f00000 r--p 0196e000 fe:00 779098                             /bin/toolhost
Anonymous:             0 kB
01f00000-02000000 r--s 0196e000 fe:00 779098                             /bin/toolhost
Anonymous:             0 kB
3776e6000000-3776e7000000 rw-p 00000000 00:00 0
Anonymous:             0 kB
7f4a9c2c0000-7f4a9c600000 r--p 00000000 fe:00 12                         /bin/other
Anonymous:             0 kB
7fff00000000-7fff00001000 r-xp 00000000 00:00 0                          [vdso]
Anonymous:             0 kB
`

// TestClean: only mappings of the program's file are forgotten that nothing can have changed.
func TestClean(t *testing.T) {
	t.Parallel()
	want := []mapping{{0x400000, 0x10fa000}, {0x1e61000, 0x1f00000}}
	if got := clean(strings.NewReader(smaps), "/bin/toolhost"); !slices.Equal(got, want) {
		t.Errorf("%x, want %x", got, want)
	}
	if got := clean(strings.NewReader("Anonymous: 0 kB\nx-y r-xp 0 fe:00 1 /bin/toolhost\nAnonymous: 0 kB\n"), "/bin/toolhost"); got != nil {
		t.Errorf("a range that is none: %x", got)
	}
}

// TestForgetProgram: pages of the program's file are resident no more, and the program goes on.
func TestForgetProgram(t *testing.T) {
	program, err := os.Readlink("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	maps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	all := clean(bytes.NewReader(maps), program)
	touch(t, all, 1)
	before := resident(t, all)
	ForgetProgram()
	if after := resident(t, all); len(all) == 0 || before == 0 || after >= before {
		t.Errorf("%d pages of the file were resident, %d are", before, after)
	}
}

// TestMapSingly: a page of the program's file that is needed brings none of its neighbours.
func TestMapSingly(t *testing.T) {
	all := programMappings()
	if len(all) == 0 {
		t.Fatal("no mapping of the program")
	}
	const apart = 8 // pages between two that are needed; the kernel would map 16 around each
	needed := 0
	for _, m := range all {
		needed += int(m.end-m.start) / os.Getpagesize() / apart
	}
	if err := MapSingly(); err != nil {
		t.Skipf("pages of the program are mapped as usual: %v", err)
	}
	ForgetProgram()
	touch(t, all, apart)
	if n := resident(t, all); n < needed || n > 4*needed {
		t.Errorf("%d pages are mapped, %d were needed", n, needed)
	}
}

// touch maps one of some pages of mappings.
func touch(t *testing.T, all []mapping, apart uintptr) {
	t.Helper()
	memory, err := os.Open("/proc/self/mem")
	if err != nil {
		t.Fatal(err)
	}
	defer memory.Close()
	for _, m := range all {
		for at := m.start; at < m.end; at += apart * uintptr(os.Getpagesize()) {
			if _, err := memory.ReadAt(make([]byte, 1), int64(at)); err != nil && err != io.EOF {
				t.Fatal(err)
			}
		}
	}
}

// resident counts the pages of mappings that are mapped.
func resident(t *testing.T, all []mapping) (n int) {
	t.Helper()
	pages, err := os.Open("/proc/self/pagemap")
	if err != nil {
		t.Fatal(err)
	}
	defer pages.Close()
	size := uintptr(os.Getpagesize())
	for _, m := range all {
		entries := make([]uint64, (m.end-m.start)/size)
		if err := binary.Read(io.NewSectionReader(pages, int64(m.start/size*8), int64(len(entries)*8)), binary.NativeEndian, entries); err != nil {
			t.Fatal(err)
		}
		for _, entry := range entries {
			n += int(entry >> 63)
		}
	}
	return n
}
