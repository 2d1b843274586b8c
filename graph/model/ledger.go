package model

import "bankgraph/core/ledger"

type (
	BookEntryConnection = Connection[ledger.BookEntry]
	BookEntryEdge       = Edge[ledger.BookEntry]
)

// BookEntryOrder is the order of the entries of a statement.
type BookEntryOrder string

const (
	OldestEntries BookEntryOrder = "OLDEST"
	NewestEntries BookEntryOrder = "NEWEST"
)
