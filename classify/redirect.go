package classify

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"toolhost/classify/program"
)

// redirect analyses one redirection.
func (w *walk) redirect(r *syntax.Redirect) {
	defer w.leave()
	if !w.enter(r.OpPos) {
		return
	}
	if r.N != nil && !program.Digits(r.N.Value) {
		w.unknown("a redirection that chooses its descriptor sets a variable")
	}
	switch r.Op {
	case syntax.Hdoc, syntax.DashHdoc:
		w.hereDocument(r)
		w.scope.replaceStdin()
		return
	case syntax.WordHdoc:
		w.text(r.Word)
		w.scope.replaceStdin()
		return
	}
	target := w.redirectTarget(r.Word)
	w.found.inRedirection = true
	switch r.Op {
	case syntax.RdrIn:
		w.openInput(target)
		w.scope.replaceStdin()
	case syntax.RdrOut, syntax.RdrClob, syntax.RdrAll, syntax.AppOut, syntax.AppAll:
		w.openOutput(target, r.Op != syntax.AppOut && r.Op != syntax.AppAll)
		w.scope.noteStdout(r, target)
	case syntax.RdrInOut:
		w.openInput(target)
		w.openOutput(target, false)
	case syntax.DplIn, syntax.DplOut:
		w.duplicateDescriptor(r, target)
		w.scope.noteStdout(r, program.Word{})
	default:
		w.unknown("this redirection is not one of bash")
	}
	w.found.inRedirection = false
}

// replaceStdin takes note that stdin is another than before.
func (s *scope) replaceStdin() {
	s.stdinPiped, s.stdinNames, s.stdinLines = true, nil, false
}

// redirectTarget expands the word after a redirection; one that bash would take for several is not static.
func (w *walk) redirectTarget(word *syntax.Word) program.Word {
	list := w.fields([]*syntax.Word{word})
	if len(list) != 1 || list[0].Static && list[0].Text == "" {
		return program.Word{Line: int(word.Pos().Line()), Column: int(word.Pos().Col())}
	}
	return list[0]
}

func (w *walk) openInput(target program.Word) {
	if w.opensConnection(target) {
		return
	}
	if !target.Static && !target.Local && !safeBeginning(target.Text) {
		w.found.note(mayReach)
		w.found.factAt("open_world", "`"+w.spelled(target)+"` may be a connection: bash opens /dev/tcp/… itself", target)
	}
	w.read(target)
}

func (w *walk) openOutput(target program.Word, cuts bool) {
	if w.opensConnection(target) {
		w.found.note(writes | mayDestroy)
		return
	}
	if !target.Static {
		w.found.note(unknown)
	}
	w.write(target, cuts, nil)
}

// noteStdout takes note of where stdout goes; a path that is not known, or a device, may be a terminal.
func (s *scope) noteStdout(r *syntax.Redirect, target program.Word) {
	all := r.Op == syntax.RdrAll || r.Op == syntax.AppAll
	switch {
	case r.Op == syntax.DplIn, r.N != nil && r.N.Value != "1" && !all:
	case target.Static && !strings.HasPrefix(target.Text, "/dev/") || target.Text == "/dev/null":
		s.stdoutCaptured = true
	default:
		s.stdoutCaptured = false
	}
}

// safeBeginning reports whether no path that begins so is one of those that bash connects for.
func safeBeginning(text string) bool {
	const devices = "/dev/"
	return text != "" && !strings.HasPrefix(text, devices) && !strings.HasPrefix(devices, text)
}

// opensConnection records a redirection to /dev/tcp or /dev/udp, where bash opens a connection.
func (w *walk) opensConnection(target program.Word) bool {
	if !strings.HasPrefix(target.Text, "/dev/tcp/") && !strings.HasPrefix(target.Text, "/dev/udp/") {
		return false
	}
	w.found.note(reaches)
	w.found.factAt("open_world", "`"+w.spelled(target)+"` opens a network connection", target)
	if parts := strings.Split(target.Text, "/"); target.Static && len(parts) > 3 {
		w.found.host(parts[3])
	} else {
		w.found.note(hostless)
	}
	return true
}

// duplicateDescriptor analyses >&word and <&word: a descriptor, or a file that is written.
func (w *walk) duplicateDescriptor(r *syntax.Redirect, target program.Word) {
	text := strings.TrimSuffix(target.Text, "-")
	switch {
	case target.Static && (text == "" || program.Digits(text)):
		if r.Op == syntax.DplIn {
			w.scope.replaceStdin()
		}
	case strings.HasPrefix(strings.TrimLeft(target.Text, "0123456789"), "-"):
		w.unknown("bash ends this redirection at the -, and another word follows")
		w.found.note(gap)
	case r.Op == syntax.DplIn:
		w.unknown("the descriptor that is read is not known")
	case target.Number && !target.Many:
	case !target.Static || !isPlainTarget(target.Text):
		w.unknown("bash expands what >& names a second time, and runs the substitutions in it")
		w.found.note(gap)
		w.found.mayRun("bash expands what >& names a second time")
	default:
		w.openOutput(target, true)
	}
}

// plainTarget reports whether bash, which expands the word of >& twice, finds nothing to expand in it either time.
func plainTarget(word *syntax.Word) bool {
	for _, part := range word.Parts {
		switch x := part.(type) {
		case *syntax.Lit:
			if !isPlainTarget(x.Value) {
				return false
			}
		case *syntax.SglQuoted:
			if x.Dollar || !isPlainTarget(x.Value) {
				return false
			}
		case *syntax.DblQuoted:
			if !plainTarget(&syntax.Word{Parts: x.Parts}) {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// isPlainTarget reports whether a text has only the bytes of ordinary file names and descriptors.
func isPlainTarget(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool {
		return r < 0x80 && !strings.ContainsRune("._/-+,:@%=^", r) && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	})
}

// hereDocument analyses the body of <<, which ends at the same line for all shells: its outline has shown that.
func (w *walk) hereDocument(r *syntax.Redirect) {
	if r.Hdoc == nil || quotedDelimiter(r.Word) {
		return
	}
	f := field{noGlobs: true}
	for _, part := range r.Hdoc.Parts {
		if lit, isLit := part.(*syntax.Lit); isLit {
			f.quotedLiteral(lit.Value, "$\\`")
			continue
		}
		w.partOf(&f, part, true)
	}
}

// quotedDelimiter reports whether the word behind << quotes the document. One of several parts counts as quoted.
func quotedDelimiter(word *syntax.Word) bool {
	switch x := onlyPart(word.Parts).(type) {
	case nil, *syntax.SglQuoted, *syntax.DblQuoted:
		return true
	case *syntax.Lit:
		return strings.HasPrefix(x.Value, `\`)
	}
	return false
}
