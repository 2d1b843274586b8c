package main

import (
	"context"
	"errors"
	"fmt"

	"bankgraph/core/ledger"
)

// proofCommand proves the books. It locks nothing, and may run at any time.
type proofCommand struct{}

func (c *proofCommand) Run(ctx context.Context, s *settings, t *terminal) error {
	b, err := open(ctx, s)
	if err != nil {
		return err
	}
	defer b.stop()
	violations, err := ledger.Prove(ctx, b.DB)
	if err != nil {
		return err
	}
	for _, violation := range violations {
		fmt.Fprintln(t.out, violation)
	}
	if len(violations) > 0 {
		return errors.New("the books do not hold")
	}
	fmt.Fprintln(t.out, "the books hold")
	return nil
}
