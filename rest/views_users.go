package rest

import (
	"context"

	"bankgraph/core/changes"
	"bankgraph/core/customers"
	"bankgraph/core/given"
	"bankgraph/core/roles"
	"bankgraph/core/users"
)

// userMove changes the status of a user.
type userMove func(context.Context, customers.UID, users.UID,
	changes.RequestOptions) (changes.Outcome[users.Saved], error)

// userDraft reads the body of an update, which has no login id, department or mobile (rest/CONTRACT.md, user
// bodies).
func userDraft(body fields) users.Draft {
	return users.Draft{
		FirstName: body.text("firstName"), LastName: body.text("lastName"), EmailAddress: body.text("email"),
		PhoneNumber: body.text("phoneNumber"), ExternalReferenceID: body.text("externalReferenceId"),
		RoleNames: body.texts("roleNames"), Limits: applicationLimits(body),
	}
}

// newUser reads the body of a create.
func newUser(body fields) users.Draft {
	draft := userDraft(body)
	draft.LoginID, draft.Department, draft.Mobile = body.text("loginId"), body.text("department"),
		body.text("mobile")
	return draft
}

func applicationLimits(body fields) (all given.Value[[]users.LimitsDraft]) {
	items, there := body.each("applicationLimits")
	all.Given = there
	for _, item := range items {
		all.Value = append(all.Value, users.LimitsDraft{Name: item.text("name").Value, Limits: limitDrafts(item)})
	}
	return all
}

// limitDrafts reads the limits of an application.
func limitDrafts(application fields) (all []roles.LimitDraft) {
	items, _ := application.each("limits")
	for _, item := range items {
		all = append(all, roles.LimitDraft{Name: item.text("name").Value, Value: item.number("value").Value})
	}
	return all
}

// userCreated is the answer to a create, userChanged to an update.
type (
	userCreated struct {
		UserID  users.UID `json:"userId"`
		Message string    `json:"message"`
	}
	userChanged struct {
		UserID users.UID `json:"userId"`
	}
)

// userItem is a user in a search. The published item has no userId, without which a found user could not be
// used (rest/CONTRACT.md, user answers).
type userItem struct {
	UserID      users.UID    `json:"userId"`
	LoginID     string       `json:"loginId"`
	FirstName   string       `json:"firstName"`
	LastName    string       `json:"lastName"`
	Email       string       `json:"email"`
	PhoneNumber string       `json:"phoneNumber"`
	Status      users.Status `json:"status"`
	ShortName   string       `json:"shortName"` // of the legal entity
}

func userItemOf(u *users.Shown) userItem {
	return userItem{
		UserID: u.UID, LoginID: u.LoginID, FirstName: u.FirstName, LastName: u.LastName, Email: u.EmailAddress,
		PhoneNumber: u.PhoneNumber, Status: u.Status, ShortName: u.ShortName,
	}
}

// user is one user in full. Its limits are its own, of all applications in one list (rest/CONTRACT.md, user
// answers).
type user struct {
	userItem
	RoleNames []string `json:"roleNames"`
	Limits    []bound  `json:"limits"`
}

func userOf(u *users.Shown) user {
	view := user{userItem: userItemOf(u), RoleNames: append([]string{}, u.RoleNames...), Limits: []bound{}}
	for _, a := range u.Limits {
		view.Limits = append(view.Limits, each(a.Limits, boundOf)...)
	}
	return view
}
