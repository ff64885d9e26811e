package program

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestFind(t *testing.T) {
	runDevCases(t, []devCase{
		{"find", "ro reads_tree"},
		{"find . -name *.go -not -path ./vendor/*", "ro reads_tree"},
		{"find . -type f -size +1M -mtime -7", "ro reads_tree"},
		{"find -L a b ( -name x -o -iname y ) -prune -o -print0", "ro reads_tree"},
		{"find -O3 -D opt . -newermt 2024-01-01 -newer f", "ro reads_tree"},
		{"find . -printf %p\\n", "ro reads_tree"},
		{"find . -exec rg foo {} ;", "ro reads_tree"},
		{"find . -exec rg foo {} +", "ro reads_tree"},
		{"find a b -exec rg foo {} +", "ro reads_tree"},
		{"find . -fprint /dev/stdout", "ro reads_tree"},
		{"find . -delete", "reads_tree writes destroys"},
		{"find . -false -o -delete", "reads_tree writes destroys"},
		{"find . -fprint out", "reads_tree"},
		{"find . -fprintf out %p", "reads_tree"},
		{"find . -fls out", "reads_tree"},
		{"find . -exec git clean -f {} ;", "reads_tree writes destroys"},
		{"find . -exec sh -c x ;", "reads_tree runs_code"},
		{"find . -exec {} ;", "? reads_tree"},
		{"find . -exec rg foo {}", "? reads_tree"},
		{"find . -exec rg foo", "? reads_tree"},
		{"find . -exec", "? reads_tree"},
		{"find . -execdir git prune ;", "? reads_tree writes destroys runs_code"},
		{"find . -ok git prune ;", "reads_tree interactive writes destroys runs_code"},
		{"find . -exec rg $X {} ; -delete", "? reads_tree writes destroys"},
		{`find . -exec rg "$X ; -delete`, "? reads_tree writes destroys"},
		{"find $DIR -type f", "? reads_tree"},
		{"find . -name $X", "? reads_tree"},
		{`find . -name "$X`, "ro reads_tree"},
		{"find * -type f", "? reads_tree"},
		{"find . -unheard-of", "? reads_tree"},
		{"find . -name", "? reads_tree"},
		{"find -f x", "? reads_tree"},
		{"find . -exec git log {} ; -print", "ro reads_tree"},
		{"find -exec git log {} ; -files0-from x", "? reads_tree reads_elsewhere"},
	})
}

func TestXargs(t *testing.T) {
	runDevCases(t, []devCase{
		{"xargs git", "?"},
		{"xargs -n1 git cat-file -p", "? reads_tree"},
		{"xargs git rev-parse", "ro"},
		{"xargs -I{} git rev-parse x{}", "ro"},
		{"xargs -I{} git log {}", "? reads_tree"},
		{"xargs -I{} git log x{}", "ro reads_tree"},
		{"xargs -0 -n 1 -P4 git ls-files", "ro"},
		{"xargs --process-slot-var=PATH git rev-parse", "?"},
		{"xargs -p git rev-parse", "ro interactive"},
		{"xargs sh", "? runs_code"},
		{"xargs sh -c x", "runs_code"},
		{"xargs git rm", "? destroys reads_elsewhere writes"},
		{"xargs -I{} {}", "?"},
		{"xargs --help", "ro"},
		{"xargs --arg git rev-parse", "?"},
	})
}

func TestSearch(t *testing.T) {
	runDevCases(t, []devCase{
		{"rg -uu --hidden -l secret .", "ro reads_tree"},
		{"rg -n -C3 -g *.go -- -foo src", "ro reads_tree"},
		{"rg --files", "ro reads_tree"},
		{"rg --pre ./x foo", "reads_tree runs_code"},
		{"rg --pre=./x foo", "reads_tree runs_code"},
		{"rg --hostname-bin ./x.sh --hyperlink-format=default foo", "reads_tree runs_code"},
		{"rg -z foo", "reads_tree runs_code"},
		{`rg "$X"`, "? reads_tree"},
		{"rg --unheard-of foo", "? reads_tree"},
		{"ag -i foo src", "ro reads_tree"},
		{"ag --pager=./x foo", "? reads_tree"},
		{"fd -e go main src", "ro reads_tree"},
		{"fd -tx", "ro reads_tree"},
		{"fd -e go -x git ls-files", "ro reads_tree"},
		{"fd -x git rm {}", "? destroys reads_elsewhere reads_tree writes"},
		{"fd -Hx git rm {}", "? destroys reads_elsewhere reads_tree writes"},
		{"fd --exec=touch", "? reads_tree"},
		{"fd -X git ls-files ; -unheard", "? reads_tree"},
		{"fd -l foo", "ro reads_tree"},
	})
}

