package iso20022

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
)

// What Read takes at most of a message.
const (
	MostBytes    = 1 << 20
	mostElements = 5000
	mostDepth    = 24
	longestName  = 64
	longestText  = 2048
)

// node is an element with its namespace. Only leaves have text.
type node struct {
	name, space string
	currency    string // the attribute Ccy
	text        string
	kids        []*node

	next  int      // the first kid after those that were found
	found []*node  // kids that were read
	asked []string // names that were looked for
}

// parse reads a document into a tree.
func parse(r io.Reader) (*node, error) {
	limited := &io.LimitedReader{R: r, N: MostBytes + 1}
	decoder := xml.NewDecoder(limited)
	p := parser{}
	for {
		token, err := decoder.Token()
		switch {
		case limited.N <= 0:
			return nil, fmt.Errorf("%w: it has more than %d bytes", ErrMalformed, MostBytes)
		case errors.Is(err, io.EOF) && p.root != nil && len(p.open) == 0:
			return p.root, nil
		case errors.Is(err, io.EOF):
			return nil, fmt.Errorf("%w: it ends too early", ErrMalformed)
		case err != nil:
			return nil, p.unreadable(err, decoder)
		}
		if err := p.take(token); err != nil {
			line, _ := decoder.InputPos()
			return nil, fmt.Errorf("%w: line %d: %w", ErrMalformed, line, err)
		}
	}
}

// unreadable tells errors of XML, whose texts may quote the message, from those of the connection.
func (p *parser) unreadable(err error, decoder *xml.Decoder) error {
	if syntax := (*xml.SyntaxError)(nil); errors.As(err, &syntax) {
		return fmt.Errorf("%w: line %d: no well-formed XML", ErrMalformed, syntax.Line)
	}
	if p.root == nil && decoder.InputOffset() > 0 && strings.HasPrefix(err.Error(), "xml: encoding") {
		return fmt.Errorf("%w: its encoding must be UTF-8", ErrMalformed)
	}
	return err
}

type parser struct {
	root     *node
	open     []*node
	elements int
	declared bool
}

func (p *parser) take(token xml.Token) error {
	switch t := token.(type) {
	case xml.StartElement:
		return p.start(t)
	case xml.EndElement:
		p.open = p.open[:len(p.open)-1]
	case xml.CharData:
		return p.characters(string(t))
	case xml.ProcInst:
		if t.Target != "xml" || p.declared || p.root != nil {
			return errors.New("processing instructions are not taken")
		}
		p.declared = true
	default:
		return errors.New("document types, entities and comments are not taken")
	}
	return nil
}

func (p *parser) characters(text string) error {
	blank := strings.TrimSpace(text) == ""
	if len(p.open) == 0 {
		if !blank {
			return errors.New("text outside of all elements")
		}
		return nil
	}
	n := p.open[len(p.open)-1]
	if len(n.kids) > 0 {
		if !blank {
			return errors.New("text between elements")
		}
		return nil
	}
	if n.text += text; len(n.text) > longestText {
		return errors.New("a text that is too long")
	}
	return nil
}

func (p *parser) start(t xml.StartElement) error {
	n := &node{name: t.Name.Local, space: t.Name.Space}
	for _, a := range t.Attr {
		switch {
		case a.Name.Space == "xmlns" || a.Name.Space == "" && a.Name.Local == "xmlns":
		case a.Name.Space == "http://www.w3.org/2001/XMLSchema-instance" && a.Name.Local == "schemaLocation":
		case a.Name.Space == "" && a.Name.Local == "Ccy" && n.currency == "":
			n.currency = a.Value
		default:
			return errors.New("an attribute that is not taken")
		}
	}
	if p.elements++; p.elements > mostElements {
		return errors.New("too many elements")
	}
	if len(p.open) >= mostDepth {
		return errors.New("elements within too many others")
	}
	if len(n.name) > longestName {
		return errors.New("a name that is too long")
	}
	if len(p.open) == 0 {
		if p.root != nil {
			return errors.New("a second root")
		}
		p.root = n
	} else {
		parent := p.open[len(p.open)-1]
		if strings.TrimSpace(parent.text) != "" {
			return errors.New("text between elements")
		}
		parent.text, parent.kids = "", append(parent.kids, n)
	}
	p.open = append(p.open, n)
	return nil
}
