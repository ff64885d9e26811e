package program

import "strings"

// ConditionalUse is a use that runs code that files of the project name, and only reads where these files are absent.
type ConditionalUse struct {
	Use    Use
	Absent []string // names that must not be in the directory where it runs
	Upward []string // ... nor there or in one of those above
}

// SettledBy returns the use of a command line where files of some names are absent, false if there is no such use.
func SettledBy(argv []Word) (ConditionalUse, bool) {
	for _, w := range argv {
		if !w.Static {
			return ConditionalUse{}, false
		}
	}
	clean := Use{Understood: true, Effects: []Effect{NotConcurrent}}
	rust := []string{"rust-toolchain", "rust-toolchain.toml", ".cargo"}
	words := Texts(argv)
	switch line := strings.Join(words, " "); {
	case rustQuestions[line]:
		return ConditionalUse{Use: clean, Upward: rust}, true
	case strings.HasPrefix(line, "cargo metadata ") && strings.Contains(line, " --no-deps") && !strings.Contains(line, "--manifest-path"):
		_, clean := Parse(Lookup("cargo"), argv)
		clean.Effects = []Effect{ReadsTree, NotConcurrent}
		return ConditionalUse{Use: *clean, Upward: rust}, clean.Understood && len(clean.Reads) == 0
	case strings.HasPrefix(line, "cargo tree ") && cargoTree(words[2:]):
		return ConditionalUse{Use: clean, Upward: rust}, true
	case words[0] == "python" || words[0] == "python3":
		files, ok := jsonFiles(argv)
		clean.Reads = files
		return ConditionalUse{Use: clean, Absent: jsonTool}, ok
	case words[0] == "npm" && len(words) > 1:
		return npmSettled(argv, words, clean)
	}
	return ConditionalUse{}, false
}

// rustQuestions are the lines of Rust's programs that only ask, whatever the project is.
var rustQuestions = map[string]bool{
	"cargo --version": true, "cargo -V": true, "cargo version": true, "cargo locate-project": true,
	"rustc --version": true, "rustc -V": true, "rustc -vV": true, "rustc --version --verbose": true, "rustc --print sysroot": true,
	"rustfmt --version": true,
}

// npmSettled judges questions that npm answers from node_modules and package.json. It writes a log, to where .npmrc says; the sandbox of a
// command that only reads refuses that, and npm goes on.
func npmSettled(argv []Word, words []string, clean Use) (ConditionalUse, bool) {
	switch words[1] {
	case "ls", "list", "ll", "explain", "why", "root", "prefix", "pkg":
	default:
		return ConditionalUse{}, false
	}
	if words[1] == "pkg" && (len(words) < 3 || words[2] != "get") {
		return ConditionalUse{}, false
	}
	_, use := Parse(Lookup("npm"), argv)
	clean.Effects = []Effect{ReadsTree, NotConcurrent}
	return ConditionalUse{Use: clean, Upward: []string{".npmrc"}}, use.Understood && len(use.Reads) == 0
}

// jsonFiles returns the file that python -m json.tool reads, if any. It is not ok for a second one, which would be written.
func jsonFiles(argv []Word) (files []Word, ok bool) {
	if len(argv) < 3 || argv[1].Text != "-m" || argv[2].Text != "json.tool" {
		return nil, false
	}
	for i := 3; i < len(argv); i++ {
		switch w := argv[i]; w.Text {
		case "--sort-keys", "--no-ensure-ascii", "--json-lines", "--tab", "--no-indent", "--compact":
		case "--indent":
			i++
			if i == len(argv) || !Digits(argv[i].Text) {
				return nil, false
			}
		default:
			if len(files) > 0 || w.Text == "" || w.Text[0] == '-' {
				return nil, false
			}
			files = append(files, w)
		}
	}
	return files, true
}

// cargoTree reports whether cargo tree only shows what Cargo.lock says.
func cargoTree(words []string) bool {
	offline := false
	for i := 0; i < len(words); i++ {
		switch words[i] {
		case "--offline", "--frozen":
			offline = true
		case "--locked", "--workspace", "-d", "--duplicates", "-q", "--no-dedupe", "--all-features", "--no-default-features":
		case "--depth", "-e", "--edges", "-i", "--invert", "-p", "--package", "-F", "--features", "--format", "--prefix":
			i++
		default:
			return false
		}
	}
	return offline
}

// jsonTool lists the names in the working directory that python would import in the place of modules that json.tool needs.
var jsonTool = pythonModules(`abc argparse ast codecs collections contextlib copyreg dis encodings enum errno fnmatch functools genericpath
	gettext glob importlib inspect io itertools json keyword linecache locale math ntpath opcode operator os pathlib posixpath pwd re
	reprlib runpy shutil site sitecustomize sre_compile sre_constants sre_parse stat string struct sys textwrap threading token tokenize
	traceback types typing unicodedata urllib usercustomize warnings weakref zipimport zlib bz2 lzma grp ipaddress fractions decimal
	numbers random hashlib bisect copy pkgutil _colorize`)

func pythonModules(names string) []string {
	var files []string
	for name := range strings.FieldsSeq(names) {
		files = append(files, name, name+".py", name+".pyc", name+".so")
	}
	return files
}

// Texts returns the texts of words.
func Texts(argv []Word) []string {
	words := make([]string, len(argv))
	for i, w := range argv {
		words[i] = w.Text
	}
	return words
}
