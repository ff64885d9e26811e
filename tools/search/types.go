package search

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"toolhost/agenttool"
	"toolhost/agenttool/near"
)

// fileTypes maps the languages of grep's type, by ripgrep's names, to their file names.
var fileTypes = map[string][]string{
	"asm":        {"*.asm", "*.s", "*.S"},
	"awk":        {"*.awk"},
	"bazel":      {"*.bazel", "*.bzl", "*.BUILD", "BUILD", "WORKSPACE", "MODULE.bazel"},
	"c":          {"*.c", "*.h", "*.C", "*.H", "*.cats"},
	"clojure":    {"*.clj", "*.cljc", "*.cljs", "*.cljx"},
	"cmake":      {"*.cmake", "CMakeLists.txt"},
	"cpp":        {"*.C", "*.H", "*.cc", "*.cpp", "*.cxx", "*.h", "*.hh", "*.hpp", "*.hxx", "*.inl"},
	"cs":         {"*.cs"},
	"csharp":     {"*.cs"},
	"css":        {"*.css", "*.scss"},
	"csv":        {"*.csv"},
	"dart":       {"*.dart"},
	"diff":       {"*.patch", "*.diff"},
	"docker":     {"*Dockerfile*"},
	"elisp":      {"*.el"},
	"elixir":     {"*.ex", "*.eex", "*.exs", "*.heex", "*.leex", "*.livemd"},
	"elm":        {"*.elm"},
	"erlang":     {"*.erl", "*.hrl"},
	"fsharp":     {"*.fs", "*.fsx", "*.fsi"},
	"go":         {"*.go"},
	"gradle":     {"*.gradle", "*.gradle.kts", "gradle.properties", "gradlew", "gradlew.bat"},
	"graphql":    {"*.graphql", "*.graphqls"},
	"groovy":     {"*.groovy", "*.gradle"},
	"h":          {"*.h", "*.hh", "*.hpp"},
	"haskell":    {"*.hs", "*.lhs", "*.cpphs", "*.c2hs", "*.hsc"},
	"html":       {"*.htm", "*.html", "*.ejs"},
	"java":       {"*.java", "*.jsp", "*.jspx", "*.properties"},
	"js":         {"*.js", "*.jsx", "*.vue", "*.cjs", "*.mjs"},
	"json":       {"*.json", "composer.lock", "*.sarif"},
	"jsonl":      {"*.jsonl"},
	"julia":      {"*.jl"},
	"jupyter":    {"*.ipynb", "*.jpynb"},
	"kotlin":     {"*.kt", "*.kts"},
	"less":       {"*.less"},
	"lisp":       {"*.el", "*.jl", "*.lisp", "*.lsp", "*.sc", "*.scm"},
	"log":        {"*.log"},
	"lua":        {"*.lua"},
	"make":       {"[Gg][Nn][Uu]makefile", "[Mm]akefile", "[Mm]akefile.am", "[Mm]akefile.in", "*.mk", "*.mak"},
	"markdown":   {"*.markdown", "*.md", "*.mdown", "*.mdwn", "*.mdx", "*.mkd", "*.mkdn"},
	"md":         {"*.markdown", "*.md", "*.mdown", "*.mdwn", "*.mdx", "*.mkd", "*.mkdn"},
	"nim":        {"*.nim", "*.nimf", "*.nimble", "*.nims"},
	"nix":        {"*.nix"},
	"objc":       {"*.h", "*.m"},
	"ocaml":      {"*.ml", "*.mli", "*.mll", "*.mly"},
	"perl":       {"*.perl", "*.pl", "*.PL", "*.plh", "*.plx", "*.pm", "*.t"},
	"php":        {"*.php", "*.php3", "*.php4", "*.php5", "*.php7", "*.php8", "*.pht", "*.phtml"},
	"powershell": {"*.ps1", "*.psm1", "*.psd1", "*.cdxml", "*.ps1xml"},
	"proto":      {"*.proto"},
	"protobuf":   {"*.proto"},
	"py":         {"*.py", "*.pyi"},
	"python":     {"*.py", "*.pyi"},
	"r":          {"*.R", "*.r", "*.Rmd", "*.Rnw"},
	"rst":        {"*.rst"},
	"ruby":       {"*.gemspec", "*.rb", "*.rbw", ".irbrc", "Gemfile", "Rakefile", "config.ru"},
	"rust":       {"*.rs"},
	"sass":       {"*.sass", "*.scss"},
	"scala":      {"*.scala", "*.sbt"},
	"sh": {"*.bash", "*.bashrc", "*.csh", "*.cshrc", "*.ksh", "*.kshrc", "*.sh", "*.tcsh", "*.zsh", ".bash_login",
		".bash_logout", ".bash_profile", ".bashrc", ".cshrc", ".kshrc", ".login", ".logout", ".profile", ".tcshrc",
		".zlogin", ".zlogout", ".zprofile", ".zshenv", ".zshrc", "bash_login", "bash_logout", "bash_profile", "bashrc",
		"profile", "zlogin", "zlogout", "zprofile", "zshenv", "zshrc"},
	"solidity":   {"*.sol"},
	"sql":        {"*.sql", "*.psql"},
	"starlark":   {"*.bazel", "*.bzl", "BUILD", "WORKSPACE"},
	"svelte":     {"*.svelte"},
	"svg":        {"*.svg"},
	"swift":      {"*.swift"},
	"systemd":    {"*.automount", "*.conf", "*.device", "*.mount", "*.path", "*.service", "*.socket", "*.target", "*.timer"},
	"tcl":        {"*.tcl"},
	"terraform":  {"*.tf", "*.tf.json", "*.tfvars", "*.tfvars.json", "*.terraform.lock.hcl", ".terraformrc"},
	"tex":        {"*.tex", "*.ltx", "*.cls", "*.sty", "*.bib", "*.dtx", "*.ins"},
	"toml":       {"*.toml", "Cargo.lock"},
	"ts":         {"*.ts", "*.tsx", "*.cts", "*.mts"},
	"txt":        {"*.txt"},
	"typescript": {"*.ts", "*.tsx", "*.cts", "*.mts"},
	"vim":        {"*.vim", ".gvimrc", ".vimrc", "gvimrc", "vimrc", "_vimrc"},
	"vue":        {"*.vue"},
	"wgsl":       {"*.wgsl"},
	"xml":        {"*.xml", "*.dtd", "*.rng", "*.sch", "*.xhtml", "*.xjb", "*.xml.dist", "*.xsd", "*.xsl", "*.xslt"},
	"yaml":       {"*.yaml", "*.yml"},
	"zig":        {"*.zig"},
}

// unknownType returns the error for an unknown type. It lists the types with a similar name, else all.
func unknownType(name string) error {
	all := slices.Sorted(maps.Keys(fileTypes))
	low := strings.ToLower(name)
	near := slices.DeleteFunc(slices.Clone(all), func(known string) bool { return !similar(low, known) })
	hint := "did you mean " + strings.Join(near, ", ") + "?"
	if len(near) == 0 {
		hint = "known types are " + strings.Join(all, ", ")
	}
	return agenttool.Failure(agenttool.InvalidArguments, "unknown_type",
		fmt.Sprintf("type %q is not known: %s; a glob such as *.%s works for any file", name, hint, low))
}

// similar reports whether one name begins with the other, one is a file extension of the other, or at most two
// letters, and less than half of them, differ.
func similar(name, known string) bool {
	if strings.HasPrefix(known, name) || strings.HasPrefix(name, known) && len(known) > 1 {
		return true
	}
	if slices.Contains(fileTypes[known], "*."+strings.TrimLeft(name, ".*")) {
		return true
	}
	d := near.Distance(name, known)
	return d <= 2 && 2*d < len(known)
}
