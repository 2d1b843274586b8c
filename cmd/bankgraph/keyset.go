package main

import (
	"fmt"

	"bankgraph/core/seal"
)

// keysetCommand makes a keyset file. It never writes over another: values sealed under a lost keyset
// cannot be read again.
type keysetCommand struct {
	File string `arg:"" help:"Where to write it; there must be no file yet."`
}

func (c *keysetCommand) Run(t *terminal) error {
	if err := seal.Create(c.File); err != nil {
		return err
	}
	fmt.Fprintf(t.out, "Made %s. Keep a copy of it apart from the database's backups: without it account numbers, tax ids and keys are lost.\n", c.File)
	return nil
}
