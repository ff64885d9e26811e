package memory

import (
	"bytes"
	"encoding/binary"
	"io"
	"os"
	"testing"
)

// TestProgramMapping: only mappings of the program's file that cannot be written are forgotten.
func TestProgramMapping(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]mapping{
		"00400000-010fa000 r-xp 00000000 fe:00 779098                             /bin/toolhost": {0x400000, 0x10fa000},
		"010fa000-01d6e000 r--p 00cfa000 fe:00 779098                             /bin/toolhost": {0x10fa000, 0x1d6e000},
		"01d6e000-01e61000 rw-p 0196e000 fe:00 779098                             /bin/toolhost": {},
		"01f00000-02000000 r--s 0196e000 fe:00 779098                             /bin/toolhost": {},
		"3776e6000000-3776e7000000 rw-p 00000000 00:00 0":                                        {},
		"7f4a9c2c0000-7f4a9c600000 r--p 00000000 fe:00 12                         /bin/other":    {},
		"7fff00000000-7fff00001000 r-xp 00000000 00:00 0                          [vdso]":        {},
		"x-y r-xp 00000000 fe:00 779098                                           /bin/toolhost": {},
	} {
		if got, ok := programMapping(line+"\n", "/bin/toolhost"); ok != (want != mapping{}) || ok && got != want {
			t.Errorf("%s: %x, %t", line, got, ok)
		}
	}
}

// TestClean: a mapping is clean unless one of its pages, wherever it is now, is no page of the file.
func TestClean(t *testing.T) {
	t.Parallel()
	const pages = 1000
	size := uintptr(os.Getpagesize())
	m := mapping{10 * size, (10 + pages) * size}
	for _, tt := range []struct {
		name  string
		page  int
		entry uint64
		want  bool
	}{
		{"a page that is not mapped", 10, 0, true},
		{"a page of the file", 10, pagePresent | pageOfFile, true},
		{"a copy", 10, pagePresent, false},
		{"a copy at the end", 10 + pages - 1, pagePresent, false},
		{"a copy that was swapped out", 600, pageSwapped, false},
		{"a copy before", 9, pagePresent, true},
		{"a copy behind", 10 + pages, pagePresent, true},
	} {
		pagemap := make([]byte, 8*2*pages)
		binary.NativeEndian.PutUint64(pagemap[8*tt.page:], tt.entry)
		if got := clean(bytes.NewReader(pagemap), m); got != tt.want {
			t.Errorf("%s: %t", tt.name, got)
		}
	}
}

// TestForgetProgram: pages of the program's file are resident no more, and the program goes on.
func TestForgetProgram(t *testing.T) {
	all := programMappings()
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
