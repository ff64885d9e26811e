package validate

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

const (
	maxWork        = 2_000_000 // of one check, in evaluations of a schema; about a second
	maxChain       = 100       // schemas that apply to one value through each other
	maxPattern     = 5_000     // instructions of one pattern
	maxPatterns    = 40_000    // instructions of all patterns of a schema
	stepsPerUnit   = 40        // instructions × bytes that take as long as one evaluation
	unitsPerNumber = 4         // evaluations that take as long as one comparison of numbers
	unitsPerFar    = 20        // evaluations that take as long as exact arithmetic on a far number
	bytesPerUnit   = 1_000     // of a text to count that take as long as one evaluation
	bytesPerFormat = 2         // of a text to hold to a format that take as long as one evaluation
	fieldsPerUnit  = 4         // fields to look through that take as long as one evaluation
	placesPerUnit  = 8         // arrays and objects around a value that take as long as one evaluation to name
	maxPlain       = 30        // digits of a number that is as quick as a small one
	maxPairwise    = 20        // items of a set that are compared each with each
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
	choices     int  // evaluations that take as long as comparing with the values that are allowed
	demands     int  // names of fields that may be missing
	remembers   bool // what was evaluated in a value
	rank        int  // length of the longest chain of same that starts here
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
	for _, n := range s.seen {
		if n.schema.UnevaluatedProperties != nil || n.schema.UnevaluatedItems != nil {
			n.remember()
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
		n.choices = weigh(schema.Enum.Values)
	}
	if schema.Const != nil {
		n.choices += weigh(*schema.Const)
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
	n.demands = len(j.Required) + len(j.Dependencies) + len(j.DependentRequired)
	for _, names := range j.DependentRequired {
		n.demands += len(names)
	}
	for _, dependent := range j.Dependencies {
		if names, ok := dependent.([]string); ok {
			n.demands += len(names)
		}
	}
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

// remember notes that n and all that it applies to the value itself note what they evaluate there.
func (n *node) remember() {
	if n.remembers {
		return
	}
	n.remembers = true
	for _, c := range n.same {
		c.remember()
	}
}

// budget counts down the work that a check may take. What the library does for a value grows with the ways in which
// schemas reach it, which a recursive schema can double at every level.
type budget struct {
	left  int // evaluations
	depth int // of the value that is being looked at
}

// spend reports whether the budget covers a check of v against n. It estimates high.
func (b *budget) spend(n *node, v any) bool {
	b.left -= 1 + n.choices + b.depth/placesPerUnit
	if number, ok := v.(json.Number); ok && isFar(number) {
		b.left -= (1 + n.choices/unitsPerNumber) * unitsPerFar
	}
	if b.left < 0 {
		return false
	}
	for _, c := range n.same {
		if !b.spend(c, v) {
			return false
		}
	}
	switch v := v.(type) {
	case string:
		return b.spendText(n, v)
	case map[string]any:
		b.depth++
		defer func() { b.depth-- }()
		return b.spendMembers(n, v)
	case []any:
		b.depth++
		defer func() { b.depth-- }()
		return b.spendItems(n, v)
	}
	return true
}

func (b *budget) spendText(n *node, text string) bool {
	b.left -= len(text) / bytesPerUnit
	if n.schema.Format != nil {
		b.left -= len(text) / bytesPerFormat
	}
	return b.match(n.patternSize, text)
}

func (b *budget) match(size int, text string) bool {
	b.left -= size * len(text) / stepsPerUnit
	return b.left >= 0
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
	b.left -= n.demands + len(obj)/fieldsPerUnit + len(obj)*len(n.patterns)
	if n.remembers {
		b.left -= len(obj)
	}
	if b.left < 0 {
		return false
	}
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
	if n.remembers {
		b.left -= len(arr)
	}
	if n.schema.UniqueItems {
		b.left -= weigh(arr)
		if len(arr) <= maxPairwise {
			b.left -= weigh(arr) * len(arr) / unitsPerNumber
		}
	}
	if b.left < 0 {
		return false
	}
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

// weigh says what it costs to compare v with its like, in evaluations.
func weigh(v any) int {
	weight := 1
	switch v := v.(type) {
	case json.Number:
		weight = unitsPerNumber
		if isFar(v) {
			weight += unitsPerFar
		}
	case []any:
		for _, inner := range v {
			weight += weigh(inner)
		}
	case map[string]any:
		for _, inner := range v {
			weight += weigh(inner)
		}
	}
	return weight
}

// isFar reports whether n may be so large or so exact that arithmetic on it is slow.
func isFar(n json.Number) bool {
	digits, exponent, _ := strings.Cut(strings.ToLower(n.String()), "e")
	e, _ := strconv.Atoi(exponent)
	return len(digits) > maxPlain || e > maxPlain || e < -maxPlain
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
	sealed   bool // all are compiled: what comes now is an input that is to be a pattern
}

func (p *patterns) compile(expr string) (jsonschema.Regexp, error) {
	if p.sealed {
		_, err := syntax.Parse(expr, syntax.Perl)
		return nil, err
	}
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
