package rest

import (
	"net/http"

	"bankgraph/core/customers"
	"bankgraph/core/roles"
)

func (a *api) createRole(r *http.Request) (answer, error) {
	q := readBody(r)
	customer, draft, options := inPath(q, "customerId", customers.ParseUID), roleDraft(q.fields()), q.options()
	if q.err != nil {
		return answer{}, q.err
	}
	out, err := a.core.Roles.Create(r.Context(), customer, draft, options)
	return done(http.StatusCreated, out.Receipt, roleCreated{
		out.Result.UID,
		says(out.Receipt, "Role created"),
	}), err
}

func (a *api) findRole(r *http.Request) (answer, error) {
	q := read(r)
	customer, uid := inPath(q, "customerId", customers.ParseUID), inPath(q, "roleId", roles.ParseUID)
	if q.err != nil {
		return answer{}, q.err
	}
	found, err := a.core.Roles.Find(r.Context(), customer, uid)
	if err != nil {
		return answer{}, err
	}
	return versioned(found.Version, roleOf(found)), nil
}

func (a *api) searchRoles(r *http.Request) (answer, error) {
	q := read(r)
	customer := inPath(q, "customerId", customers.ParseUID)
	by := roles.Search{Name: inQuery(q, "roleName", roles.ParseName)}
	sheet := q.page(peoplePages)
	if q.err != nil {
		return answer{}, q.err
	}
	found, err := a.core.Roles.Page(r.Context(), customer, by, sheet.window())
	return list(found.Items, found.Total, sheet, roleItemOf), err
}
