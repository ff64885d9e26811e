package program

import "strings"

// binutilSpecs describes the GNU programs that look into object files. Words may stand in @file.
func binutilSpecs() []*Spec {
	return []*Spec{
		{
			Names: "nm", Operands: "object*", Abbreviates: true, Judge: judgeObject,
			Options: `-a,--debug-syms -A,--print-file-name -B -C,--demangle?:text --no-demangle --recurse-limit
				--no-recurse-limit -D,--dynamic -e -f,--format:text -g,--extern-only --ifunc-chars:text -j,--just-symbols
				-l,--line-numbers -n,--numeric-sort -o -p,--no-sort -P,--portability -r,--reverse-sort
				--plugin:run!runs_code -S,--print-size -s,--print-armap --quiet --size-sort --special-syms --synthetic
				-t,--radix:text --target:text -u,--undefined-only -U,--defined-only --unicode:text -W,--no-weak
				--with-symbol-versions -X:text -h,--help -V,--version`,
		},
		{
			Names: "size", Operands: "object*", Abbreviates: true, Judge: judgeObject,
			Options: `-A -B -G --format:text -o -d -x --radix:text -t,--totals -f --common --target:text -h,-H,--help
				-v,-V,--version`,
		},
		{
			Names: "readelf", Operands: "object*", Abbreviates: true, Judge: judgeObject,
			// -w and --debug-dump may ask a server for missing debug data; a variable, or the value of the option, names it.
			Options: `-a,--all -h,--file-header -l,--program-headers,--segments -S,--section-headers,--sections
				-g,--section-groups -t,--section-details -e,--headers -s,--syms,--symbols --dyn-syms --lto-syms
				--sym-base:text -C,--demangle?:text --no-demangle --recurse-limit --no-recurse-limit -U:text --unicode:text
				-X,--extra-sym-info --no-extra-sym-info -n,--notes -r,--relocs -u,--unwind -d,--dynamic -V,--version-info
				-A,--arch-specific -c,--archive-index -D,--use-dynamic -L,--lint,--enable-checks -x,--hex-dump:text
				-p,--string-dump:text -R,--relocated-dump:text -z,--decompress -j,--display-section:text
				-w?:text!reads_elsewhere,reaches --debug-dump?:text!reads_elsewhere,reaches -P,--process-links!reads_elsewhere
				--dwarf-depth:text --dwarf-start:text --ctf?:text --ctf-parent:text --ctf-symbols:text --ctf-strings:text
				--sframe?:text -I,--histogram -W,--wide -T,--silent-truncation -H,--help -v,--version`,
		},
		{
			Names: "objdump", Operands: "object*", Abbreviates: true, Judge: judgeObject,
			// The source files and the separate debug files that an object names may be anywhere.
			Options: `-a,--archive-headers -f,--file-headers -p,--private-headers -P,--private:text
				-h,--headers,--section-headers -x,--all-headers -d --disassemble?:text -D,--disassemble-all
				-S,--source!reads_elsewhere --source-comment?:text!reads_elsewhere -s,--full-contents -Z,--decompress
				-g,--debugging -e,--debugging-tags -G,--stabs -W?:text!reads_elsewhere,reaches
				--dwarf?:text!reads_elsewhere,reaches -L,--process-links!reads_elsewhere --ctf?:text --sframe?:text -t,--syms
				-T,--dynamic-syms -r,--reloc -R,--dynamic-reloc -v,--version -i,--info -H,--help -b,--target:text
				-m,--architecture:text -j,--section:text -M,--disassembler-options:text -E:text --endian:text
				--file-start-context -I,--include:read -l,--line-numbers -F,--file-offsets -C,--demangle?:text
				--recurse-limit --no-recurse-limit -w,--wide -U:text --unicode:text -z,--disassemble-zeroes
				--start-address:text --stop-address:text --no-addresses --prefix-addresses --show-raw-insn
				--no-show-raw-insn --insn-width:text --adjust-vma:text --show-all-symbols --special-syms --inlines
				--prefix:text --prefix-strip:text --dwarf-depth:text --dwarf-start:text --dwarf-check --ctf-parent:text
				--visualize-jumps?:text --disassembler-color:text`,
		},
		// The loader of the operand may be the operand's own choice.
		{Names: "ldd", Operands: "object*", Judge: judgeLdd, Abbreviates: true,
			Options: "-d,--data-relocs -r,--function-relocs -u,--unused -v,--verbose" + helpVersion},
		{Names: "ldconfig", Operands: "", Options: "-p,--print-cache -v,--verbose -V,--version --help", Judge: judgeLdconfig},
		{Names: "c++filt", Operands: "text*", Judge: judgeNames,
			Options: `-_,--strip-underscore -n,--no-strip-underscore -p,--no-params -t,--types -i,--no-verbose -r -R
				-s,--format:text -h,--help -v,--version`},
	}
}

// judgeObject refuses @file, whose words may be options.
func judgeObject(a *Args, u *Use) {
	name := a.Argv[0].Text
	for _, w := range a.Argv[1:] {
		if strings.HasPrefix(w.Text, "@") {
			u.Unknown(name+": options may stand in "+spelled(w), w)
		}
	}
	for _, w := range a.Values("object") {
		if !w.Static && w.Text == "" {
			u.Unknown(name+": options may stand in a file that "+spelled(w)+" names", w)
		}
		u.Reads = append(u.Reads, w)
	}
	if len(a.Values("object")) == 0 && (name == "nm" || name == "size" || name == "objdump") {
		u.Reads = append(u.Reads, Lit("a.out"))
	}
}

func judgeLdd(a *Args, u *Use) {
	for _, w := range a.Values("object") {
		u.Reads = append(u.Reads, w)
		if w.Static && !strings.Contains(w.Text, "..") && (strings.HasPrefix(w.Text, "/usr/") || strings.HasPrefix(w.Text, "/bin/") || strings.HasPrefix(w.Text, "/lib/")) {
			continue // a program of the system does no more than it is linked for
		}
		u.Add(RunsCode, "ldd may run "+spelled(w))
	}
}

// judgeLdconfig: without an option that says else, it makes the cache anew.
func judgeLdconfig(a *Args, u *Use) {
	if !a.oneOf("--print-cache", "--version", "--help") {
		u.Add(Writes, "ldconfig writes its cache and links")
	}
}

// judgeNames refuses @file among names: it stands for the words of that file.
func judgeNames(a *Args, u *Use) {
	for _, w := range a.Operands {
		if !w.Static || strings.HasPrefix(w.Text, "@") {
			u.Unknown("a name that begins with @ stands for the words of a file", w)
		}
	}
}
