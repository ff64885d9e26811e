#!/usr/bin/env bash
# The long form of the tests that no character of any encoding is damaged: testdata/encodings.sh [EDITS, 1000000] [FILES, 5000]
#
# Random edits of random texts in 13 forms of encodings, once under every guess of the encoding and once as edit makes them; edits of real
# files that are UTF-8; real texts that are read and written again; words of real texts that grep finds; and the files of Vim, whose names say their encodings. The real files
# are those of Go, its module cache, /usr/share and the global packages of npm, and those of the Debian package vim-runtime, which is
# unpacked into a temporary directory. The output of a long run is in encodings.txt.
set -euo pipefail
cd "$(dirname "$0")/.."
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
(cd "$scratch" && apt-get download -qq vim-runtime >/dev/null 2>&1 && dpkg -x vim-runtime_*.deb vim)
vim=$(echo "$scratch"/vim/usr/share/vim/vim*)
roots=$(go env GOROOT)/src:$(go env GOMODCACHE):/usr/share:$(npm root -g):$scratch/vim
export CGO_ENABLED=0 TOOLHOST_EDITS=${1:-1000000} TOOLHOST_FILES=${2:-5000} TOOLHOST_FILE_ROOTS=$roots TOOLHOST_VIM=$vim
printf '%s, %s edits, %s files\n' "$(go version)" "$TOOLHOST_EDITS" "$TOOLHOST_FILES"
nice go test -count=1 -timeout 4h -v -run '^(TestEditsUnderEveryGuess|TestRecogniseFilesOfVim|TestEditsOfRandomTexts|TestEditsOfRealUTF8AreNotRefused|TestWritingWhatWasRead|TestWordsOfRealFiles)$' \
  ./tools/encoding ./tools/files ./tools/search | grep -v '^=== RUN'
