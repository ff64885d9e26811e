package main

import (
	"os"
	"path/filepath"
	"strings"
)

// toolchainWork builds, installs and tests.
func toolchainWork() []work {
	venv, pip := `python3 -m venv .venv`, `.venv/bin/pip`
	if !long() { // what unpacks pip takes longer than all the rest
		venv, pip = venv+` --without-pip`, `.venv/bin/python "$(python3 -c '`+pipOfPython+`')/pip"`
	}
	return []work{
		{name: "go build, test, vet and run", needs: "go", files: goModule + goDependency(), steps: []step{
			{in: `go build -o m . && ./m`, want: "^42$"},
			{in: `go test ./...`, want: "^ok .*example.com/m"},
			{in: `go vet ./... && go run . 2>&1 && go env GOCACHE`, want: "^42\n/tmp/.cache"},
			{in: `go list ./...`, want: "^example.com/m$"}, {in: `go list -deps . | tail -1`, want: "^example.com/m$"},
			{in: `gofmt -l . && go list -f '{{.Dir}}' ./... && go mod tidy &&
				go mod verify`, want: "all modules verified"},
			{in: `cd dependent && go build -o m . &&
				./m 2>&1`, want: "^with renameio$"}, // of the person's module cache
		}},
		{name: "npm install of a local package and npm test", needs: "node npm", files: nodePackage, steps: []step{
			{in: `npm install --no-audit --no-fund ./lib && npm test`, want: "^twice 42$"},
			{in: `npm run build && cat built`, want: "^built$", long: true},
			{in: `npm pack ./lib --silent && npm ci --no-audit --no-fund --offline &&
				npx --no-install hello`, want: "^hello$", long: true},
		}},
		{name: "python venv and pip install of a local package", needs: "python3:ensurepip", files: pythonPackage, steps: []step{
			{in: venv + ` && .venv/bin/python -c 'import sys; print(sys.prefix != sys.base_prefix)'`, want: "^True$"},
			{in: pip + ` install -q --no-index --no-build-isolation ./pkg 2>&1; .venv/bin/python -c 'import twice; print(twice.twice(21))'`, want: "^42$"},
			{in: `. .venv/bin/activate && pip list --disable-pip-version-check 2>/dev/null`, want: "^twice", long: true},
			{in: `. .venv/bin/activate && python -m unittest -v tests 2>&1`, want: "^OK$"},
		}},
		{name: "make with gcc", needs: "make gcc", files: makeProject, alone: true, users: true, steps: []step{
			{in: `make -j2 && ./m`, want: "^42$"}, {in: `make clean && ls`, want: `^Makefile\nm.c\nn.c$`},
		}},
		{name: "cargo build and test", needs: "cargo", files: cargoProject, steps: []step{
			{in: `cargo build -q --offline &&
				./target/debug/m`, want: "^42$"}, {in: `cargo test -q --offline`, want: "1 passed"},
		}},
	}
}

// pipOfPython prints where python has the pip that it unpacks.
const pipOfPython = `import ensurepip, glob, sysconfig
places = ensurepip.__path__[0] + "/_bundled", str(sysconfig.get_config_var("WHEEL_PKG_DIR"))
print([pip for place in places for pip in glob.glob(place + "/pip-*.whl")][0])`

const goModule = `
-- go.mod --
module example.com/m

go 1.21
-- m.go --
package main

func main() { println(double(21)) }

func double(n int) int { return 2 * n }
-- m_test.go --
package main

import (
	"os"
	"testing"
)

func TestDouble(t *testing.T) {
	if double(2) != 4 {
		t.Fatal("it is not")
	}
	if err := os.WriteFile(t.TempDir()+"/f", nil, 0o600); err != nil {
		t.Fatal(err)
	}
}
`

// goDependency is a module that needs one which toolhost itself needs: whoever runs this test has it in the own cache.
func goDependency() string {
	const name = "github.com/rogpeppe/go-internal"
	lines := func(file string) string {
		data, _ := os.ReadFile(filepath.Join("..", "..", file))
		var found strings.Builder
		for line := range strings.Lines(string(data)) {
			if strings.HasPrefix(strings.TrimSpace(line), name+" v") {
				found.WriteString(strings.TrimSpace(line) + "\n")
			}
		}
		return found.String()
	}
	return "-- dependent/go.mod --\nmodule example.com/dependent\n\ngo 1.26\n\nrequire " + lines("go.mod") + "-- dependent/go.sum --\n" + lines("go.sum") + `
-- dependent/m.go --
package main

import "` + name + `/renameio"

func main() {
	if renameio.WriteFile("f", []byte("x")) == nil {
		println("with renameio")
	}
}
`
}

const nodePackage = `
-- package.json --
{"name":"m","version":"1.0.0","private":true,"scripts":{"test":"node test.js","build":"echo built > built"}}
-- test.js --
console.log("twice", require("lib")(21))
-- lib/package.json --
{"name":"lib","version":"1.0.0","main":"lib.js","bin":{"hello":"hello.js"},"scripts":{"postinstall":"echo installed"}}
-- lib/lib.js --
module.exports = n => 2 * n
-- lib/hello.js --
#!/usr/bin/env node
console.log("hello")
`

const pythonPackage = `
-- pkg/pyproject.toml --
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]

[project]
name = "twice"
version = "1"
-- pkg/backend.py --
import zipfile

FILES = {
    "twice.py": "def twice(n): return 2 * n\n",
    "twice-1.dist-info/METADATA": "Metadata-Version: 2.1\nName: twice\nVersion: 1\n",
    "twice-1.dist-info/WHEEL": "Wheel-Version: 1.0\nGenerator: backend\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    "twice-1.dist-info/RECORD": "",
}

def build_wheel(directory, config_settings=None, metadata_directory=None):
    name = "twice-1-py3-none-any.whl"
    with zipfile.ZipFile(directory + "/" + name, "w") as z:
        for path, text in FILES.items():
            z.writestr(path, text)
    return name
-- tests.py --
import unittest

class Twice(unittest.TestCase):
    def test(self):
        import twice
        self.assertEqual(twice.twice(2), 4)
`

const makeProject = "-- Makefile --\nm: m.o n.o\n\t$(CC) -o $@ $^\nclean:\n\trm -f m *.o\n" + `
-- m.c --
#include <stdio.h>
int twice(int);
int main(void) { printf("%d\n", twice(21)); return 0; }
-- n.c --
int twice(int n) { return 2 * n; }
`

const cargoProject = `
-- Cargo.toml --
[package]
name = "m"
version = "1.0.0"
edition = "2021"
-- src/main.rs --
fn twice(n: i32) -> i32 { 2 * n }
fn main() { println!("{}", twice(21)); }
#[test]
fn doubles() { assert_eq!(twice(2), 4); }
`
