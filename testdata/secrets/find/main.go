// Command find prints what the table of secrets finds in the files below some directories: one line a find, with its kind, its file and
// itself, and the number of files at the end.
//
//	go run ./testdata/secrets/find DIR…
package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"toolhost/agenttool/secret"
)

// maxFile bounds the files that are searched, in bytes.
const maxFile = 4 << 20

func main() {
	files := 0
	for _, dir := range os.Args[1:] {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			info, err := d.Info()
			if err != nil || info.Size() > maxFile {
				return err
			}
			text, err := os.ReadFile(path)
			files++
			for _, s := range secret.All().Find(text) {
				fmt.Printf("%s\t%s\t%.80q\n", s.Kind, path, text[s.Start:s.End])
			}
			return err
		})
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	fmt.Printf("%d files\n", files)
}
