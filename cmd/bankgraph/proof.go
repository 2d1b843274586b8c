package main

import (
	"context"
	"errors"
	"fmt"
)

// proofCommand proves the books. It takes no locks and may run at any time.
type proofCommand struct {
	Tenant string `env:"BANKGRAPH_TENANT" placeholder:"CODE" help:"Code of the bank whose books are looked at; every bank if not set."`
}

func (c *proofCommand) Run(ctx context.Context, s *settings, t *terminal) error {
	b, err := open(ctx, s)
	if err != nil {
		return err
	}
	defer b.stop()
	banks, err := c.banks(ctx, b)
	if err != nil {
		return err
	}
	holds := true
	for _, bank := range banks {
		of, _, err := b.operator(ctx, bank)
		if err != nil {
			return err
		}
		violations, err := b.Ledger.Prove(of)
		if err != nil {
			return err
		}
		for _, violation := range violations {
			holds = false
			fmt.Fprintln(t.out, violation)
		}
	}
	if !holds {
		return errors.New("the books do not hold")
	}
	fmt.Fprintln(t.out, "the books hold")
	return nil
}

// banks are the codes of the banks to prove.
func (c *proofCommand) banks(ctx context.Context, b *bank) (codes []string, err error) {
	if c.Tenant != "" {
		return []string{c.Tenant}, nil
	}
	all, err := b.Tenants.List(b.anywhere(ctx))
	for _, bank := range all {
		codes = append(codes, bank.Code)
	}
	return codes, err
}
