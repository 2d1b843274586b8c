package iso20022

import (
	"errors"
	"fmt"
	"strings"
)

// Errors of texts that are no messages of this package.
var (
	ErrMalformed = errors.New("malformed message")
	ErrUnknown   = errors.New("unknown type of message")
)

const namespace = "urn:iso:std:iso:20022:tech:xsd:"

// typed returns an empty message of the type that a document says it is, as a network names it.
func typed(document *node, p *Profile) (Message, error) {
	name, is := strings.CutPrefix(document.space, namespace)
	if document.name != "Document" || !is {
		return nil, fmt.Errorf("%w: AppHdr must be followed by a Document of ISO 20022", ErrMalformed)
	}
	for own, theirs := range p.types {
		if name == theirs {
			name = own
			break
		}
	}
	if m, known := empty[name]; known {
		return m(), nil
	}
	if !definition.form.MatchString(name) {
		name = "its name has not the form of one" // and may be anything
	}
	return nil, fmt.Errorf("%w: %s", ErrUnknown, name)
}

// header is the business application header, head.001.
func header(c *codec) {
	g, of := c.message.Head(), c.profile.typeOf(c.message)
	c.in("Fr", func() { c.participant(&g.From) })
	c.in("To", func() { c.participant(&g.To) })
	c.text("BizMsgIdr", &g.ID, id35)
	c.fixed("MsgDefIdr", of)
	if c.profile.service != "" {
		c.oneOf("BizSvc", c.profile.service, "TEST")
	}
	if c.profile.practice != "" {
		c.in("MktPrctc", func() {
			c.fixed("Regy", c.profile.registry)
			c.fixed("Id", c.profile.practice)
		})
	}
	created := g.CreatedAt.UTC() // while reading, the time in the message itself counts
	c.instant("CreDt", &created)
	if g.Duplicate || c.reading() {
		c.flag("PssblDplct", &g.Duplicate)
	}
}

func (c *codec) participant(number *string) {
	c.in("FIId", func() {
		c.in("FinInstnId", func() {
			if c.profile.swift {
				c.text("BICFI", number, bic)
				return
			}
			c.in("ClrSysMmbId", func() { c.text("MmbId", number, member) })
		})
	})
}
