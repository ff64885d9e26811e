package validate

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

const (
	maxWork        = 2_000_000 // of one check, in evaluations of a schema; about a second
	maxChain       = 100       // schemas that apply to one value through each other
	maxPattern     = 5_000     // instructions of one pattern
	maxPatterns    = 40_000    // instructions of all patterns of a schema
	stepsPerUnit   = 40        // instructions × bytes that take as long as one evaluation
	unitsPerChoice = 4         // evaluations that take as long as one comparison of numbers
)

// node is what a schema applies to where. Schemas can be recursive, and so are nodes.
type node struct {
	schema      *jsonschema.Schema
	same        []*node // applied to the value itself
	properties  map[string]*node
	patterns    []patternNode
	additional  []*node // to members that properties does not name
	names       []*node // to the names of members
	prefix      []*node
	items       []*node // to every item
	patternSize int
	choices     int
	rank        int // length of the longest chain of same that starts here
}

type patternNode struct {
	pattern *pattern
	node    *node
}

// survey walks all that root leads to and refuses what cannot be bounded.
func survey(root *jsonschema.Schema) (*node, map[string]*node, error) {
	s := surveyor{seen: map[*jsonschema.Schema]*node{}, byLocation: map[string]*node{}}
	n := s.visit(root)
	if s.dynamic {
		return nil, nil, unusable("schema_not_supported", "the schema holds a dynamic reference")
	}
	for _, n := range s.seen {
		if n.measure() > maxChain {
			return nil, nil, unusable("schema_unbounded", fmt.Sprintf(
				"the schema applies to one value through more than %d others, or to itself without end", maxChain))
		}
	}
	return n, s.byLocation, nil
}

type surveyor struct {
	seen       map[*jsonschema.Schema]*node
	byLocation map[string]*node
	dynamic    bool
}

func (s *surveyor) visit(schema *jsonschema.Schema) *node {
	if schema == nil {
		return nil
	}
	if n := s.seen[schema]; n != nil {
		return n
	}
	n := &node{schema: schema}
	s.seen[schema], s.byLocation[schema.Location] = n, n
	s.dynamic = s.dynamic || schema.DynamicRef != nil || schema.RecursiveRef != nil
	s.visitSame(n)
	s.visitMembers(n)
	s.visitItems(n)
	if p, ok := schema.Pattern.(*pattern); ok {
		n.patternSize = p.size
	}
	if schema.Enum != nil {
		n.choices = len(schema.Enum.Values)
	}
	return n
}

// all visits schemas and leaves out those that are not there.
func (s *surveyor) all(schemas ...*jsonschema.Schema) []*node {
	var nodes []*node
	for _, schema := range schemas {
		if n := s.visit(schema); n != nil {
			nodes = append(nodes, n)
		}
	}
	return nodes
}

func (s *surveyor) visitSame(n *node) {
	j := n.schema
	n.same = s.all(j.Ref, j.Not, j.If, j.Then, j.Else)
	for _, list := range [][]*jsonschema.Schema{j.AllOf, j.AnyOf, j.OneOf} {
		n.same = append(n.same, s.all(list...)...)
	}
	for _, dependent := range j.DependentSchemas {
		n.same = append(n.same, s.visit(dependent))
	}
	for _, dependent := range j.Dependencies {
		if schema, ok := dependent.(*jsonschema.Schema); ok {
			n.same = append(n.same, s.visit(schema))
		}
	}
}

func (s *surveyor) visitMembers(n *node) {
	j := n.schema
	if len(j.Properties) > 0 {
		n.properties = make(map[string]*node, len(j.Properties))
		for name, schema := range j.Properties {
			n.properties[name] = s.visit(schema)
		}
	}
	for re, schema := range j.PatternProperties {
		if p, ok := re.(*pattern); ok {
			n.patterns = append(n.patterns, patternNode{p, s.visit(schema)})
		}
	}
	additional, _ := j.AdditionalProperties.(*jsonschema.Schema)
	n.additional = s.all(additional, j.UnevaluatedProperties)
	n.names = s.all(j.PropertyNames)
}

