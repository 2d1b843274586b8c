package main

import (
	"context"
	"encoding/csv"
	"slices"
	"strings"

	"bankgraph/core/access"
	"bankgraph/graph"
	"bankgraph/rest"
)

// permissionsCommand reports who may do what: for every REST operation and every GraphQL field that needs a
// permission, which permissions suffice, and who has one.
type permissionsCommand struct {
	Tenant string `env:"BANKGRAPH_TENANT" placeholder:"CODE" help:"The bank's code; the only one there is, if not set."`
}

// holder is somebody who has permissions.
type holder struct {
	column int // of the report
	name   string
	may    func(access.Permission) bool
}

// The columns of the report.
const (
	columnKeys = iota + 3
	columns
)

func (c *permissionsCommand) Run(ctx context.Context, s *settings, t *terminal) error {
	b, err := open(ctx, s)
	if err != nil {
		return err
	}
	defer b.stop()
	ctx, _, err = b.operator(ctx, c.Tenant)
	if err != nil {
		return err
	}
	holders, err := b.holders(ctx)
	if err != nil {
		return err
	}
	out := csv.NewWriter(t.out)
	if err := out.Write([]string{"face", "operation or field", "one of these permissions", "API keys"}); err != nil {
		return err
	}
	for _, face := range []struct{ name, table string }{{"REST", rest.Permissions}, {"GraphQL", graph.Permissions}} {
		for line := range strings.Lines(face.table) {
			what, permissions, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
			if err := out.Write(reported(face.name, what, permissions, holders)); err != nil {
				return err
			}
		}
	}
	out.Flush()
	return out.Error()
}

// reported is one line of the report.
func reported(face, what, permissions string, holders []holder) []string {
	line := make([]string, columns)
	line[0], line[1], line[2] = face, what, strings.ReplaceAll(permissions, "|", " ")
	for _, h := range holders {
		if slices.ContainsFunc(strings.Split(permissions, "|"), func(p string) bool { return h.may(access.Permission(p)) }) {
			line[h.column] = strings.TrimPrefix(line[h.column]+" "+h.name, " ")
		}
	}
	return line
}

// holders are all who have permissions in the bank.
func (b *bank) holders(ctx context.Context) ([]holder, error) {
	keys, err := b.Clients.List(ctx)
	if err != nil {
		return nil, err
	}
	var all []holder
	for _, key := range keys {
		if key.DisabledAt == nil {
			all = append(all, holder{columnKeys, key.Key, access.Caller{Permissions: key.Permissions}.May})
		}
	}
	return all, nil
}
