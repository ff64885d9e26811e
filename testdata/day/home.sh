# Makes the home of an ordinary user, in $HOME: ~/src/app (Go, Node, Python, C), with a linked worktree, a monorepo, a remote,
# modules and packages to install. Nothing comes from a network.
set -euo pipefail
cd "$HOME"
mkdir -p src Documents src/app/proxy/example.com/text/@v packages/pad .config/go .local/bin

cat >.gitconfig <<'E'
[user]
	name = A Person
	email = person@example.com
[init]
	defaultBranch = main
[alias]
	st = status --short
E
cat >.bashrc <<'E'
alias ll='ls -l'
export EDITOR=vi
E
cat >Documents/plan.txt <<'E'
call the printer
E
cat >.config/go/env <<E
GOPROXY=file://$HOME/src/app/proxy
GOSUMDB=off
GOTOOLCHAIN=local
E

# A module in a file proxy, in two versions.
for v in v1.0.0 v1.1.0; do
  m=example.com/text@$v
  mkdir -p "make/$m"
  printf 'module example.com/text\n\ngo 1.21\n' >"make/$m/go.mod"
  printf 'package text\n\n// Version is %s.\nfunc Shout(s string) string { return s + "!" }\n' "$v" >"make/$m/text.go"
  (cd make && python3 -m zipfile -c "$HOME/src/app/proxy/example.com/text/@v/$v.zip" example.com)
  cp "make/$m/go.mod" "src/app/proxy/example.com/text/@v/$v.mod"
  printf '{"Version":"%s","Time":"2024-01-02T03:04:05Z"}\n' "$v" >"src/app/proxy/example.com/text/@v/$v.info"
  echo "$v" >>src/app/proxy/example.com/text/@v/list
  rm -rf make
done

cat >packages/pad/package.json <<'E'
{"name":"pad","version":"1.0.0","main":"pad.js","bin":{"pad":"bin.js"}}
E
echo 'module.exports = (s, n) => String(s).padStart(n)' >packages/pad/pad.js
printf '#!/usr/bin/env node\nconsole.log(require("./pad")("x", 3))\n' >packages/pad/bin.js
chmod +x packages/pad/bin.js

cd src/app && git init -q
mkdir -p internal/greet web tools/twice native docs data scripts
cat >go.mod <<'E'
module example.com/app

go 1.22
E
cat >main.go <<'E'
// Command app greets.
package main

import (
	"fmt"
	"os"

	"example.com/app/internal/greet"
)

// TODO: take a language.
func main() {
	name := "world"
	if len(os.Args) > 1 {
		name = os.Args[1]
	}
	fmt.Println(greet.Hello(name))
}
E
cat >version.go <<'E'
package main

const version = "1.0"
E
cat >internal/greet/greet.go <<'E'
// Package greet makes greetings.
package greet

//go:generate sh -c "echo generated > generated.txt"

// Hello greets.
func Hello(name string) string { return "hello, " + name }

// TODO: Goodbye
E
cat >internal/greet/greet_test.go <<'E'
package greet

import (
	"os"
	"path/filepath"
	"testing"
)

func TestHello(t *testing.T) {
	if got := Hello("x"); got != "hello, x" {
		t.Fatal(got)
	}
}

func TestFile(t *testing.T) {
	if err := os.WriteFile(filepath.Join(t.TempDir(), "f"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

func BenchmarkHello(b *testing.B) {
	for range b.N {
		Hello("x")
	}
}
E
cat >web/package.json <<'E'
{"name":"web","version":"1.0.0","private":true,"scripts":{"test":"node --test","build":"mkdir -p dist && cp server.js dist/","start":"node server.js","lint":"node --check server.js"}}
E
cat >web/server.js <<'E'
const port = Number(process.env.PORT || 18081)
require("http").createServer((q, r) => r.end("served " + q.url + "\n")).listen(port, "127.0.0.1", () => console.log("listening on " + port))
E
cat >web/web.test.js <<'E'
require("node:test")("adds", () => require("node:assert").equal(1 + 1, 2))
E
cat >tools/report.py <<'E'
import csv, sys

def total(rows):
    return sum(int(r[1]) for r in rows)

if __name__ == "__main__":
    print(total(csv.reader(open(sys.argv[1]))))
E
cat >tools/test_report.py <<'E'
import unittest
from report import total

class Total(unittest.TestCase):
    def test_total(self):
        self.assertEqual(total([("a", "1"), ("b", "2")]), 3)
E
cat >tools/twice/pyproject.toml <<'E'
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]
[project]
name = "twice"
version = "1"
E
cat >tools/twice/backend.py <<'E'
import zipfile

FILES = {"twice.py": "def twice(n): return 2 * n\n", "twice-1.dist-info/METADATA": "Metadata-Version: 2.1\nName: twice\nVersion: 1\n",
         "twice-1.dist-info/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n", "twice-1.dist-info/RECORD": ""}

def build_wheel(directory, config_settings=None, metadata_directory=None):
    name = "twice-1-py3-none-any.whl"
    with zipfile.ZipFile(directory + "/" + name, "w") as z:
        for path, text in FILES.items():
            z.writestr(path, text)
    return name
E
cat >native/Makefile <<'E'
CFLAGS = -Wall -O1
sum: main.o sum.o
	$(CC) -o $@ $^
test: sum
	./sum 1 2 | grep -qx 3
install: sum
	install -D sum $(PREFIX)/bin/sum
clean:
	rm -f sum *.o
.PHONY: test install clean
E
printf '#include <stdio.h>\n#include <stdlib.h>\nint sum(int, int);\nint main(int c, char **v) { printf("%%d\\n", sum(atoi(v[1]), atoi(v[2]))); return 0; }\n' >native/main.c
printf 'int sum(int a, int b) { return a + b; }\n' >native/sum.c
printf '# app\n\nGreets. See docs.\n' >README.md
printf '# Guide\n\nTODO: write it.\n' >docs/guide.md
printf '# Notes\n\nNothing yet.\n' >docs/notes.md
printf 'apples,3\npears,5\napples,2\nplums,7\n' >data/sales.csv
printf 'plums,1\npears,2\n' >data/more.csv
printf '#!/bin/sh\nset -e\ngo vet ./...\nnode --check web/server.js\necho checked\n' >scripts/check.sh
chmod +x scripts/check.sh
printf 'bin/\nproxy/\nnode_modules/\ndist/\n.venv/\n__pycache__/\n*.log\n*.o\nnative/sum\n' >.gitignore
git add -A && git commit -qm 'first version'
printf '\n## Use\n\n    app NAME\n' >>README.md && git commit -qam 'README: use'
git tag v0.1
git clone -q --bare . "$HOME/origin.git"
git remote add origin "$HOME/origin.git" && git fetch -q && git branch -q -u origin/main
git worktree add -q -b fix ../app-fix

mkdir -p "$HOME/src/mono/service/handler" "$HOME/src/mono/lib" && cd "$HOME/src/mono" && git init -q
printf 'module example.com/service\n\ngo 1.21\n' >service/go.mod
printf 'package main\n\nfunc main() { println("service") }\n' >service/main.go
printf 'shared\n' >lib/shared.txt
git add -A && git commit -qm 'mono'

# The caches of somebody who worked yesterday.
cd "$HOME/src/app"
if [ "${DAY_SHORT:-}" = "" ]; then
  go build ./... && go vet ./... && go test ./... >/dev/null && go test -cover ./... >/dev/null
fi
