package program

import "strings"

// viewerSpecs describes the programs that show text to a person. They wait for keys only if they write to a terminal,
// and then what the keys do is the person's business.
func viewerSpecs() []*Spec {
	return []*Spec{
		{
			Names: "less", Operands: "page*", Effects: "pages", Judge: judgeLess,
			// -k names a table of keys that sets variables, -t and -T tags that hold commands: not here.
			Options: `-? --help -a,--search-skip-screen -A,--SEARCH-SKIP-SCREEN -b,--buffers:number -B,--auto-buffers
				-c,-C,--clear-screen -d,--dumb -e,--quit-at-eof -E,--QUIT-AT-EOF -f,--force -F,--quit-if-one-screen
				-g,--hilite-search -G,--HILITE-SEARCH -h,--max-back-scroll:number -i,--ignore-case -I,--IGNORE-CASE
				-j,--jump-target:number -J,--status-column -K,--quit-on-intr -L,--no-lessopen -m,--long-prompt
				-M,--LONG-PROMPT -n,--line-numbers -N,--LINE-NUMBERS -o,--log-file:logfile -O,--LOG-FILE:logfile
				-p,--pattern:phrase -P,--prompt:phrase -q,--quiet,--silent -Q,--QUIET,--SILENT -r,--raw-control-chars
				-R,--RAW-CONTROL-CHARS -s,--squeeze-blank-lines -S,--chop-long-lines -u,--underline-special
				-U,--UNDERLINE-SPECIAL -V,--version -w,--hilite-unread -W,--HILITE-UNREAD -x,--tabs:number -X,--no-init
				-y,--max-forw-scroll:number -z,--window:number -~,--tilde -num`,
		},
		{
			Names: "more", Operands: "page*", Effects: "pages", Judge: judgeMore,
			Options: `-d,--silent -f,--logical -l,--no-pause -c,--print-over -p,--clean-print -e,--exit-on-eof -s,--squeeze
				-u,--plain -n,--lines:text -num -h,--help -V,--version`,
		},
		{
			Names: "man", Operands: "topic*", Effects: "pages", Abbreviates: true, Judge: judgeMan,
			// Options that select pages or configuration other than the system's, or name programs, have an effect.
			Options: `-C,--config-file:run!runs_code -d,--debug -D,--default --warnings?:text -f,--whatis -k,--apropos
				-K,--global-apropos -l,--local-file!runs_code -w,--where,--path,--location -W,--where-cat,--location-cat
				-c,--catman!writes -R,--recode:text -L,--locale:text!runs_code -m,--systems:text!runs_code
				-M,--manpath:read!runs_code -S,-s,--sections:text -e,--extension:text -i,--ignore-case -I,--match-case --regex
				--wildcard --names-only -a,--all -u,--update!writes --no-subpages -P,--pager:run!runs_code -r,--prompt:text
				-7,--ascii -E,--encoding:text --no-hyphenation,--nh --no-justification,--nj -p,--preprocessor:text!runs_code
				-t,--troff -T,--troff-device?:text -H,--html?:run!runs_code -X,--gxditview?:text!runs_code -Z,--ditroff -?
				--help --usage -V,--version`,
		},
		{Names: "apropos whatis", Operands: "text*", Abbreviates: true,
			Options: `-d,--debug -v,--verbose -e,--exact -r,--regex -w,--wildcard -a,--and -l,--long -s,--sections,--section:text
				-? --help --usage -V,--version`},
		{Names: "tput", Operands: "capability text*", Options: "-T:text -V -x", InOrder: true, Judge: judgeTput},
		{Names: "locale", Operands: "text*", Abbreviates: true, Harmless: true,
			Options: `-a,--all-locales -m,--charmaps -c,--category-name -k,--keyword-name -v,--verbose -? --help --usage
				-V,--version`},
		// -v SPECIFICATION runs the getconf of that name.
		{Names: "getconf", Operands: "text read?", Options: "-a --help --version"},
		{Names: "dircolors", Operands: "read?", Abbreviates: true, Harmless: true,
			Options: "-b,--sh,--bourne-shell -c,--csh,--c-shell -p,--print-database --print-ls-colors" + helpVersion},
		{Names: "cal ncal", Operands: "text*", Harmless: true,
			Options: `-1,--one -3,--three -n,--months:text -S,--span -s,--sunday -m,--monday -j,--julian -y,--year -Y,--twelve
				-w,--week?:text -v,--vertical -h --help -V,--version`},
	}
}

// judgeLess refuses what less takes for more than it seems: commands that begin with +, letters after a number, and
// letters after the $ that ends a text.
func judgeLess(a *Args, u *Use) {
	for _, w := range a.Values("number") {
		if !w.Static || strings.Trim(w.Text, "0123456789.,-") != "" {
			u.Unknown("less: options may follow the number in "+spelled(w), w)
		}
	}
	for _, w := range a.Values("phrase") {
		if !w.Static || strings.ContainsAny(w.Text, "$\\\n\r") {
			u.Unknown("less: options may follow a $ in "+spelled(w), w)
		}
	}
	u.Writes = append(u.Writes, a.Values("logfile")...)
	for _, w := range a.Values("page") {
		if strings.HasPrefix(w.Text, "+") || w.Text == "" {
			u.Unknown("less: "+spelled(w)+" may be a command", w)
		} else if w.Text != "-" {
			u.Reads = append(u.Reads, w)
		}
	}
}

// judgeMore tells files from +line and +/pattern.
func judgeMore(a *Args, u *Use) {
	for _, w := range a.Values("page") {
		if !strings.HasPrefix(w.Text, "+") {
			u.Reads = append(u.Reads, w)
		}
	}
}

// judgeMan: a topic with a slash is a file, whose text is a program for groff.
func judgeMan(a *Args, u *Use) {
	for _, w := range a.Values("topic") {
		if !w.Static || strings.Contains(w.Text, "/") {
			u.Unknown("man: "+spelled(w)+" may be a file", w)
		}
	}
}

// judgeTput: init and reset run what the terminal's description names.
func judgeTput(a *Args, u *Use) {
	for _, w := range a.Values("capability") {
		if !w.Static || w.Text == "init" || w.Text == "reset" || w.Text == "" {
			u.Unknown("tput: "+spelled(w)+" may change the terminal or run its program", w)
		}
	}
	for _, o := range a.Options {
		if o.Name == "-T" && (!o.Value.Static || strings.Contains(o.Value.Text, "/")) {
			u.Unknown("tput: the terminal "+spelled(o.Value)+" may be described by a file", o.Value)
		}
	}
}
