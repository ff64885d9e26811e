package config

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"go.yaml.in/yaml/v3"
)

// tomlView makes the view of a TOML file.
func tomlView(format string, text []byte) ([]byte, []string, error) {
	var all map[string]any
	if err := toml.Unmarshal(text, &all); err != nil {
		return nil, nil, errors.New("it is no TOML")
	}
	t := tree{format: format}
	kept, _ := t.keep(nil, all)
	shown, err := toml.Marshal(kept)
	return shown, t.leftOut, err
}

// yamlView makes the view of a YAML file.
func yamlView(format string, text []byte) ([]byte, []string, error) {
	var all map[string]any
	if err := yaml.Unmarshal(text, &all); err != nil {
		return nil, nil, errors.New("it is no YAML with names at the top")
	}
	t := tree{format: format}
	kept, _ := t.keep(nil, all)
	if len(kept.(map[string]any)) == 0 {
		return nil, t.leftOut, nil
	}
	shown, err := yaml.Marshal(kept)
	return shown, t.leftOut, err
}

// tree is a file of nested keys that is being looked through.
type tree struct {
	format  string
	leftOut []string
}

// keep returns what is shown of a value. ok is false if nothing is.
func (t *tree) keep(key []string, value any) (kept any, ok bool) {
	name := strings.Join(key, ".")
	switch value := value.(type) {
	case map[string]any:
		shown := map[string]any{}
		for inner, v := range value {
			if v, ok := t.keep(append(slices.Clone(key), inner), v); ok {
				shown[inner] = v
			}
		}
		return shown, len(shown) > 0 || len(key) == 0 || len(value) == 0 && leads(t.format, key)
	case []any:
		shown := []any{}
		for _, v := range value {
			if v, ok := t.keep(key, v); ok {
				shown = append(shown, v)
			}
		}
		return shown, len(shown) > 0 || len(value) == 0 && shows(t.format, key)
	case string:
		clean, ok := withoutLogin(value)
		if !ok || !shows(t.format, key) || secretVariable(value) {
			t.leftOut = append(t.leftOut, name)
			return nil, false
		}
		if clean != value {
			t.leftOut = append(t.leftOut, name+loginMark)
		}
		return clean, true
	default: // a number, a truth value, a time
		if kind := reflect.ValueOf(value).Kind(); kind == reflect.Map || kind == reflect.Slice || !shows(t.format, key) {
			t.leftOut = append(t.leftOut, name)
			return nil, false
		}
		return value, true
	}
}

// xmlView makes the view of an XML file: elements by their path below the root.
func xmlView(format string, text []byte) ([]byte, []string, error) {
	var b bytes.Buffer
	var leftOut, key []string
	depth, open := 0, ""
	in := xml.NewDecoder(bytes.NewReader(text))
	for {
		token, err := in.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, nil, errors.New("it is no XML")
		}
		switch token := token.(type) {
		case xml.StartElement:
			if depth++; depth == 1 {
				open = token.Name.Local
				fmt.Fprintf(&b, "<%s>", open)
				continue
			}
			key = append(key, token.Name.Local)
			if shown := (shows(format, key) || leads(format, key)) && !secretNames().MatchString(token.Name.Local); !shown {
				leftOut = append(leftOut, strings.Join(key, "."))
				if in.Skip() != nil {
					return nil, nil, errors.New("it is no XML")
				}
				key, depth = key[:len(key)-1], depth-1
				continue
			}
			fmt.Fprintf(&b, "<%s>", token.Name.Local)
		case xml.EndElement:
			if depth--; depth == 0 {
				continue
			}
			fmt.Fprintf(&b, "</%s>", token.Name.Local)
			key = key[:len(key)-1]
		case xml.CharData:
			value := string(token)
			if strings.TrimSpace(value) == "" || depth < 2 {
				continue
			}
			clean, ok := withoutLogin(value)
			if !ok || !shows(format, key) {
				leftOut = append(leftOut, strings.Join(key, "."))
				continue
			}
			if clean != value {
				leftOut = append(leftOut, strings.Join(key, ".")+loginMark)
			}
			if err := xml.EscapeText(&b, []byte(clean)); err != nil {
				return nil, nil, err
			}
		}
	}
	if open == "" || depth != 0 {
		return nil, nil, errors.New("it is no XML")
	}
	fmt.Fprintf(&b, "</%s>\n", open)
	return b.Bytes(), leftOut, nil
}
