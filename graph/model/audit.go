package model

import (
	"bankgraph/core/audit"
)

type (
	AuditEntryConnection = Connection[audit.Entry]
	AuditEntryEdge       = Edge[audit.Entry]
)
