package model

import "bankgraph/core/banks"

type (
	BankConnection = Connection[banks.Bank]
	BankEdge       = Edge[banks.Bank]
)

// BankBy names one bank; exactly one field is set.
type BankBy struct {
	RoutingNumber *string
	BIC           *string
	IBAN          *string
	NationalID    *banks.NationalID
}
