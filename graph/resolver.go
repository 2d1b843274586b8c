package graph

import "bankgraph/core"

// Resolver answers the fields of the schema that are not plain fields of core types.
type Resolver struct{ core *core.Core }
