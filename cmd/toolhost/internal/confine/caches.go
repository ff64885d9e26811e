package confine

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"

	"toolhost/permissions/protect"
	"toolhost/sandbox"
)

// userCaches are the caches of the person's package managers, where their own variables or defaults have them.
func userCaches(home, goModules string) []sandbox.UserCache {
	shared := cmp.Or(os.Getenv("XDG_CACHE_HOME"), filepath.Join(home, ".cache"))
	at := func(variable string, otherwise ...string) string {
		return cmp.Or(os.Getenv(variable), filepath.Join(otherwise...))
	}
	npm, cargo := at("npm_config_cache", home, ".npm"), at("CARGO_HOME", home, ".cargo")
	all := []sandbox.UserCache{
		{Name: "go-mod", Dir: goModules},
		{Name: "go-sumdb", Dir: filepath.Join(goPath(home), "pkg", "sumdb"), Linked: true},
		{Name: "npm/_cacache", Dir: filepath.Join(npm, "_cacache")},
		{Name: "npm/_npx", Dir: filepath.Join(npm, "_npx")},
		{Name: "pip", Dir: at("PIP_CACHE_DIR", shared, "pip")},
		{Name: "uv", Dir: at("UV_CACHE_DIR", shared, "uv")},
		{Name: "yarn", Dir: at("YARN_CACHE_FOLDER", shared, "yarn")},
		{Name: "cargo/registry", Dir: filepath.Join(cargo, "registry")},
		{Name: "cargo/git", Dir: filepath.Join(cargo, "git")},
	}
	own := []string{"go-build", "pip", "uv", "yarn"} // with variables of their own
	shown := protect.NewHome(home)
	for _, dir := range shown.Shown() {
		if name := filepath.Base(dir); filepath.Dir(dir) == filepath.Join(shown.Dir, ".cache") && !slices.Contains(own, name) {
			all = append(all, sandbox.UserCache{Name: "xdg/" + name, Dir: dir})
		}
	}
	return all
}
