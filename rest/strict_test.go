package rest_test

import (
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"bankgraph/rest"
)

// Strict readers refuse a key that is given twice in one object, and an anchor that is defined twice, since
// the meaning of an alias would depend on its position.
func TestTheDocumentIsStrictYAML(t *testing.T) {
	t.Parallel()
	for _, wrong := range strictly(rest.Spec) {
		t.Error(wrong)
	}
	for _, text := range []string{"a: 1\na: 2\n", "a: &x 1\nb: &x 2\nc: *x\n", "a: *nowhere\n", "a: [1\n"} {
		if len(strictly([]byte(text))) == 0 {
			t.Errorf("nothing is wrong with %q", text)
		}
	}
}

type anchors struct {
	seen  map[string]bool
	wrong []string
}

func (a *anchors) Visit(node ast.Node) ast.Visitor {
	if anchor, ok := node.(*ast.AnchorNode); ok {
		name := anchor.Name.String()
		if a.seen[name] {
			a.wrong = append(a.wrong, "the anchor "+name+" is defined twice")
		}
		a.seen[name] = true
	}
	return a
}

// strictly returns what is wrong with a YAML text.
func strictly(text []byte) []string {
	file, err := parser.ParseBytes(text, 0)
	if err != nil {
		return []string{err.Error()}
	}
	found := &anchors{seen: map[string]bool{}}
	for _, doc := range file.Docs {
		ast.Walk(found, doc.Body)
	}
	var value any
	if err := yaml.UnmarshalWithOptions(text, &value, yaml.Strict()); err != nil {
		found.wrong = append(found.wrong, err.Error())
	}
	return found.wrong
}
