package files

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"toolhost/agenttool"
)

// aNotebook is spelt as Jupyter writes it.
const aNotebook = `{
 "cells": [
  {
   "cell_type": "markdown",
   "id": "a1",
   "metadata": {},
   "source": [
    "# Title\n",
    "text"
   ]
  },
  {
   "cell_type": "code",
   "execution_count": 3,
   "id": "b2",
   "metadata": {},
   "outputs": [
    {
     "name": "stdout",
     "output_type": "stream",
     "text": [
      "1\n",
      "2\n"
     ]
    },
    {
     "data": {
      "image/png": "iVBORw0KGgoAAAANSUhEUg==\n",
      "text/html": [
       "<b>3</b>"
      ],
      "text/plain": [
       "three"
      ]
     },
     "execution_count": 3,
     "metadata": {},
     "output_type": "execute_result"
    },
    {
     "ename": "NameError",
     "evalue": "name 'x' is not defined",
     "output_type": "error",
     "traceback": [
      "\u001b[0;31mNameError\u001b[0m"
     ]
    }
   ],
   "source": "print(1)"
  },
  {
   "cell_type": "raw",
   "metadata": {},
   "source": []
  }
 ],
 "metadata": {
  "language_info": {
   "name": "python"
  }
 },
 "nbformat": 4,
 "nbformat_minor": 5
}
`

const aNotebookShown = `[cell 1, markdown, line 3]
# Title
text
[cell 2, code, line 12]
print(1)
[output, stdout]
1
2
[output, image/png, 16 bytes: not shown]
[output, text/html, 8 bytes: not shown]
[output]
three
[output, error]
NameError: name 'x' is not defined
[cell 3, raw, line 51]
[notebook of 3 cells; in the shell, this makes a file to read of the image in cell 2: IMAGE; edit changes the lines of its JSON, which read shows if limit is given]`

// shownAs is aNotebookShown for a file of a name.
func shownAs(name string) string {
	return strings.Replace(aNotebookShown, "IMAGE", `jq -r '[.cells[1].outputs[].data["image/png"]? // empty][0]' `+name+`.ipynb | base64 -d > /tmp/`+name+`-view.png`, 1)
}

func TestReadNotebook(t *testing.T) {
	p := newProject(t, Options{})
	p.put("a.ipynb", aNotebook)
	r, text := p.read("a.ipynb")
	if text != shownAs("a") || r.Kind != "notebook" || r.StartLine != 3 || r.EndLine != 55 || r.NextOffset != 0 {
		t.Errorf("%+v %+v\n%s", r, r.shownPage, text)
	}
	if _, text := p.readInput(in{"path": "a.ipynb", "limit": 10}); !strings.HasPrefix(text, "     1\t{\n     2\t \"cells\": [\n") {
		t.Errorf("with limit: %q", text)
	}
	for offset, first := range map[int]string{3: "[cell 1,", 11: "[cell 1,", 12: "[cell 2,", 40: "[cell 2,", -20: "[cell 2,", 51: "[cell 3,", 60: "    60\t"} {
		if _, text := p.readInput(in{"path": "a.ipynb", "offset": offset}); !strings.HasPrefix(text, first) {
			t.Errorf("from %d: %.40q, want %s", offset, text, first)
		}
	}
	p.put("crlf.ipynb", "\xef\xbb\xbf"+strings.ReplaceAll(aNotebook, "\n", "\r\n"))
	if _, text := p.read("crlf.ipynb"); text != shownAs("crlf") {
		t.Errorf("with CRLF:\n%s", text)
	}
}

// TestNotebookIsUnseen: cells are not the text of the file, so that write does not replace what nobody saw.
func TestNotebookIsUnseen(t *testing.T) {
	p := newProject(t, Options{})
	p.put("a.ipynb", aNotebook)
	p.read("a.ipynb")
	_, err := p.write("a.ipynb", "{}")
	if err == nil || p.get("a.ipynb") != aNotebook {
		t.Fatalf("%v: what was not shown is replaced", err)
	}
	if _, err := p.edit("a.ipynb", `"print(1)"`, `"print(2)"`); err != nil {
		t.Error(err)
	}
	p.readInput(in{"path": "a.ipynb", "limit": 200})
	if _, err := p.write("a.ipynb", "{}"); err != nil {
		t.Error(err)
	}
}

// TestNoNotebook: what is no notebook is shown as the text that it is.
func TestNoNotebook(t *testing.T) {
	for name, content := range map[string]string{
		"cut": aNotebook[:len(aNotebook)/2], "a list": "[]", "no cells": `{"nbformat": 4}`, "older": strings.Replace(aNotebook, `"nbformat": 4`, `"nbformat": 3`, 1),
		"a name twice": strings.Replace(aNotebook, `"metadata": {},`, `"metadata": {}, "metadata": {},`, 1), "cells of numbers": `{"nbformat": 4, "cells": [1]}`,
		"a source of numbers": strings.Replace(aNotebook, `"print(1)"`, `7`, 1), "nothing": " ", "deep": strings.Repeat("[", 100_000),
	} {
		p := newProject(t, Options{})
		p.put("a.ipynb", content)
		if r, text := p.read("a.ipynb"); r.Kind != "text" || !strings.HasPrefix(text, "     1\t") {
			t.Errorf("%s: kind %s, %.80q", name, r.Kind, text)
		}
	}
	p := newProject(t, Options{})
	p.put("a.json", aNotebook)
	if r, _ := p.read("a.json"); r.Kind != "text" {
		t.Errorf("another name: %s", r.Kind)
	}
	p.put("a.ipynb", "")
	if r, _ := p.read("a.ipynb"); r.Kind != "empty" {
		t.Errorf("empty: %s", r.Kind)
	}
}

