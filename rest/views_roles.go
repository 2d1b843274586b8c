package rest

import (
	"bankgraph/core/access"
	"bankgraph/core/customers"
	"bankgraph/core/money"
	"bankgraph/core/roles"
)

// roleDraft reads the body of a create (rest/CONTRACT.md, role bodies).
func roleDraft(body fields) roles.Draft {
	draft := roles.Draft{
		Name: body.text("name"), Description: body.text("description"),
		ExternalReferenceID: body.text("externalReferenceId"),
	}
	items, there := body.each("applications")
	draft.Applications.Given = there
	for _, item := range items {
		draft.Applications.Value = append(draft.Applications.Value, roles.GrantDraft{
			Name: item.text("name").Value, Entitlements: item.texts("entitlements").Value, Limits: limitDrafts(item),
		})
	}
	return draft
}

// roleCreated is the answer to a create.
type roleCreated struct {
	RoleID  roles.UID `json:"roleId"`
	Message string    `json:"message"`
}

// roleItem is a role in a search.
type roleItem struct {
	ID          roles.UID     `json:"id"`
	Name        string        `json:"name"`
	Description string        `json:"description"`
	LEID        customers.UID `json:"leId"`
	Status      roles.Status  `json:"status"`
	Type        roles.Type    `json:"type"`
	Owner       roles.Owner   `json:"owner"`
}

func roleItemOf(r *roles.Role) roleItem {
	return roleItem{
		ID: r.UID, Name: r.Name, Description: r.Description, LEID: r.Customer, Status: r.Status, Type: r.Type,
		Owner: r.Owner,
	}
}

// role is one role in full. Its applications are published as one object, although a create takes a list; the
// answer has a list (rest/CONTRACT.md, role answers).
type role struct {
	roleItem
	Applications []roleApplication `json:"applications"`
}

type roleApplication struct {
	Name         string   `json:"name"`
	Entitlements []string `json:"entitlements"`
	Limits       []bound  `json:"limits"`
}

// bound is a limit of a user or a role.
type bound struct {
	Name  string       `json:"name"`
	Value money.Amount `json:"value"`
}

func boundOf(l access.Limit) bound { return bound{l.Name, l.Value()} }

func roleOf(r *roles.Role) role {
	return role{roleItemOf(r), each(r.Applications, func(g roles.Grant) roleApplication {
		return roleApplication{g.Name, g.Entitlements, each(g.Limits, boundOf)}
	})}
}
