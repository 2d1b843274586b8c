package rest

import "bankgraph/core/signatories"

// signatoryDraft reads the body of a create and of a partial update (rest/CONTRACT.md, signatory bodies).
func signatoryDraft(body fields) signatories.Draft {
	return signatories.Draft{
		FullName: body.text("fullName"), EmailAddress: body.text("emailAddress"), Title: body.text("title"),
		PhoneNumber: body.text("phoneNumber"), ApprovalLimit: body.number("approvalLimit"),
	}
}

// signatorySaved answers a create and an update.
type signatorySaved struct {
	ID      signatories.UID    `json:"id"`
	Status  signatories.Status `json:"status"`
	Message string             `json:"message"`
}

// signatoryRemoved answers a delete.
type signatoryRemoved struct {
	Message string             `json:"message"`
	Status  signatories.Status `json:"status"`
}

// signatoryList is the answer of the list: it has no envelope, and its own message if it is empty.
type signatoryList struct {
	Signatories []signatory `json:"signatories"`
	Message     string      `json:"message"`
}

// signatory is an item of the list. Its approval limit is text, but a number in requests (rest/CONTRACT.md,
// signatory bodies).
type signatory struct {
	ID            signatories.UID    `json:"id"`
	FullName      string             `json:"fullName"`
	EmailAddress  string             `json:"emailAddress"`
	Title         string             `json:"title"`
	PhoneNumber   string             `json:"phoneNumber"`
	ApprovalLimit string             `json:"approvalLimit"` // "": none was set
	Status        signatories.Status `json:"status"`
}

func signatoriesOf(found []*signatories.Signatory) signatoryList {
	message := "Signatories retrieved"
	if len(found) == 0 {
		message = "No signatories found"
	}
	return signatoryList{Signatories: each(found, signatoryOf), Message: message}
}

func signatoryOf(g *signatories.Signatory) signatory {
	view := signatory{
		ID: g.UID, FullName: g.FullName, EmailAddress: g.EmailAddress, Title: g.Title, PhoneNumber: g.PhoneNumber,
		Status: g.Status,
	}
	if limit := g.ApprovalLimit(); limit != nil {
		view.ApprovalLimit = limit.String()
	}
	return view
}
