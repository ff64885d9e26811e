package files

import (
	"os/exec"
	"path/filepath"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"toolhost/agenttool"
)

// fileKind is a kind of file that read does not show, with shell commands that do. read names a command and does not run it: these programs
// parse hostile files, so they must run in the sandbox of the shell and under its rules.
type fileKind struct {
	name    string
	magic   string // bytes at offset at by which the kind is recognised
	at      int
	endings string // of file names, between blanks, if several kinds share the magic; "": any name
	ways    []way
}

// way is a shell command that shows a file.
type way struct {
	shows   string // what the command shows
	program string // that must be installed
	command string // FILE stands for the file, and PNG for a new file in /tmp, which read can show
	from    string // the Debian package of the program; "": another way is suggested for installation
}

// Ways that several kinds share. read names the first whose program is installed, or else the first with a package. At least one has a package.
var (
	smallerCopy = []way{
		{"a smaller copy to read", "magick", "magick FILE -resize '1568x1568>' PNG", ""},
		{"a smaller copy to read", "convert", "convert FILE -resize '1568x1568>' PNG", "imagemagick"},
		{"a smaller copy to read", "vipsthumbnail", "vipsthumbnail FILE --size '1568x1568>' -o PNG", ""},
		{"a smaller copy to read", "ffmpeg", "ffmpeg -i FILE -vf scale=1568:1568:force_original_aspect_ratio=decrease PNG", ""},
	}
	toPNG = []way{
		{"a copy to read", "magick", "magick FILE PNG", ""},
		{"a copy to read", "convert", "convert FILE PNG", "imagemagick"},
		{"a copy to read", "ffmpeg", "ffmpeg -i FILE -frames:v 1 PNG", ""},
	}
	firstFrame = []way{
		{"its first frame to read", "magick", "magick FILE'[0]' PNG", ""},
		{"its first frame to read", "convert", "convert FILE'[0]' PNG", "imagemagick"},
	}
	fromHEIF = []way{
		{"a copy to read", "heif-convert", "heif-convert FILE PNG", "libheif-examples"},
		{"a copy to read", "heif-dec", "heif-dec FILE PNG", ""},
		{"a copy to read", "avifdec", "avifdec FILE PNG", ""},
		{"a copy to read", "magick", "magick FILE PNG", ""},
	}
	fromMedia = []way{
		{"its streams", "ffprobe", "ffprobe -hide_banner FILE", "ffmpeg"},
		{"its streams", "mediainfo", "mediainfo FILE", ""},
	}
	zipNames = []way{
		{"the names in it", "unzip", "unzip -l FILE", "unzip"},
		{"the names in it", "bsdtar", "bsdtar -tf FILE", ""},
		{"the names in it", "python3", "python3 -m zipfile -l FILE", ""},
	}
	firstBytes = []way{{"its first bytes", "od", "od -A d -t x1z -N 256 FILE", "coreutils"}}
	anyFile    = []way{
		{"what it is, and its first bytes", "file", "file FILE; od -A d -t x1z -N 256 FILE", ""},
		{"its first bytes", "od", "od -A d -t x1z -N 256 FILE", "coreutils"},
	}
)

