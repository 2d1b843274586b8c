package rest

import "bankgraph/core/fees"

// feeDraft reads the body of a create and of an update (rest/CONTRACT.md, fee tiers).
func feeDraft(body fields) fees.Draft {
	return fees.Draft{
		Application: body.text("application"), AccountNumber: body.text("accountNumber"),
		FeeTier: body.text("feeTier"), FeeName: body.text("feeName"), Product: body.text("product"),
	}
}

// feeSaved is the answer of both (envelope C2).
type feeSaved struct {
	ID fees.ID `json:"id"`
}