// TestHostileNotebook: a notebook of millions of cells, outputs, formats or lines costs about as much memory as another text of its
// size. One whose outputs hold many values that are not shown is a notebook like others.
func TestHostileNotebook(t *testing.T) {
	many := func(value string) string { return strings.Repeat(value+",", (maxNotebook-1000)/(len(value)+1)) + value }
	cell := `{"nbformat":4,"cells":[{"cell_type":"code","source":[],"outputs":`
	for name, content := range map[string]string{
		"cells":         `{"nbformat":4,"cells":[` + many("{}") + `]}`,
		"lines":         `{"nbformat":4,"cells":[{"source":[` + many(`""`) + `]}]}`,
		"outputs":       cell + `[` + many("{}") + `]}]}`,
		"output lines":  cell + `[{"output_type":"stream","text":[` + many(`""`) + `]}]}]}`,
		"lines of data": cell + `[{"output_type":"display_data","data":{"text/plain":[` + many(`""`) + `]}}]}]}`,
	} {
		p := newProject(t, Options{})
		p.put("a.ipynb", content)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		r, _ := p.read("a.ipynb")
		runtime.ReadMemStats(&after)
		if allocated := after.TotalAlloc - before.TotalAlloc; allocated > 8*maxNotebook || r.Kind != "text" {
			t.Errorf("%s: kind %s, %d MiB allocated", name, r.Kind, allocated>>20)
		}
	}
	p := newProject(t, Options{})
	p.put("a.ipynb", cell+`[{"output_type":"display_data","data":{"application/vnd.plotly.v1+json":{"data":[{"x":[`+many("1")+`],"name":"a,\"b"}]}}}]}]}`)
	if r, text := p.read("a.ipynb"); r.Kind != "notebook" {
		t.Errorf("a plot: kind %s, %.80q", r.Kind, text)
	}
}

// longNotebook has cells of about 1,000 characters.
func longNotebook(t *testing.T, cells int, indent string) string {
	type obj = map[string]any
	var all []any
	for n := range cells {
		all = append(all, obj{"cell_type": "code", "metadata": obj{}, "outputs": []any{obj{"output_type": "stream", "name": "stdout", "text": strings.Repeat("y", 5000)}},
			"source": []string{fmt.Sprintf("# this is cell %d\n", n+1), strings.Repeat("x", 1000)}})
	}
	raw, err := json.MarshalIndent(obj{"nbformat": 4, "nbformat_minor": 5, "metadata": obj{}, "cells": all}, "", indent)
	if err != nil {
		t.Fatal(err)
	}
	if indent == "" {
		return strings.ReplaceAll(string(raw), "\n", "")
	}
	return string(raw)
}

// TestNotebookPages: the pages of a long notebook have each cell once.
func TestNotebookPages(t *testing.T) {
	p := newProject(t, Options{})
	p.put("a.ipynb", longNotebook(t, 100, " "))
	offset, seen, pages := int64(1), 0, 0
	for ; offset > 0; pages++ {
		r, text := p.readInput(in{"path": "a.ipynb", "offset": offset})
		if len(text) > pageChars || r.NextOffset > 0 && !strings.Contains(text, fmt.Sprintf("is at offset %d;", r.NextOffset)) {
			t.Fatalf("%d characters, %q", len(text), text[len(text)-200:])
		}
		for n := range strings.Count(text, "# this is cell ") {
			if !strings.Contains(text, fmt.Sprintf("# this is cell %d\n", seen+1)) {
				t.Fatalf("cell %d of page %d is missing", n+1, pages)
			}
			seen++
		}
		offset = r.NextOffset
	}
	if seen != 100 || pages < 5 {
		t.Errorf("%d cells on %d pages", seen, pages)
	}

	p.put("line.ipynb", longNotebook(t, 100, ""))
	r, text := p.read("line.ipynb")
	if r.NextOffset != 0 || !strings.Contains(text, "in the same line; in the shell, this shows their sources: jq -r '.cells[") {
		t.Errorf("next %d, %q", r.NextOffset, text[len(text)-300:])
	}

	p.put("large.ipynb", strings.Replace(aNotebook, "print(1)", strings.Repeat("é", 40_000), 1))
	r, text = p.readInput(in{"path": "large.ipynb", "offset": 12})
	if r.CutLines != 1 || r.NextOffset != 51 || !strings.Contains(text, "characters]\n[notebook") {
		t.Errorf("%+v, %q", *r.shownPage, text[len(text)-300:])
	}

	call := p.mustBind("read", in{"path": "a.ipynb"}).(*readCall)
	call.capacity = agenttool.Capacity{Bytes: 8000}
	out, err := call.Run(t.Context(), nil)
	if err != nil || len(out.Content[0].Text) > 8000 || !strings.Contains(out.Content[0].Text, "is at offset") {
		t.Errorf("for a caller with little room: %d bytes, %v", len(out.Content[0].Text), err)
	}
}
