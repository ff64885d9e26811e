package settings_test

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"toolhost/agenttool"
	"toolhost/settings"
)

func Example() {
	dir, err := os.MkdirTemp("", "settings-example-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	o := settings.Options{User: filepath.Join(dir, "settings.json"), Workspace: "/src"}
	written := "{\n  \"permissions\": {\n    \"allow\": [\n      \"Shell(make)\" // slow\n    ]\n  }\n}\n"
	if err := os.WriteFile(o.User, []byte(written), 0o600); err != nil {
		panic(err)
	}
	if err := settings.AddRule(o.User, agenttool.Allow, "Shell(go test *)", time.Time{}); err != nil {
		panic(err)
	}
	s, err := settings.Load(o)
	if err != nil {
		panic(err)
	}
	for _, r := range s.Rules {
		fmt.Printf("line %d: %s %s\n", r.Origin.Line, r.Behavior, r.Text)
	}
	content, _ := os.ReadFile(o.User)
	fmt.Print(string(content))
	// Output:
	// line 4: allow Shell(make)
	// line 5: allow Shell(go test *)
	// {
	//   "permissions": {
	//     "allow": [
	//       "Shell(make)", // slow
	//       "Shell(go test *)"
	//     ]
	//   }
	// }
}
