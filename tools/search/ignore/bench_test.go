package ignore

import "testing"

// bigProject is the root .gitignore of a large project in C.
const bigProject = `# objects
.*
*.a
*.asn1.[ch]
*.bin
*.bz2
*.c.[012]*.*
*.dt.yaml
*.dtb
*.dtbo
*.dtb.S
*.dwo
*.elf
*.gcda
*.gcno
*.gcov
*.gz
*.i
*.ko
*.lex.c
*.ll
*.lst
*.lz4
*.lzma
*.lzo
*.mod
*.mod.c
*.o
*.o.*
*.o~
*.obj
*.orig
*.patch
*.pyc
*.rej
*.s
*.so
*.so.dbg
*.su
*.symtypes
*.tab.[ch]
*.tar
*.tmp
*.xz
*.zst
*~
\#*#
core
core.*
vgcore.*
Module.symvers
modules.builtin
modules.order
dtbs-list
compile_commands.json
__pycache__
a.out
build/
out/
dist/
target/
.deps/
.libs/
_build/
cmake-build-*/
CMakeFiles/
CMakeCache.txt
Testing/
autom4te.cache/
stamp-h1
config.log
config.status
config.cache
libtool
Makefile.in
aclocal.m4
!.gitignore
!.mailmap
!.cocciconfig
!.get_maintainer.ignore
!.clang-format
!.editorconfig
/linux
/vmlinux
/vmlinux.32
/vmlinux.map
/vmlinux.symvers
/vmlinux-gdb.py
/vmlinuz
/System.map
/Module.markers
/modules.builtin.modinfo
/modules.nsdeps
/Kconfig.local
/config
/configure
/conf*.in
/debian/
/tar-install/
/rpmbuild/
/snap/
/certs/*.pem
/certs/x509.genkey
/certs/signing_key.*
/scripts/basic/fixdep
/scripts/kconfig/conf
/scripts/kconfig/mconf
/scripts/mod/modpost
/tools/**/feature/*.bin
/tools/objtool/objtool
/tools/bpf/*.skel.h
/arch/*/boot/compressed/vmlinux*
/arch/*/include/generated/
/include/config/
/include/generated/
/include/ksym/
/usr/include/
/usr/gen_init_cpio
/usr/initramfs_data.cpio*
/lib/gen_crc32table
/lib/crc*table.h
/drivers/tty/vt/consolemap_deftbl.c
/drivers/gpu/drm/*/reg_srcs/*.h
/net/wireless/regdb.c
/Documentation/output/
/Documentation/**/*.pdf
/samples/*/*-user
!/samples/bpf/test-user
patches
patches-*
quilt.series
series
TAGS
tags
GPATH
GRTAGS
GSYMS
GTAGS
ID
cscope.*
ncscope.*
*.cscope
sphinx_*/
kernel-doc-*
GNUmakefile
extra_certificates
signing_key.pem
signing_key.priv
signing_key.x509
x509.genkey
all*.config
.kunit/
*.kdev4
*.swp
*.swo
[._]*.s[a-v][a-z]
[._]*.sw[a-p]
[._]s[a-v][a-z]
Thumbs.db
.DS_Store
*.user
*.suo
*.vcxproj.filters
Debug/
Release/
x64/
`

func benchmarkIgnores(b *testing.B, repo Repository) {
	rules := (*Rules)(nil).Enter("", repo).AddGit("", []byte(bigProject)).
		AddGit("drivers/", []byte("*.fw\n/generated.c\n!keep.o\n")).
		AddGit("drivers/net/", []byte("local\n/test-*\n"))
	names := []string{"e1000_main.c", "e1000_hw.h", "Kconfig", "Makefile", "phy.o", "README.rst", "igb_ethtool.c", "ixgbe"}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		rules.Ignores("drivers/net/ethernet/intel/e1000/", names[i&7], i&7 == 7)
	}
}

func BenchmarkIgnores(b *testing.B)     { benchmarkIgnores(b, Repository{}) }
func BenchmarkIgnoresFold(b *testing.B) { benchmarkIgnores(b, Repository{Fold: true}) }

func BenchmarkAddGit(b *testing.B) {
	text := []byte(bigProject)
	b.ReportAllocs()
	for b.Loop() {
		(*Rules)(nil).AddGit("", text)
	}
}

func BenchmarkAddGitSmall(b *testing.B) {
	text := []byte("# generated\n/test-*\n*.fw\n")
	b.ReportAllocs()
	for b.Loop() {
		(*Rules)(nil).AddGit("", text)
	}
}
