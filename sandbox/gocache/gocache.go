// Package gocache serves the go command a build cache of two layers: the user's own, which is only read, and one that takes what commands
// write.
//
//	GOCACHEPROG="toolhost __gocache DIR USERS" go build ./...
//
// Both are in the format of go's own build cache, so that a go that knows no GOCACHEPROG (before 1.24) uses the first alone.
package gocache

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// Cache is a build cache of two layers.
type Cache struct {
	Dir   string // takes new entries; those that it cannot take are kept among temporary files while the cache is served
	Users string // is only read; "" for none
	spare string // the temporary directory; "" until it is needed
}

// request is a question of go, as cmd/go/internal/cacheprog has it.
type request struct {
	ID                 int64
	Command            string
	ActionID, OutputID []byte
	BodySize           int64
}

// response is the answer to it.
type response struct {
	ID            int64
	Err           string     `json:",omitempty"`
	KnownCommands []string   `json:",omitempty"`
	Miss          bool       `json:",omitempty"`
	OutputID      []byte     `json:",omitempty"`
	Size          int64      `json:",omitempty"`
	Time          *time.Time `json:",omitempty"`
	DiskPath      string     `json:",omitempty"`
}

// Serve answers requests until one closes the cache, or in ends.
func (c *Cache) Serve(in io.Reader, out io.Writer) error {
	requests, answers := json.NewDecoder(bufio.NewReaderSize(in, 1<<16)), json.NewEncoder(out)
	defer c.clean()
	err := answers.Encode(response{KnownCommands: []string{"get", "put", "close"}})
	for err == nil {
		var asked request
		if err = requests.Decode(&asked); err != nil {
			break
		}
		var body []byte
		if asked.Command == "put" && asked.BodySize > 0 {
			if err = requests.Decode(&body); err != nil {
				break
			}
		}
		answer := c.answer(asked, body)
		answer.ID = asked.ID
		if err = answers.Encode(answer); asked.Command == "close" {
			c.trim(time.Now())
			return err
		}
	}
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

func (c *Cache) answer(asked request, body []byte) response {
	switch asked.Command {
	case "get":
		for _, dir := range []string{c.Dir, c.spare, c.Users} {
			if found, ok := read(dir, asked.ActionID); ok {
				return found
			}
		}
		return response{Miss: true}
	case "put":
		path, err := c.write(asked, body)
		if err != nil {
			return response{Err: err.Error()}
		}
		return response{DiskPath: path}
	case "close":
		return response{}
	}
	return response{Err: "unknown command " + asked.Command}
}

// file is where a cache keeps an entry of a kind: "a" for an action, "d" for data.
func file(dir string, id []byte, kind string) string {
	name := hex.EncodeToString(id)
	return filepath.Join(dir, name[:2], name+"-"+kind)
}

// idSize is the length of an id.
const idSize = 32

// entryFormat is an action's entry: its id, that of its output, the output's size, and when it was made.
const entryFormat = "v1 %x %x %20d %20d\n"

// read looks an action up. Only an entry whose data is whole counts.
func read(dir string, action []byte) (response, bool) {
	if dir == "" || len(action) != idSize {
		return response{}, false
	}
	entry := file(dir, action, "a")
	text, err := os.ReadFile(entry)
	if err != nil {
		return response{}, false
	}
	var id, output []byte
	var size, at int64
	if _, err := fmt.Sscanf(string(text), "v1 %x %x %d %d\n", &id, &output, &size, &at); err != nil || string(id) != string(action) || len(output) != idSize {
		return response{}, false
	}
	data := file(dir, output, "d")
	info, err := os.Lstat(data)
	if err != nil || !info.Mode().IsRegular() || info.Size() != size {
		return response{}, false
	}
	used(entry, data)
	made := time.Unix(0, at)
	return response{OutputID: output, Size: size, Time: &made, DiskPath: data}, true
}

// write keeps the output of an action, and returns where. A command that only reads has a directory that takes nothing.
func (c *Cache) write(asked request, body []byte) (string, error) {
	if len(asked.ActionID) != idSize || len(asked.OutputID) != idSize || int64(len(body)) != asked.BodySize {
		return "", errors.New("a malformed request")
	}
	if c.spare == "" {
		path, err := writeIn(c.Dir, asked, body)
		if err == nil {
			return path, nil
		}
		if c.spare, _ = os.MkdirTemp("", "go-build-"); c.spare == "" {
			return "", err
		}
	}
	return writeIn(c.spare, asked, body)
}

func writeIn(dir string, asked request, body []byte) (string, error) {
	data := file(dir, asked.OutputID, "d")
	if err := replace(data, body); err != nil {
		return "", err
	}
	entry := fmt.Sprintf(entryFormat, asked.ActionID, asked.OutputID, len(body), time.Now().UnixNano())
	return data, replace(file(dir, asked.ActionID, "a"), []byte(entry))
}

// clean removes the temporary entries.
func (c *Cache) clean() {
	if c.spare != "" {
		_ = os.RemoveAll(c.spare)
	}
}

// replace writes a file whole, or not at all.
func replace(path string, content []byte) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".new-*")
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}

// How long entries stay, as in go's own cache.
const (
	usedEvery = time.Hour
	trimEvery = 24 * time.Hour
	unusedFor = 5 * 24 * time.Hour
)

// used notes that files are in use. It fails for the user's, which cannot be written.
func used(files ...string) {
	now := time.Now()
	for _, name := range files {
		if info, err := os.Stat(name); err == nil && now.Sub(info.ModTime()) > usedEvery {
			_ = os.Chtimes(name, now, now)
		}
	}
}

// trim removes entries that were not used for long, once a day.
func (c Cache) trim(now time.Time) {
	note := filepath.Join(c.Dir, "trim.txt")
	if info, err := os.Stat(note); err == nil && now.Sub(info.ModTime()) < trimEvery {
		return
	}
	if os.WriteFile(note, strconv.AppendInt(nil, now.Unix(), 10), 0o666) != nil {
		return // it cannot be written
	}
	files, _ := filepath.Glob(filepath.Join(c.Dir, "[0-9a-f][0-9a-f]", "*"))
	for _, name := range files {
		if info, err := os.Lstat(name); err == nil && now.Sub(info.ModTime()) > unusedFor {
			os.Remove(name)
		}
	}
}
