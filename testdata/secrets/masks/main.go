// Command masks prints the files below some directories that commands and tools would not read, as the secrets of a workspace there, and the
// number of files. A build and its tests need all of them: none should be there.
//
//	go run ./testdata/secrets/masks DIR…
package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"toolhost/permissions/protect"
)

func main() {
	for _, dir := range os.Args[1:] {
		root, err := filepath.EvalSymlinks(dir)
		if err == nil {
			root, err = filepath.Abs(root)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		m, err := protect.Scan(context.Background(), protect.Options{Roots: []string{root}, ReadDeny: protect.DefaultReadDeny(), MaxTime: time.Minute, MaxEntries: 1 << 22})
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		for _, e := range m.Secrets {
			if rest, inside := strings.CutPrefix(e.Path, root+"/"); inside {
				fmt.Println(rest)
			}
		}
		files := 0
		_ = filepath.WalkDir(root, func(_ string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() {
				files++
			}
			return nil
		})
		fmt.Printf("%d files\n", files)
	}
}
