package classify

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"

	"toolhost/agenttool"
)

// nodeTests has, for every type of node, a command line that holds one and what is known of it.
var nodeTests = []struct {
	node syntax.Node
	text string // "" where bash's dialect never makes one
	want agenttool.Fact
}{
	{&syntax.File{}, "", agenttool.Unknown},     // the parser is asked for statements
	{&syntax.Comment{}, "", agenttool.Unknown},  // comments are not kept
	{&syntax.BraceExp{}, "", agenttool.Unknown}, // made by SplitBraces alone
	{&syntax.FlagsArithm{}, "", agenttool.Unknown},
	{&syntax.TestDecl{}, "", agenttool.Unknown},
	{&syntax.Stmt{}, "echo", agenttool.Yes},
	{&syntax.CallExpr{}, "echo x", agenttool.Yes},
	{&syntax.Assign{}, "x=1", agenttool.Yes},
	{&syntax.Redirect{}, "echo x > f", agenttool.No},
	{&syntax.Subshell{}, "(echo)", agenttool.Yes},
	{&syntax.Block{}, "{ echo; }", agenttool.Yes},
	{&syntax.IfClause{}, "if true; then echo; elif false; then pwd; else echo; fi", agenttool.Yes},
	{&syntax.WhileClause{}, "while false; do echo; done", agenttool.Yes},
	{&syntax.ForClause{}, "for x in a b; do echo $x; done", agenttool.Yes},
	{&syntax.WordIter{}, "for x; do echo; done", agenttool.Yes},
	{&syntax.CStyleLoop{}, "for ((i=0; i<3; i++)); do echo; done", agenttool.Yes},
	{&syntax.BinaryCmd{}, "echo | echo", agenttool.Yes},
	{&syntax.FuncDecl{}, "f1() { echo; }; f1", agenttool.Yes},
	{&syntax.Word{}, "echo x", agenttool.Yes},
	{&syntax.Lit{}, "echo x", agenttool.Yes},
	{&syntax.SglQuoted{}, "echo 'x' $'y'", agenttool.Yes},
	{&syntax.DblQuoted{}, `echo "x"`, agenttool.Yes},
	{&syntax.CmdSubst{}, "echo $(echo)", agenttool.Yes},
	{&syntax.ParamExp{}, "echo $x", agenttool.Yes},
	{&syntax.ArithmExp{}, "echo $((1))", agenttool.Yes},
	{&syntax.ArithmCmd{}, "((1))", agenttool.Yes},
	{&syntax.BinaryArithm{}, "((1+2))", agenttool.Yes},
	{&syntax.UnaryArithm{}, "((-1))", agenttool.Yes},
	{&syntax.ParenArithm{}, "(((1)))", agenttool.Yes},
	{&syntax.CaseClause{}, "case x in y) echo;; esac", agenttool.Yes},
	{&syntax.CaseItem{}, "case x in y) echo;; esac", agenttool.Yes},
	{&syntax.TestClause{}, "[[ x ]]", agenttool.Yes},
	{&syntax.BinaryTest{}, "[[ x == y ]]", agenttool.Yes},
	{&syntax.UnaryTest{}, "[[ -n x ]]", agenttool.Yes},
	{&syntax.ParenTest{}, "[[ ( x ) ]]", agenttool.Yes},
	{&syntax.DeclClause{}, "declare x=1", agenttool.Yes},
	{&syntax.ArrayExpr{}, "x=(1 2)", agenttool.Yes},
	{&syntax.ArrayElem{}, "x=([1]=2)", agenttool.Yes},
	{&syntax.ExtGlob{}, "echo @(a|b)", agenttool.Unknown},
	{&syntax.ProcSubst{}, "echo <(echo)", agenttool.Yes},
	{&syntax.TimeClause{}, "time echo", agenttool.Yes},
	{&syntax.CoprocClause{}, "coproc echo", agenttool.Unknown},
	{&syntax.LetClause{}, "let x=1", agenttool.Yes},
}

func TestEveryKindOfNodeIsHandledOrRefused(t *testing.T) {
	listed := map[string]bool{}
	for _, tt := range nodeTests {
		want := reflect.TypeOf(tt.node)
		listed[want.Elem().Name()] = true
		if tt.text == "" {
			continue
		}
		t.Run(want.Elem().Name(), func(t *testing.T) {
			tree := parse(tt.text)
			if tree.failed {
				t.Fatalf("%q cannot be parsed: %v", tt.text, tree.reason)
			}
			found := false
			for _, s := range tree.stmts {
				syntax.Walk(s, func(n syntax.Node) bool {
					found = found || reflect.TypeOf(n) == want
					return true
				})
			}
			if iter, ok := tt.node.(syntax.Loop); !found && !ok {
				t.Errorf("%q holds no %T %v", tt.text, tt.node, iter)
			}
			if got := Command(tt.text, testContext); got.ReadOnly != tt.want {
				t.Errorf("%q: read_only %v, want %v: %v", tt.text, got.ReadOnly, tt.want, got.Reasons)
			}
		})
	}
	for name := range nodeTypes(t) {
		if !listed[name] {
			t.Errorf("the parser has the node %s, which no row is about", name)
		}
	}
}

// nodeTypes returns the names of the types that have the methods of a node, from the parser's source.
func nodeTypes(t *testing.T) map[string]bool {
	t.Helper()
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "mvdan.cc/sh/v3").Output()
	if err != nil || strings.TrimSpace(string(dir)) == "" {
		t.Skipf("the parser's source is not here: %v", err)
	}
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(strings.TrimSpace(string(dir)), "syntax", "nodes.go"), nil, 0)
	if err != nil {
		t.Skipf("the parser's source cannot be read: %v", err)
	}
	names := map[string]bool{}
	for _, decl := range file.Decls {
		method, ok := decl.(*ast.FuncDecl)
		if !ok || method.Name.Name != "End" || method.Recv == nil {
			continue
		}
		if star, ok := method.Recv.List[0].Type.(*ast.StarExpr); ok {
			names[star.X.(*ast.Ident).Name] = true
		}
	}
	if len(names) < 40 {
		t.Fatalf("only %d types of nodes found", len(names))
	}
	return names
}
