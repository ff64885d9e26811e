package sandbox

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// noPush denies "victim push" by its arguments.
func noPush(access Access) Profile {
	return Profile{Access: access, Denied: Denied{Arguments: true, Denies: func(argv []string) (string, bool) {
		words := slices.DeleteFunc(slices.Clone(argv[1:]), func(word string) bool { return strings.HasPrefix(word, "-") })
		return "Shell(victim push *)", filepath.Base(argv[0]) == "victim" && len(words) > 0 && words[0] == "push"
	}}}
}

// judgingLevels are those at which programs are judged when they start.
var judgingLevels = []Level{Full, LandlockNotify}

func judged(t *testing.T) {
	t.Helper()
	if !judgesStarts() {
		t.Skip("this kernel lets signals interrupt calls that are judged: no program is judged when it starts")
	}
}

// TestDeniedArguments: a rule about arguments is held whoever starts the program, and nothing else is.
func TestDeniedArguments(t *testing.T) {
	judged(t)
	for _, level := range judgingLevels {
		t.Run(string(level), func(t *testing.T) {
			b := withVictim(t, func(o *Options) { o.Level = level })
			b.write(t, "x", "one\n")
			for _, test := range []struct {
				line string
				runs bool
			}{
				{"victim push", false},
				{"victim -a push", false},
				{"$OUT/victim push", false},
				{"cd $OUT; ./victim push", false},
				{"sh -c 'victim push'", false},
				{"bash -c 'exec -a harmless victim push'", false},
				{"ln -s $OUT/victim link; ./link push", false},
				{"find x -exec victim push ';'", false},
				{"echo push | xargs victim", false},
				{"python3 -c 'import subprocess; subprocess.run([\"victim\", \"push\"])'", false},
				{"python3 -c 'import os; os.posix_spawnp(\"victim\", [\"y\", \"push\"], os.environ); os.wait()'", false},
				{"python3 -c 'import os; f = os.open(\"$OUT/victim\", os.O_PATH); os.execve(f, [\"y\", \"push\"], os.environ)'", false},
				{"python3 -c 'import os; f = os.open(\"$OUT\", os.O_PATH); os.chdir(f); os.execv(\"victim\", [\"y\", \"push\"])'", false},
				{"printf '#!'$OUT'/victim push\n' >script; chmod +x script; ./script", false},
				{"printf '#!/usr/bin/env -S victim push\n' >script; chmod +x script; ./script", false},
				{"ld.so $OUT/victim push", false},
				{"victim pull push", true},
				{"victim pull; touch push", true},
				{"echo victim push; touch push", true},
				{"env victim pull; sh -c 'touch push'", true},
				{"strace -f -o /dev/null sh -c 'touch push'", true},
				{"no-such-program; env no-such-program; ./x; $OUT; touch push", true},
				{"printf '#!/bin/sh\ntouch push\n' >script; chmod +x script; ./script", true},
				{"printf '#!./other\n' >script; printf '#!/bin/sh\ntouch push\n' >other; chmod +x script other; ./script", true},
				{"printf 'touch push\n' >script; chmod +x script; ./script", true},
				{"seq 40000 | xargs -n 20000 echo >/dev/null; touch push", true},
				{"python3 -c 'import threading, os, time; threading.Thread(target=time.sleep, args=(60,)).start(); os.execvp(\"touch\", [\"touch\", \"push\"])'", true},
				{"python3 -c 'import threading, os; threading.Thread(target=lambda: os.execvp(\"touch\", [\"touch\", \"push\"])).start()'", true},
				{"timeout -s INT 5 sh -c 'touch push'; (sleep 9 & kill $!; wait) 2>/dev/null", true},
				{"for i in $(seq 50); do true & /bin/true & done; wait; touch push", true},
				{"python3 -c 'import os; os.execv(\"/proc/self/exe\", [\"python3\", \"-c\", \"open(\\\"push\\\", \\\"w\\\")\"])'", true},
			} {
				if level != Full && strings.HasPrefix(test.line, "strace") { // nothing traces there
					continue
				}
				for _, left := range []string{"push", "link", "script", "other"} {
					_ = os.Remove(filepath.Join(b.ws, left))
				}
				r := b.runProfile(t, noPush(Workspace), strings.ReplaceAll(test.line, "$OUT", b.out))
				named := slices.ContainsFunc(r.violations, func(v Violation) bool {
					return v.Wall == DeniedCommand && v.Certain && v.Rule == "Shell(victim push *)"
				})
				if ran := isFile(filepath.Join(b.ws, "push")); r.err != nil || ran != test.runs || named == test.runs {
					t.Errorf("%s: ran %v, %v, %v\n%s", test.line, ran, r.err, r.violations, r.out)
				}
			}
			r := b.runProfile(t, noPush(ReadOnly), "victim push --version; victim --version; wc -l x")
			if !strings.Contains(r.out, "coreutils") || !strings.Contains(r.out, "1 x") || strings.Count(r.out, "Permission denied") != 1 {
				t.Errorf("a command that reads: %s", r.out)
			}
		})
	}
}