func (s *surveyor) visitItems(n *node) {
	j := n.schema
	n.prefix = s.all(j.PrefixItems...)
	switch items := j.Items.(type) {
	case *jsonschema.Schema:
		n.items = s.all(items)
	case []*jsonschema.Schema:
		n.prefix = append(n.prefix, s.all(items...)...)
	}
	additional, _ := j.AdditionalItems.(*jsonschema.Schema)
	n.items = append(n.items, s.all(additional, j.Items2020, j.Contains, j.UnevaluatedItems)...)
}

// measure fills rank; a chain that comes back to itself is longer than any limit.
func (n *node) measure() int {
	if n.rank != 0 {
		return n.rank
	}
	n.rank = maxChain + 1 // until it is known, so that a circle meets it
	longest := 0
	for _, c := range n.same {
		longest = max(longest, c.measure())
	}
	n.rank = 1 + longest
	return n.rank
}

// budget counts down the work that a check may take. What the library does for a value grows with the ways in which
// schemas reach it, which a recursive schema can double at every level.
type budget int

// spend reports whether the budget covers a check of v against n. It estimates high.
func (b *budget) spend(n *node, v any) bool {
	*b -= budget(1 + n.choices*unitsPerChoice)
	if *b < 0 {
		return false
	}
	for _, c := range n.same {
		if !b.spend(c, v) {
			return false
		}
	}
	switch v := v.(type) {
	case string:
		return b.match(n.patternSize, v)
	case map[string]any:
		return b.spendMembers(n, v)
	case []any:
		return b.spendItems(n, v)
	}
	return true
}

func (b *budget) match(size int, text string) bool {
	*b -= budget(size * len(text) / stepsPerUnit)
	return *b >= 0
}

func (b *budget) spendAll(nodes []*node, v any) bool {
	for _, n := range nodes {
		if !b.spend(n, v) {
			return false
		}
	}
	return true
}

func (b *budget) spendMembers(n *node, obj map[string]any) bool {
	if n.properties == nil && n.patterns == nil && n.additional == nil && n.names == nil {
		return true
	}
	for name, v := range obj {
		if p := n.properties[name]; p != nil {
			if !b.spend(p, v) {
				return false
			}
		} else if !b.spendAll(n.additional, v) {
			return false
		}
		for _, p := range n.patterns {
			if !b.match(p.pattern.size, name) || (p.pattern.MatchString(name) && !b.spend(p.node, v)) {
				return false
			}
		}
		if len(n.names) > 0 && !b.spendAll(n.names, name) {
			return false
		}
	}
	return true
}

func (b *budget) spendItems(n *node, arr []any) bool {
	for i, v := range arr {
		if i < len(n.prefix) && !b.spend(n.prefix[i], v) {
			return false
		}
		if !b.spendAll(n.items, v) {
			return false
		}
	}
	return true
}

// pattern is a regular expression of which the size is known.
type pattern struct {
	*regexp.Regexp
	size int
}

// patterns compiles the patterns of one schema, up to a size.
type patterns struct {
	total    int
	exceeded bool
}

func (p *patterns) compile(expr string) (jsonschema.Regexp, error) {
	parsed, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return nil, fmt.Errorf("not an RE2 pattern: %w", err)
	}
	size := instructions(parsed)
	if p.total += min(size, maxPatterns); size > maxPattern || p.total > maxPatterns {
		p.exceeded = true
		return nil, errors.New("the pattern is too large")
	}
	re, err := regexp.Compile(expr)
	if err != nil {
		return nil, fmt.Errorf("not an RE2 pattern: %w", err)
	}
	return &pattern{re, size}, nil
}

// instructions estimates the size of the program of re from above, without building it.
func instructions(re *syntax.Regexp) int {
	size := 1 + len(re.Rune)
	for _, sub := range re.Sub {
		size += instructions(sub)
	}
	if re.Op == syntax.OpRepeat {
		size *= max(re.Min, re.Max, 1)
	}
	return min(size, maxPatterns+1)
}
