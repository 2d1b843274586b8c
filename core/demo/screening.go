package demo

import (
	"context"
	"slices"

	"bankgraph/core/screening"
	"bankgraph/db"
)

// Listed are the names of the demo bank's list: nobody has them. A payment to one, or from one, waits for
// compliance.
var Listed = []string{"Viktor Drazenko", "Northgate Shadow Trading", "Selma Quillfeather"}

// copyList writes the list of names that payments are compared with.
func (b *bank) copyList(ctx context.Context, load *db.Load) error {
	list := &screening.List{
		Tenant: b.tenant, Code: "demo", Version: 1, Names: int64(len(Listed)), File: "demo.csv", Operator: "demo",
		ImportedAt: b.start,
	}
	var names []*screening.Name
	for i, name := range Listed {
		names = append(names, &screening.Name{
			Tenant: b.tenant, List: list.Code, Line: int64(i + 2), Name: name, Program: "DEMO",
			Reference: "D-" + name[:1],
		})
	}
	if err := copyEach(ctx, load, slices.Values([]*screening.List{list})); err != nil {
		return err
	}
	return copyEach(ctx, load, slices.Values(names))
}
