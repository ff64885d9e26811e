package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"toolhost/agenttool"
)

// cachePlace is where commands see the caches, which are among the host's own files otherwise.
const cachePlace = "/tmp/.cache"

// cacheEnv points the caches of tools to the workspace's own. The user's caches can be read, never written: another
// repository would run what this one left in a shared cache.
func cacheEnv(place string, o *Options) []string {
	dir := func(name string) string { return filepath.Join(place, name) }
	env := []string{
		"XDG_CACHE_HOME=" + dir("xdg"), "GOCACHE=" + dir("go-build"), "GOMODCACHE=" + dir("go-mod"),
		"npm_config_cache=" + dir("npm"), "PIP_CACHE_DIR=" + dir("pip"), "UV_CACHE_DIR=" + dir("uv"),
		"CARGO_HOME=" + dir("cargo"), "YARN_CACHE_FOLDER=" + dir("yarn"),
		"npm_config_update_notifier=false", "PIP_DISABLE_PIP_VERSION_CHECK=1", // they would reach hosts without a grant
	}
	if os.Getuid() == 0 {
		env = append(env, "TAR_OPTIONS=--no-same-owner") // root has no other owners to give files to
	}
	if download := filepath.Join(o.GoModCache, "cache", "download"); o.GoModCache != "" && isDir(download) {
		env = append(env, "GOPROXY=file://"+download+","+o.GoProxy)
	}
	return env
}

// goCacheProgram has go read the person's build cache below the workspace's own, if commands can see both the cache and this program. A
// go before 1.24 does not obey it, and has the workspace's own alone.
func goCacheProgram(v *view, place string, o *Options) []string {
	seen := func(path string) bool {
		return !v.isHidden(path) && (!v.covered(path) || v.inRoot(path) ||
			slices.ContainsFunc(v.shown, func(at identity) bool { return agenttool.Within(at.path, path) }))
	}
	info, err := os.Stat(o.Program) // it may have been replaced since this process started
	if err != nil || !info.Mode().IsRegular() || !isDir(o.GoCache) || !seen(o.Program) || !seen(o.GoCache) || strings.ContainsAny(o.Program+o.GoCache, " \t\n'\"") {
		return nil
	}
	return []string{"GOCACHEPROG=" + o.Program + " __gocache " + filepath.Join(place, "go-build") + " " + o.GoCache}
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