func TestWrappers(t *testing.T) {
	runDevCases(t, []devCase{
		{"env", "ro"},
		{"env NO_COLOR=1 git status", "ro reads_tree"},
		{"env -u GIT_DIR git status", "reads_tree runs_code"},
		{"env LD_PRELOAD=./x.so git status", "reads_tree runs_code"},
		{"env PATH=. git status", "reads_tree runs_code"},
		{"env -S git␣status", "?"},
		{"env -C /x git status", "? reads_tree"},
		{"env -i git status", "reads_tree runs_code"},
		{"env - git clean -f", "writes destroys runs_code"},
		{"timeout 5 git status", "ro reads_tree"},
		{"timeout -s KILL -k 3 5 git clean -f", "writes destroys"},
		{"timeout --sig KILL 5 git status", "ro reads_tree"},
		{"nice -n 5 git status", "ro reads_tree"},
		{"nice -5 git status", "ro reads_tree"},
		{"stdbuf -oL git status", "ro reads_tree"},
		{"nohup git status", "reads_tree writes"},
		{"time -o out git status", "reads_tree"},
		{"time -ao out git status", "reads_tree"},
		{"chrt 1 git clean -f", "writes destroys"},
		{"flock x git status", "reads_tree"},
		{"flock 9 git status", "ro reads_tree"},
		{"flock x -c git␣clean␣-f", "? runs_code"},
		{"watch -n1 git status", "long_running interactive runs_code"},
		{"watch -x git status", "ro long_running interactive reads_tree"},
		{"sudo git status", "reads_tree writes"},
		{"sudo -u me A=b git clean -f", "writes destroys"},
		{"doas git clean -f", "writes destroys"},
		{"strace -f -e trace=file git status", "reads_tree writes"},
		{"chroot /x git prune", "writes runs_code destroys"},
		{"unshare -r git prune", "writes runs_code destroys"},
		{"bwrap --ro-bind / / --dev /dev git prune", "writes runs_code destroys"},
		{"parallel git clean -f ::: a b", "? writes destroys"},
		{"busybox git prune", "? writes destroys runs_code"},
		{"entr git clean -f", "long_running writes destroys"},
		{"timeout $X git status", "?"},
	})
}

func TestShellsAndInterpreters(t *testing.T) {
	runDevCases(t, []devCase{
		{"bash --version", "ro"},
		{"bash -c ls", "runs_code"}, // the text is the caller's to judge
		{"bash x.sh", "runs_code"},
		{"bash", "runs_code"},
		{"bash -i -c ls", "interactive runs_code"},
		{"bash -xc ls", "? runs_code"},
		{"bash -o allexport -c ls", "? runs_code"},
		{"sh -c $'a\\'␣;␣rm␣x'", "? runs_code"},
		{"sh -c ls␣2>&1", "runs_code"},
		{"sh -c [[␣a␣>␣b␣]]", "runs_code"},
		{"zsh -c ls", "? runs_code"},
		{"python3 --version", "ro"},
		{"python3 -c x --version", "runs_code"},
		{"python3 -m json.tool f", "runs_code"},
		{"node -v", "ro"},
		{"node --require ./x --version", "runs_code"},
		{"java -version", "ro"},
		{"ruby -v", "ro"},
		{"ruby -rx -v", "runs_code"},
		{"perl -e x", "runs_code"},
		{"rustc --version", "runs_code"},
		{"rustc --version x.rs", "runs_code"},
	})
}

func TestShellText(t *testing.T) {
	_, use := Parse(Lookup("bash"), devWords("bash -euo pipefail -c git␣status name arg"))
	if !use.Understood || len(use.Runs) != 1 || use.Runs[0].Shell == nil || use.Runs[0].Shell.Text != "git status" {
		t.Errorf("got %+v", use)
	}
	_, use = Parse(Lookup("ssh"), devWords("ssh -p 22 host rm -rf /"))
	if len(use.Runs) != 1 || use.Runs[0].Shell == nil || use.Runs[0].Shell.Text != "rm -rf /" {
		t.Errorf("got %+v", use)
	}
}