// kinds are tried in order: a row with endings stands before the row without them.
var kinds = []fileKind{
	{name: "PDF document", magic: "%PDF-", ways: []way{
		{"its text", "pdftotext", "pdftotext -layout FILE -", "poppler-utils"},
		{"its text", "mutool", "mutool draw -F txt FILE", ""},
	}},
	{name: "Word document", magic: "PK\x03\x04", endings: " .docx .docm .dotx ", ways: []way{
		{"its text", "pandoc", "pandoc -t plain FILE", ""},
		{"its text", "unzip", "unzip -p FILE word/document.xml | sed 's/<[^>]*>/ /g'", "unzip"},
	}},
	{name: "Excel workbook", magic: "PK\x03\x04", endings: " .xlsx .xlsm ", ways: []way{
		{"its cells", "xlsx2csv", "xlsx2csv -a FILE", ""},
		{"its texts", "unzip", "unzip -p FILE xl/sharedStrings.xml | sed 's/<[^>]*>/ /g'", "unzip"},
	}},
	{name: "PowerPoint presentation", magic: "PK\x03\x04", endings: " .pptx .pptm ", ways: []way{
		{"its text", "unzip", "unzip -p FILE 'ppt/slides/slide*.xml' | sed 's/<[^>]*>/ /g'", "unzip"},
	}},
	{name: "OpenDocument file", magic: "PK\x03\x04", endings: " .odt .ods .odp .odg ", ways: []way{
		{"its text", "unzip", "unzip -p FILE content.xml | sed 's/<[^>]*>/ /g'", "unzip"},
	}},
	{name: "EPUB book", magic: "PK\x03\x04", endings: " .epub ", ways: []way{
		{"its text", "pandoc", "pandoc -t plain FILE", ""},
		{"the names in it", "unzip", "unzip -l FILE", "unzip"},
	}},
	{name: "Zip archive", magic: "PK\x03\x04", ways: zipNames},
	{name: "Zip archive", magic: "PK\x05\x06", ways: zipNames},
	{name: "gzip archive", magic: "\x1f\x8b", endings: " .tgz .tar.gz .crate ", ways: []way{{"the names in it", "tar", "tar -tzf FILE", "tar"}}},
	{name: "gzip file", magic: "\x1f\x8b\x08", ways: []way{{"the beginning of its content", "gzip", "gzip -dc FILE | head -c 4000", "gzip"}}},
	{name: "bzip2 archive", magic: "BZh", endings: " .tbz .tbz2 .tar.bz2 ", ways: []way{{"the names in it", "bzip2", "tar -tjf FILE", "bzip2"}}},
	{name: "bzip2 file", magic: "1AY&SY", at: 4, ways: []way{{"the beginning of its content", "bzip2", "bzip2 -dc FILE | head -c 4000", "bzip2"}}},
	{name: "xz archive", magic: "\xfd7zXZ\x00", endings: " .txz .tar.xz ", ways: []way{{"the names in it", "xz", "tar -tJf FILE", "xz-utils"}}},
	{name: "xz file", magic: "\xfd7zXZ\x00", ways: []way{{"the beginning of its content", "xz", "xz -dc FILE | head -c 4000", "xz-utils"}}},
	{name: "zstd archive", magic: "\x28\xb5\x2f\xfd", endings: " .tzst .tar.zst ", ways: []way{{"the names in it", "zstd", "tar --zstd -tf FILE", "zstd"}}},
	{name: "zstd file", magic: "\x28\xb5\x2f\xfd", ways: []way{{"the beginning of its content", "zstd", "zstd -dc FILE | head -c 4000", "zstd"}}},
	{name: "tar archive", magic: "ustar", at: 257, ways: []way{{"the names in it", "tar", "tar -tf FILE", "tar"}}},
	{name: "7z archive", magic: "7z\xbc\xaf\x27\x1c", ways: []way{
		{"the names in it", "7z", "7z l FILE", "p7zip-full"}, {"the names in it", "bsdtar", "bsdtar -tf FILE", ""},
	}},
	{name: "RAR archive", magic: "Rar!\x1a\x07", ways: []way{
		{"the names in it", "unrar", "unrar l FILE", ""}, {"the names in it", "bsdtar", "bsdtar -tf FILE", "libarchive-tools"},
	}},
	{name: "Debian package", magic: "!<arch>\ndebian-binary", ways: []way{{"the names in it", "dpkg-deb", "dpkg-deb -c FILE", "dpkg"}}},
	{name: "ar archive", magic: "!<arch>\n", ways: []way{{"the names in it", "ar", "ar t FILE", "binutils"}}},
	{name: "RPM package", magic: "\xed\xab\xee\xdb", ways: []way{{"the names in it", "rpm", "rpm -qlp FILE", "rpm"}}},

	{name: "HEIC image", magic: "ftyphei", at: 4, ways: fromHEIF},
	{name: "HEIC image", magic: "ftyphev", at: 4, ways: fromHEIF},
	{name: "HEIF image", magic: "ftypmif1", at: 4, ways: fromHEIF},
	{name: "HEIF image", magic: "ftypmsf1", at: 4, ways: fromHEIF},
	{name: "AVIF image", magic: "ftypavi", at: 4, ways: []way{
		{"a copy to read", "avifdec", "avifdec FILE PNG", "libavif-bin"},
		{"a copy to read", "ffmpeg", "ffmpeg -i FILE -frames:v 1 PNG", ""},
		{"a copy to read", "magick", "magick FILE PNG", ""},
	}},
	{name: "TIFF image", magic: "II*\x00", ways: toPNG},
	{name: "TIFF image", magic: "MM\x00*", ways: toPNG},
	{name: "BMP image", magic: "BM", endings: " .bmp .dib ", ways: toPNG},
	{name: "icon", magic: "\x00\x00\x01\x00", endings: " .ico ", ways: toPNG},
	{name: "JPEG XL image", magic: "\x00\x00\x00\x0cJXL ", ways: []way{
		{"a copy to read", "djxl", "djxl FILE PNG", "libjxl-tools"},
		{"a copy to read", "magick", "magick FILE PNG", ""},
	}},
	{name: "JPEG 2000 image", magic: "\x00\x00\x00\x0cjP  ", ways: toPNG},
	{name: "Photoshop image", magic: "8BPS", ways: firstFrame},

	{name: "MP4 video or audio", magic: "ftyp", at: 4, ways: fromMedia},
	{name: "Matroska video or audio", magic: "\x1a\x45\xdf\xa3", ways: fromMedia},
	{name: "AVI video", magic: "AVI ", at: 8, ways: fromMedia},
	{name: "WAV audio", magic: "WAVE", at: 8, ways: fromMedia},
	{name: "Ogg video or audio", magic: "OggS\x00", ways: fromMedia},
	{name: "FLAC audio", magic: "fLaC\x00", ways: fromMedia},
	{name: "MP3 audio", magic: "ID3", endings: " .mp3 ", ways: fromMedia},
	{name: "MP3 audio", magic: "\xff", endings: " .mp3 ", ways: fromMedia},

	{name: "SQLite database", magic: "SQLite format 3\x00", ways: []way{{"its tables", "sqlite3", "sqlite3 -readonly FILE .schema", "sqlite3"}}},
	{name: "Word document", magic: "\xd0\xcf\x11\xe0", endings: " .doc ", ways: []way{
		{"its text", "antiword", "antiword FILE", ""}, {"its text", "catdoc", "catdoc FILE", "catdoc"},
	}},
	{name: "Excel workbook", magic: "\xd0\xcf\x11\xe0", endings: " .xls ", ways: []way{{"its cells", "xls2csv", "xls2csv FILE", "catdoc"}}},
	{name: "PowerPoint presentation", magic: "\xd0\xcf\x11\xe0", endings: " .ppt ", ways: []way{{"its text", "catppt", "catppt FILE", "catdoc"}}},
	{name: "ELF program or library", magic: "\x7fELF", ways: []way{
		{"its head", "readelf", "readelf -h FILE", "binutils"}, {"what it is", "file", "file FILE", ""},
	}},
	{name: "Java class", magic: "\xca\xfe\xba\xbe", endings: " .class ", ways: []way{{"its code", "javap", "javap -c FILE", "default-jdk-headless"}}},
	{name: "message catalogue", magic: "\xde\x12\x04\x95", ways: []way{{"its texts", "msgunfmt", "msgunfmt FILE", "gettext"}}},
}

