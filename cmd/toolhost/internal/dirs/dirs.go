// Package dirs says where toolhost keeps its files: state, configuration, caches and sockets. It follows the environment
// (HOME and the XDG variables), and makes no directory.
package dirs

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"toolhost/agenttool"
)

// Absolute is the directory that a variable names, "" if it names none: one that is relative counts for nothing, as the XDG specification has it.
func Absolute(variable string) string {
	if dir := os.Getenv(variable); filepath.IsAbs(dir) {
		return dir
	}
	return ""
}

// State is where toolhost keeps its state: $XDG_STATE_HOME/toolhost, else ~/.local/state/toolhost.
func State() (string, error) {
	if dir := Absolute("XDG_STATE_HOME"); dir != "" {
		return filepath.Join(dir, "toolhost"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", errors.New("no place for session logs: set HOME or XDG_STATE_HOME")
	}
	return filepath.Join(home, ".local", "state", "toolhost"), nil
}

// Sessions is the directory that holds a directory for each session.
func Sessions() (string, error) {
	state, err := State()
	return filepath.Join(state, "sessions"), err
}

// RedactionKey is the file below the state with the key of the user, for marks of secrets in logs and for sealed payloads.
func RedactionKey(state string) string { return filepath.Join(state, "redact.key") }

// Copies is the directory below the state that holds copies of files that commands removed.
func Copies(state string) string { return filepath.Join(state, "copies") }

// Caches is the directory below the state that holds the caches of workspaces.
func Caches(state string) string { return filepath.Join(state, "caches") }

// Cache is the directory of the caches of one workspace.
func Cache(state, workspace string) string { return filepath.Join(Caches(state), digest(workspace)) }

// Callbacks is the directory of the callbacks that a server of one workspace owes.
func Callbacks(state, workspace string) string { return filepath.Join(state, "rap", digest(workspace)) }

// digest is a name for the directory of a workspace.
func digest(workspace string) string {
	sum := sha256.Sum256([]byte(workspace))
	return hex.EncodeToString(sum[:8])
}

// Config is the directory of the person's settings; "" if there is no such place.
func Config() string {
	config := ConfigHome()
	if config == "" {
		return ""
	}
	return filepath.Join(config, "toolhost")
}

// ConfigHome is where programs have the person's settings: $XDG_CONFIG_HOME, else ~/.config; "" if there is no such place.
func ConfigHome() string {
	if dir := Absolute("XDG_CONFIG_HOME"); dir != "" {
		return dir
	}
	if home, err := os.UserHomeDir(); err == nil {
		return filepath.Join(home, ".config")
	}
	return ""
}

// Obstacles say why places of toolhost's cannot be used, and what to do about it.
func Obstacles() (all []string) {
	for _, variable := range []string{"XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR", "XDG_CACHE_HOME"} {
		if dir := os.Getenv(variable); dir != "" && !filepath.IsAbs(dir) {
			all = append(all, variable+" counts for nothing: "+dir+" is relative; name an absolute path")
		}
	}
	places := []struct{ what, dir string }{{"settings", Config()}, {"sockets", Runtime()}}
	if state, err := State(); err == nil {
		places = append(places, struct{ what, dir string }{"logs", state})
	}
	for _, place := range places {
		if place.dir == "" {
			continue
		}
		if why := agenttool.Obstacle(place.dir); why != "" {
			all = append(all, place.what+" cannot be written in "+place.dir+": "+why)
		}
	}
	if dir := Absolute("XDG_CACHE_HOME"); dir != "" && !Is(dir) { // only the person's programs write there, and they make it
		if why := agenttool.Obstacle(dir); why != "" {
			all = append(all, "commands see none of your caches in "+dir+": "+why)
		}
	}
	return all
}

// Silent returns those places of toolhost's, and of further directories, that have not answered within a time: a file system may never do so.
func Silent(within time.Duration, further ...string) (silent []string) {
	places := []func() string{Config, Runtime, func() string { dir, _ := State(); return dir }}
	for _, dir := range further {
		places = append(places, func() string { return dir })
	}
	words := []string{"the directory of the settings", "the directory of the sockets", "the directory of the logs"}
	over, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	answers := make([]chan struct{}, len(places))
	for i, place := range places {
		answers[i] = make(chan struct{})
		go func() { // ends when the file system answers
			defer close(answers[i])
			if dir, err := os.Open(place()); err == nil {
				_, _ = dir.Readdirnames(1)
				_ = dir.Close()
			}
		}()
	}
	for i, answered := range answers {
		select {
		case <-answered:
			continue
		case <-over.Done():
		}
		select {
		case <-answered:
		default:
			silent = append(silent, append(words, further...)[i])
		}
	}
	return silent
}

// Runtime is where the sockets of the person's programs are: $XDG_RUNTIME_DIR, else /run/user/UID; "" if there is none.
func Runtime() string {
	if dir := Absolute("XDG_RUNTIME_DIR"); dir != "" {
		return dir
	}
	if dir := filepath.Join("/run/user", strconv.Itoa(os.Getuid())); Is(dir) {
		return dir
	}
	return ""
}

// Sockets returns the directories for the socket of a session, the best first: in the runtime directory, in the state directory, and in a
// directory of this user below /tmp, for machines where the other two give paths that are too long for a socket.
func Sockets() []string {
	var dirs []string
	if dir := Runtime(); dir != "" {
		dirs = append(dirs, filepath.Join(dir, "toolhost"))
	}
	if state, err := State(); err == nil {
		dirs = append(dirs, filepath.Join(state, "run"))
	}
	return append(dirs, filepath.Join("/tmp", "toolhost-"+strconv.Itoa(os.Getuid())))
}

// Own are the directories of toolhost that a sandbox could be opened to, without links.
func Own() []string {
	dirs := []string{Config()}
	if state, err := State(); err == nil {
		dirs = append(dirs, state)
	}
	if runtime := Runtime(); runtime != "" {
		dirs = append(dirs, filepath.Join(runtime, "toolhost"))
	}
	for i, dir := range dirs {
		dirs[i] = Target(dir)
	}
	return slices.DeleteFunc(dirs, func(dir string) bool { return dir == "" })
}

// SystemHome is the home directory that the system has for this user, "/" for a user whom it does not know, as login(1) has it.
func SystemHome() string {
	if u, err := user.LookupId(strconv.Itoa(os.Geteuid())); err == nil && filepath.IsAbs(u.HomeDir) {
		return u.HomeDir
	}
	return "/"
}

// Homes are the person's home directories as the environment and the system name them, without links.
func Homes() []string {
	var all []string
	if home, err := os.UserHomeDir(); err == nil {
		all = append(all, Real(home))
	}
	if u, err := user.Current(); err == nil && u.HomeDir != "" && u.HomeDir != "/" {
		all = append(all, Real(u.HomeDir))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Is reports whether path is a directory, or a link to one.
func Is(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