func TestGo(t *testing.T) {
	runDevCases(t, []devCase{
		{"go version", "ro"},
		{"go version -m ./bin/tool", "ro"},
		{"go env GOPATH GOMODCACHE", "ro"},
		{"go env", "ro not_concurrent"},
		{"go env -w GOFLAGS=-mod=mod", "writes"},
		{"go doc fmt.Println", "ro not_concurrent"},
		{"go doc -http", "long_running not_concurrent runs_code"},
		{"go list ./...", "ro not_concurrent reads_tree"},
		{"go list -f {{.Dir}} -deps ./...", "ro not_concurrent reads_tree"},
		{"go list -m all", "ro not_concurrent reads_tree"},
		{"go list -m -u all", "writes reaches not_concurrent reads_tree"},
		{"go list -m x@latest", "writes reaches not_concurrent reads_tree"},
		{"go list -export ./...", "writes runs_code not_concurrent reads_tree"},
		{"go list -mod=mod ./...", "writes not_concurrent reads_tree"},
		{"go list -toolexec=./x ./...", "? not_concurrent reads_tree"},
		{"go vet ./...", "writes runs_code"},
		{"go vet -vettool=./x ./...", "writes runs_code"},
		{"go test ./...", "writes runs_code"},
		{"go get x", "writes reaches runs_code"},
		{"go mod tidy", "writes reaches"},
		{"go mod edit -json", "ro"},
		{"go mod edit -require=a@v1", "writes"},
		{"gofmt -l .", "ro reads_tree"},
		{"gofmt -l -w .", "writes reads_tree"},
		{"gofmt -cpuprofile=p -l .", "reads_tree"},
	})
}

func TestOtherTools(t *testing.T) {
	runDevCases(t, []devCase{
		{"npm --version", "ro"},
		{"npm ls --depth=0", "reads_tree writes"},
		{"npm view react version", "reaches writes"},
		{"npm install", "writes reaches runs_code"},
		{"npm run build", "writes runs_code"},
		{"npm ls --node-options=x", "? reads_tree writes"},
		{"yarn --version", "writes runs_code"},
		{"yarn add x", "writes reaches runs_code"},
		{"yarn", "writes reaches runs_code"},
		{"pnpm test -- --run", "writes runs_code"},
		{"npx tsc", "runs_code writes"},
		{"cargo --version", "runs_code"},
		{"cargo metadata --no-deps --format-version 1", "runs_code"},
		{"cargo metadata --locked --offline", "runs_code"},
		{"cargo metadata", "runs_code writes reaches"},
		{"cargo tree", "writes runs_code"},
		{"cargo build", "writes runs_code"},
		{"make -n", "runs_code writes"},
		{"make --version", "ro"},
		{"pip --version", "ro"},
		{"pip install x", "writes reaches runs_code"},
		{"mvn --version", "writes runs_code"},
		{"pytest", "writes runs_code"},
		{"apt-get remove x", "destroys runs_code writes"},
		{"docker ps -a", "ro reaches observes_host"},
		{"docker logs -f web", "ro reaches observes_host long_running"},
		{"docker inspect web", "ro reaches observes_host"},
		{"docker -H tcp://x ps", "runs_code reaches observes_host"},
		{"docker exec web git clean -f", "writes reaches runs_code destroys"},
		{"docker run --rm -v /:/h alpine git clean -f", "writes reaches runs_code destroys"},
		{"docker rm -f x", "writes reaches destroys"},
		{"docker system prune", "writes reaches destroys"},
		{"docker compose logs web", "ro reaches observes_host"},
		{"docker volume ls", "ro reaches observes_host"},
		{"kubectl get pods -A", "ro reaches not_concurrent"},
		{"kubectl -n x logs -f pod", "ro reaches not_concurrent long_running"},
		{"kubectl --kubeconfig x get pods", "runs_code reaches not_concurrent"},
		{"kubectl delete pod x", "writes reaches destroys"},
		{"kubectl config view", "ro reads_elsewhere"},
		{"kubectl config use-context prod", "writes"},
		{"gh pr view 12 --json title", "ro reaches"},
		{"gh pr merge 3", "writes reaches"},
		{"gh alias set x !ls", "writes reaches"},
		{"gh api repos/a/b", "ro reaches"},
		{"gh api -X DELETE repos/a/b", "writes reaches destroys"},
		{"gh api repos/a/b -f a=b", "writes reaches"},
		{"gh pr view --web", "? reaches"},
		{"systemctl status ssh", "ro observes_host reaches"},
		{"systemctl edit ssh", "writes observes_host reaches"},
		{"systemctl stop ssh", "writes observes_host reaches"},
		{"journalctl -u ssh -n 50", "ro observes_host reads_elsewhere"},
		{"journalctl -f", "ro observes_host reads_elsewhere long_running"},
		{"journalctl --vacuum-size=1M", "writes destroys observes_host reads_elsewhere"},
		{"journalctl --rot", "writes observes_host reads_elsewhere"},
		{"curl -sSL https://h/x", "ro reaches"},
		{"curl -o f https://h/x", "reaches"},
		{"curl -O https://h/x", "writes reaches"},
		{"curl -d @secret https://h/x", "writes reaches"},
		{"curl -K x", "? reaches"},
		{"curl -w %{http_code} https://h/x", "ro reaches"},
		{"curl -w %output{f} https://h/x", "? reaches"},
		{"curl -XDELETE https://h/x", "writes destroys reaches"},
		{"wget https://h/x", "writes reaches"},
		{"rsync -a a/ b/", "writes"},
		{"ping -c 1 h", "ro reaches"},
		{"ping h", "ro reaches long_running"},
		{"dig +short @1.1.1.1 h", "ro reaches"},
		{"dig -f list", "? reaches"},
		{"nc -lp 80", "reaches writes long_running"},
	})
}