// fileKindOf returns the kind of a file that begins with head and is not UTF-8; nil: the table has no such kind.
func fileKindOf(name string, head []byte) *fileKind {
	base, start := strings.ToLower(filepath.Base(name)), string(head[:min(len(head), 512)])
	for i, k := range kinds {
		if len(start) < k.at || !strings.HasPrefix(start[k.at:], k.magic) {
			continue
		}
		if k.endings == "" || hasEnding(base, k.endings) {
			return &kinds[i]
		}
	}
	return nil
}

// hasEnding reports whether a file name ends in one of the endings, which stand between blanks.
func hasEnding(base, endings string) bool {
	for ending := range strings.FieldsSeq(endings) {
		if strings.HasSuffix(base, ending) {
			return true
		}
	}
	return false
}

// wayOn returns the end of a sentence that names a command for the file. It is empty for a stored result of the session, which has no path that a
// command could use.
func (c *readCall) wayOn(ways []way) string {
	if len(c.facts.Reads) == 0 {
		return ""
	}
	var missing *way
	for _, w := range ways {
		if _, err := exec.LookPath(w.program); err == nil {
			return ". In the shell, this shows " + w.shows + ": " + c.command(w.command)
		}
		if missing == nil && w.from != "" {
			missing = &w
		}
	}
	return ". In the shell, this shows " + missing.shows + ": " + c.command(missing.command) + " (" + missing.program +
		" is not installed here; Debian's package of it is " + missing.from + ")"
}

// command fills the file of the call into the command of a way.
func (c *readCall) command(command string) string {
	file := agenttool.ParsePath(c.spelling())
	if strings.HasPrefix(file, "-") {
		file = "./" + file
	}
	base := filepath.Base(file)
	png := "/tmp/" + strings.TrimSuffix(base, filepath.Ext(base)) + "-view.png"
	return strings.NewReplacer("FILE", shellWord(file), "PNG", shellWord(png)).Replace(command)
}

// shellWord returns a path as a word of bash.
func shellWord(path string) string {
	word, err := syntax.Quote(path, syntax.LangBash)
	if err != nil { // it has a NUL, and no path has
		return agenttool.QuotePath(path)
	}
	return word
}
