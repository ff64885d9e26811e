package program

import "strings"

// judgePacker finds out whether the operands are replaced. Of the options that say what to do the last counts, except
// that --stdout always does.
func judgePacker(a *Args, u *Use) {
	name := a.Argv[0].Text
	kept, stdout := false, a.Has("--stdout", "-o") || strings.HasSuffix(name, "cat")
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
	if a.Has("--files", "--files0", "--filelist") && !kept {
		u.Add(Writes, "replaces the files that a list names")
	}
	for _, w := range a.Values("packed") {
		switch {
		case w.Static && w.Text == "-":
		case kept:
			u.Reads = append(u.Reads, w)
		case a.Has("--keep") || a.Has("-k"):
			u.Reads = append(u.Reads, w)
			u.Writes = append(u.Writes, repacked(name, w))
			if !a.Has("--force", "-f") {
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
		if !w.Static || !Digits(w.Text) {
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
