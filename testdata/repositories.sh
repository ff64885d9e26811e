#!/usr/bin/env bash
# Compares grep with "git ls-files | xargs grep" on real source trees: packages of npm, Go modules, and Debian's packages. The test makes each
# a repository of its own, with rules for names that are in it, files that are added although a rule ignores them, and repositories within.
#
#   testdata/repositories.sh [DIRECTORY]     fetches the trees into the directory if they are not there
#
# testdata/repositories.txt has what it printed last. The ordinary form of TestAgreesWithGitGrep takes two packages of Go itself.
set -euo pipefail
cd "$(dirname "$0")/.."
work=${1:-${TMPDIR:-/tmp}/toolhost-repositories}
mkdir -p "$work/trees" "$work/part"
work=$(cd "$work" && pwd)

npm_packages=(express lodash react-dom webpack eslint prettier vue axios rxjs)
modules=(github.com/spf13/cobra@v1.8.0 golang.org/x/tools@v0.20.0 golang.org/x/net@v0.25.0 github.com/gin-gonic/gin@v1.9.1 github.com/stretchr/testify@v1.9.0
	github.com/prometheus/client_golang@v1.19.0 go.uber.org/zap@v1.27.0)
debian=(vim-runtime git-doc python3-pip perl-modules-5.36 bash-doc)

for name in "${npm_packages[@]}"; do
	[ -d "$work/trees/$name" ] && continue
	(cd "$work/part" && rm -rf ./* && npm pack --silent "$name" >/dev/null && tar -xzf ./*.tgz && mv package "$work/trees/$name") || echo "npm has not got $name" >&2
done
for module in "${modules[@]}"; do
	name=$(basename "${module%@*}")
	[ -d "$work/trees/$name" ] && continue
	dir=$(cd "$work/part" && GOFLAGS=-modcacherw GOMODCACHE=$work/modules go mod download -json "$module" | sed -n 's/.*"Dir": "\(.*\)".*/\1/p') || true
	if [ -n "$dir" ]; then cp -r "$dir" "$work/trees/$name" && chmod -R u+w "$work/trees/$name"; else echo "the proxy has not got $module" >&2; fi
done
for name in "${debian[@]}"; do
	[ -d "$work/trees/$name" ] && continue
	(cd "$work/part" && rm -rf ./* && apt-get download "$name" >/dev/null 2>&1 && dpkg-deb -x ./*.deb "$work/trees/$name") || echo "apt has not got $name" >&2
done
echo "$(ls "$work/trees" | wc -l) trees, $(find "$work/trees" -type f | wc -l) files"
CGO_ENABLED=0 go test -count=1 -timeout 60m -run '^TestAgreesWithGitGrep$' -v ./tools/search -args -repositories "$work/trees" |
	grep -E 'gitgrep_test|--- (FAIL|SKIP)|^(ok|FAIL)' | sed 's/^ *gitgrep_test.go:[0-9]*: //; s/\t[0-9.]*s$//'