// TestThreadsStartPrograms: a thread that starts a program takes the number of its process, at any moment of the look at it. Nothing is killed.
func TestThreadsStartPrograms(t *testing.T) {
	judged(t)
	for _, level := range judgingLevels {
		b := withVictim(t, func(o *Options) { o.Level = level })
		const starts = `import os, threading
failed = 0
for i in range(100):
    pid = os.fork()
    if pid == 0:
        threading.Thread(target=lambda: os.execvp("true", ["true"])).start()
        threading.Event().wait()
    failed += os.waitpid(pid, 0)[1] != 0
print(failed)`
		b.write(t, "starts.py", starts)
		if r := b.runProfile(t, noPush(Workspace), "python3 starts.py"); r.err != nil || r.out != "0" {
			t.Errorf("%s: of 100 threads failed: %v\n%s", level, r.err, r.out)
		}
	}
}

// TestDeniedProgramAtLandlock: where no mount hides its file, a program that is denied whole is refused when it starts, by any of its names.
func TestDeniedProgramAtLandlock(t *testing.T) {
	judged(t)
	b := withVictim(t, func(o *Options) { o.Level = LandlockNotify })
	b.write(t, "x", "one\n")
	if !b.Holds("victim", os.Environ()) {
		t.Fatal("the rule is not held")
	}
	for _, way := range waysToRun {
		copies := strings.Contains(way.line, "copy") || strings.Contains(way.line, "./ld") || strings.Contains(way.line, "mv ")
		if _, err := exec.LookPath(way.needs); err != nil || copies || strings.Contains(way.line, "strace") {
			continue
		}
		for _, left := range []string{"ran", "hard", "link", "script", "d/link"} {
			_ = os.Remove(filepath.Join(b.ws, left))
		}
		line := strings.NewReplacer("$OUT", b.out, "$WS", b.ws).Replace(way.line)
		if r := b.runProfile(t, noVictim(Workspace), line); r.err != nil || isFile(filepath.Join(b.ws, "ran")) {
			t.Errorf("%s: it ran: %v\n%s", line, r.err, r.out)
		}
	}
}

// TestStartsAreJudgedTwice: a program that something changes between the look at a call and the call is ended before it runs. A rule about
// arguments and one about a whole program are held while other tasks change the memory, descriptors and names that say what is started.
func TestStartsAreJudgedTwice(t *testing.T) {
	judged(t)
	gcc, err := exec.LookPath("gcc")
	if err != nil {
		t.Skip(err)
	}
	race := filepath.Join(t.TempDir(), "race")
	if out, err := exec.Command(gcc, "-O1", "-pthread", "-o", race, "testdata/race.c").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	program, err := os.ReadFile(race)
	if err != nil {
		t.Fatal(err)
	}
	for _, level := range judgingLevels {
		b := withVictim(t, func(o *Options) { o.Level = level })
		for name, content := range map[string]string{"harmless": "", "race": string(program), "other": string(program)} {
			if content == "" {
				victim, err := os.ReadFile(filepath.Join(b.out, "victim"))
				if err != nil {
					t.Fatal(err)
				}
				content = string(victim)
			}
			if err := os.WriteFile(filepath.Join(b.out, name), []byte(content), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		for _, mode := range []string{"word", "pointer", "shared", "clone", "vfork", "path", "path-thread", "descriptor"} {
			t.Run(string(level)+" "+mode, func(t *testing.T) {
				profile, victim := noPush(Workspace), "victim"
				if slices.Contains([]string{"path", "path-thread", "descriptor"}, mode) { // the file is changed, and its name says nothing
					profile.Denied.Denies = func(argv []string) (string, bool) {
						return "Shell(other *)", filepath.Base(argv[0]) == "other"
					}
					victim = "other"
				}
				harmless := filepath.Join(b.out, "harmless")
				for _, left := range []string{"push", "pull"} {
					_ = os.Remove(filepath.Join(b.ws, left))
				}
				tries := 120
				if testing.Short() || mode == "clone" { // whose other processes run on for a second
					tries = 40
				}
				r := b.runProfile(t, profile, fmt.Sprintf("%s/race %s %d %s %s/%s", b.out, mode, tries, harmless, b.out, victim))
				t.Log(strings.TrimSpace(r.out))
				var ran, refused, ended int
				if _, err := fmt.Sscanf(r.out, "%d ran, %d were refused, %d were ended", &ran, &refused, &ended); err != nil || r.err != nil {
					t.Fatalf("%v, %v: %s", err, r.err, r.out)
				}
				if isFile(filepath.Join(b.ws, "push")) {
					t.Errorf("a program that the rule denies ran: %s", r.out)
				}
				if !isFile(filepath.Join(b.ws, "pull")) || refused+ended == 0 {
					t.Errorf("nothing was changed meanwhile: %s", r.out)
				}
			})
		}
	}
}
