package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// cachePlace is where commands see the caches, which are among the host's own files otherwise.
const cachePlace = "/tmp/.cache"

// goModules is the cache of go's modules, among the others.
const goModules = "go-mod"

// cacheEnv points the caches of tools to the workspace's own. The user's caches can be read, never written: another
// repository would run what this one left in a shared cache. Without layers go reads the user's module cache as a proxy.
func cacheEnv(place string, o *Options, layered bool) []string {
	dir := func(name string) string { return filepath.Join(place, name) }
	env := []string{
		"XDG_CACHE_HOME=" + dir("xdg"), "GOCACHE=" + dir("go-build"), "GOMODCACHE=" + dir(goModules),
		"npm_config_cache=" + dir("npm"), "PIP_CACHE_DIR=" + dir("pip"), "UV_CACHE_DIR=" + dir("uv"),
		"CARGO_HOME=" + dir("cargo"), "YARN_CACHE_FOLDER=" + dir("yarn"),
		"npm_config_update_notifier=false", "PIP_DISABLE_PIP_VERSION_CHECK=1", // they would reach hosts without a grant
	}
	if os.Getuid() == 0 {
		env = append(env, "TAR_OPTIONS=--no-same-owner") // root has no other owners to give files to
	}
	if download := filepath.Join(o.Go.ModCache, "cache", "download"); layered && o.Go.Proxy != "" {
		env = append(env, "GOPROXY="+o.Go.Proxy)
	} else if o.Go.ModCache != "" && isDir(download) {
		env = append(env, "GOPROXY=file://"+download+","+o.Go.Proxy)
	}
	return env
}

// goCacheProgram has go read the person's build cache below the workspace's own, if commands can see both the cache and this program. A
// go before 1.24 does not obey it, and has the workspace's own alone.
func goCacheProgram(v *view, place string, o *Options) []string {
	info, err := os.Stat(o.Program) // it may have been replaced since this process started
	if err != nil || !info.Mode().IsRegular() || !isDir(o.Go.Cache) || !v.sees(o.Program) || !v.sees(o.Go.Cache) || strings.ContainsAny(o.Program+o.Go.Cache, " \t\n'\"") {
		return nil
	}
	return []string{"GOCACHEPROG=" + o.Program + " __gocache " + filepath.Join(place, "go-build") + " " + o.Go.Cache}
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// makeGoCache makes the 256 directories of go's build cache among the caches, as far as it can, for commands that only read: go cannot make
// them there, and ends without them.
func makeGoCache(caches string) {
	root, err := os.OpenRoot(caches) // which commands write
	if err != nil {
		return
	}
	defer root.Close()
	const name, last = "go-build", 0xff
	if info, err := root.Lstat(fmt.Sprintf("%s/%02x", name, last)); err == nil && info.IsDir() || root.MkdirAll(name, 0o700) != nil {
		return
	}
	builds, err := root.OpenRoot(name)
	if err != nil {
		return
	}
	defer builds.Close()
	for i := range last + 1 {
		_ = builds.Mkdir(fmt.Sprintf("%02x", i), 0o700)
	}
}
