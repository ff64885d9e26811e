package program

import "strings"

// compressSpecs describes the programs that compress and expand single files. They replace their operands, unless told
// to write to the output, to test or to list.
func compressSpecs() []*Spec {
	return []*Spec{
		{Names: "gzip gunzip pigz unpigz", Operands: "packed*", Abbreviates: true, Judge: judgePacker,
			Options: gzipOptions},
		{Names: "zcat gzcat", Operands: "read*", Abbreviates: true, Options: gzipOptions},
		{Names: "bzip2 bunzip2 pbzip2 lbzip2", Operands: "packed*", Judge: judgePacker, Options: bzip2Options},
		{Names: "bzcat", Operands: "read*", Options: bzip2Options},
		{Names: "xz unxz lzma unlzma", Operands: "packed*", Abbreviates: true, Judge: judgePacker, Options: xzOptions},
		{Names: "xzcat lzcat", Operands: "read*", Abbreviates: true, Judge: judgePacker, Options: xzOptions},
		{Names: "zstd unzstd zstdmt", Operands: "packed*", Judge: judgePacker, Options: zstdOptions},
		{Names: "zstdcat", Operands: "packed*", Judge: judgePacker, Options: zstdOptions},
		{Names: "lz4 unlz4", Operands: "packed*", Judge: judgePacker, Options: lz4Options},
		{Names: "lz4cat", Operands: "read*", Options: "-f -q -v -V -h -H -m"},
	}
}

const gzipOptions = `-a,--ascii -c,--to-stdout,--stdout -d,--uncompress,--decompress -f,--force -h,--help -k,--keep
	-l,--list -L,--license -n,--no-name -N,--name -q,--quiet,--silent -r,--recursive!reads_tree --rsyncable
	-S,--suffix:text --synchronous -t,--test -v,--verbose -V,--version -1,--fast -2 -3 -4 -5 -6 -7 -8 -9,--best
	-p,--processes:text`

const bzip2Options = `-h,--help -d,--decompress -z,--compress -k,--keep -f,--force -t,--test -c,--stdout -q,--quiet
	-v,--verbose -L,--license -V,--version -s,--small -1,--fast -2 -3 -4 -5 -6 -7 -8 -9,--best`

const xzOptions = `-z,--compress -d,--uncompress,--decompress -t,--test -l,--list -k,--keep -f,--force
	-c,--to-stdout,--stdout --single-stream --no-sparse -S,--suffix:text --files?:list!reads_elsewhere
	--files0?:list!reads_elsewhere -F,--format:text -C,--check:text --ignore-check -0 -1 -2 -3 -4 -5 -6 -7 -8 -9
	--fast --best -e,--extreme -T,--threads:text --block-size:text --block-list:text --flush-timeout:text
	--memlimit-compress:text --memlimit-decompress:text --memlimit-mt-decompress:text -M,--memlimit,--memory:text
	--no-adjust --lzma1?:text --lzma2?:text --x86?:text --arm?:text --armthumb?:text --arm64?:text --powerpc?:text
	--ia64?:text --sparc?:text --delta?:text -q,--quiet -v,--verbose -Q,--no-warn --no-sync --robot --info-memory
	-h,--help -H,--long-help -V,--version`

const zstdOptions = `-o:out -k,--keep --rm!destroys -d,--uncompress,--decompress -z,--compress -D:read -f,--force -h
	-H,--help -V,--version -c,--to-stdout,--stdout -v,--verbose -q,--quiet --trace:file --progress --no-progress
	-r!reads_tree --filelist:list!reads_elsewhere --output-dir-flat:file --output-dir-mirror:file --asyncio
	--no-asyncio --check --no-check --ultra --fast?:text --adapt --long?:text --patch-from:read --single-thread
	--auto-threads:text -T?:digits -M?:digits --memory:text --rsyncable --exclude-compressed --stream-size:text
	--size-hint:text --no-dictID --format:text -l,--list -t,--test --sparse --no-sparse --pass-through
	--no-pass-through -num`

const lz4Options = `-1 -2 -3 -4 -5 -6 -7 -8 -9 -d,--decompress,--uncompress -z,--compress -c,--to-stdout,--stdout
	-t,--test -f,--force -k,--keep --rm!destroys -q,--quiet -v,--verbose -m,--multiple -V,--version -h -H,--help
	--list`

// judgePacker finds out whether the operands are replaced. Of the options that say what to do the last counts, except
// that --stdout always does.
func judgePacker(a *Args, u *Use) {
	name := a.Argv[0].Text
	kept, stdout := false, a.oneOf("--stdout", "-o") || strings.HasSuffix(name, "cat")
	for _, o := range a.Options {
		switch o.Name {
		case "--decompress", "--compress", "--uncompress":
			kept = false
		case "--test", "--list":
			kept = true
		}
	}
	if strings.Contains(name, "zstd") {
		judgeZstd(a, u)
	}
	kept = kept || stdout
	lists := a.Values("list")
	u.Reads = append(u.Reads, lists...)
	if a.oneOf("--files", "--files0", "--filelist") && !kept {
		u.Add(Writes, "replaces the files that a list names")
	}
	for _, w := range a.Values("packed") {
		switch {
		case w.Static && w.Text == "-":
		case kept:
			u.Reads = append(u.Reads, w)
		case a.oneOf("--keep") || a.Has("-k"):
			u.Reads = append(u.Reads, w)
			u.Writes = append(u.Writes, repacked(name, w))
			if !a.oneOf("--force", "-f") {
				u.Effects = append(u.Effects, Adds)
			}
		default:
			u.Writes = append(u.Writes, w, repacked(name, w))
			u.Reasons = append(u.Reasons, because("replaces "+spelled(w)))
		}
	}
}

// judgeZstd refuses what zstd takes apart in its own way: the value of -D and -o is the next word, even where letters
// follow in the same one, and letters may follow the number after -T and -M.
func judgeZstd(a *Args, u *Use) {
	for _, w := range a.Values("out") {
		if !w.Static || w.Text != "-" {
			u.Writes = append(u.Writes, w)
		}
	}
	for _, w := range a.Values("digits") {
		if !w.Static || !digits(w.Text) {
			u.Unknown("zstd: letters may follow the number "+spelled(w), w)
		}
	}
	for _, w := range a.Argv[1:] {
		if len(w.Text) < 2 || w.Text[0] != '-' || w.Text[1] == '-' {
			continue
		}
		if i := strings.IndexAny(w.Text, "Do"); i > 0 && i < len(w.Text)-1 {
			u.Unknown("zstd: the value of a letter is the next word, and letters follow in "+w.Text, w)
		}
	}
}

// packedSuffixes are those of the files that the programs make.
var packedSuffixes = []struct{ program, suffix string }{
	{"bz", ".bz2"}, {"bunzip", ".bz2"}, {"xz", ".xz"}, {"lzma", ".lzma"}, {"zst", ".zst"}, {"lz4", ".lz4"}, {"", ".gz"},
}

// repacked returns the name that is made from another, as far as it can be known.
func repacked(name string, w Word) Word {
	for _, p := range packedSuffixes {
		if !strings.Contains(name, p.program) {
			continue
		}
		if plain, ok := strings.CutSuffix(w.Text, p.suffix); ok {
			w.Text = plain
		} else if w.Static {
			w.Text += p.suffix
		}
		return w
	}
	return w
}