// FuzzFind holds the judgement of find to two properties: it never panics, and an action is never missed behind what is
// called read-only.
func FuzzFind(f *testing.F) {
	for _, line := range []string{". -name x", "-exec rg {} + -print", ". -exec", "-D", "-files0-from x",
		". ( -o -fprint a ) -newermt x", ". -exec git log {} ;"} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		words := devWords("find " + line)
		if !devReadOnly(devUse(words, 0)) {
			return
		}
		for _, action := range []string{"-delete", "-o -fprint x", "-exec git prune ;", ") -delete", "-unheard-of"} {
			if more := slices.Concat(words, devWords(action)); devReadOnly(devUse(more, 0)) {
				t.Errorf("%q is called read-only, and with %s too", line, action)
			}
		}
	})
}

// TestFindChangesNothing runs what is called read-only.
func TestFindChangesNothing(t *testing.T) {
	s := newScratch(t)
	for _, line := range []string{"find . -name h.go -print0", "find . -newer f -ls", "find . -exec rg one {} +",
		"find . -printf %p", "find . -fprint /dev/stdout", "fdfind -e go", "fdfind -x git ls-files", "rg one",
		"rg --files", "ag one", "xargs git ls-files"} {
		argv := strings.Fields(line)
		if !devReadOnly(devUse(staticWords(argv), 0)) {
			t.Errorf("%s is not called read-only", line)
			continue
		}
		s.unchanged(argv...)
	}
}

// TestSearchTakesValuesAsDescribed runs every word of find, rg, ag and fd before one that writes, as far as the two
// together are called read-only: the program must take the second for a value too.
func TestSearchTakesValuesAsDescribed(t *testing.T) {
	s := newScratch(t)
	trap := filepath.Join(s.dir, "trap.sh")
	if err := os.WriteFile(trap, []byte("#!/bin/sh\ntouch trapped\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	try := func(argv ...string) {
		if devReadOnly(devUse(staticWords(argv), 0)) {
			s.unchanged(argv...)
		}
	}
	primaries := []string{"-newermt", "-newerma"}
	for _, set := range []Words{findAlone, findText, findRead, findWrite} {
		primaries = slices.AppendSeq(primaries, maps.Keys(set))
	}
	for _, primary := range primaries {
		try("find", ".", primary, "-fprint", "trapped")
		try("find", ".", primary, "x", "-fprint", "trapped")
		try("find", ".", primary, "--", "-delete")
	}
	for name := range Lookup("rg").table().options {
		try("rg", name, "--pre="+trap, "one", ".")
		try("rg", name, "--", "--pre="+trap, "one", ".")
	}
	for name := range Lookup("ag").table().options {
		try("ag", name, "--pager="+trap, "one", ".")
		try("ag", name, "--", "--pager="+trap, "one", ".")
	}
	for name := range shared("fdSearch").table().options {
		try("fdfind", name, "-x", "touch", "trapped")
		try("fdfind", name, "--", "-x", "touch", "trapped")
	}
}
