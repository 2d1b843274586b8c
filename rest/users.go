package rest

import (
	"net/http"

	"bankgraph/core/customers"
	"bankgraph/core/roles"
	"bankgraph/core/users"
)

// peopleV1 answers failures as only a message. For a customer outside the token's legal entity it answers
// 403, whether the customer exists or not; for a user or role that is not the customer's it answers 404
// (rest/CONTRACT.md, absent and foreign things).
var peopleV1 = dialect{success: successPG2, failure: failureC3, lines: table("", notAuthorized,
	line{is: customers.ErrNotFound, status: http.StatusForbidden, as: customers.ErrOutOfScope},
	line{is: customers.ErrOutOfScope, status: http.StatusForbidden},
	line{is: users.ErrNotFound, status: http.StatusNotFound},
	line{is: roles.ErrNotFound, status: http.StatusNotFound})}

func (a *api) createUser(r *http.Request) (answer, error) {
	q := readBody(r)
	customer, draft, options := inPath(q, "customerId", customers.ParseUID), newUser(q.fields()), q.options()
	if q.err != nil {
		return answer{}, q.err
	}
	out, err := a.core.Users.Create(r.Context(), customer, draft, options)
	return done(http.StatusCreated, out.Receipt, userCreated{
		out.Result.UID,
		says(out.Receipt, "User created"),
	}), err
}

func (a *api) findUser(r *http.Request) (answer, error) {
	q := read(r)
	customer, uid := inPath(q, "customerId", customers.ParseUID), inPath(q, "userId", users.ParseUID)
	if q.err != nil {
		return answer{}, q.err
	}
	found, err := a.core.Users.Find(r.Context(), customer, uid)
	if err != nil {
		return answer{}, err
	}
	return versioned(found.Version, userOf(found)), nil
}

// changeUser merges: fields that the body does not give stay as they are.
func (a *api) changeUser(r *http.Request) (answer, error) {
	q := readBody(r)
	customer, uid := inPath(q, "customerId", customers.ParseUID), inPath(q, "userId", users.ParseUID)
	draft, options := userDraft(q.fields()), q.options()
	if q.err != nil {
		return answer{}, q.err
	}
	out, err := a.core.Users.Change(r.Context(), customer, uid, draft, options)
	return done(http.StatusOK, out.Receipt, userChanged{out.Result.UID}), err
}

func (a *api) suspendUser(r *http.Request) (answer, error) {
	return a.moveUser(r, a.core.Users.Suspend)
}

func (a *api) activateUser(r *http.Request) (answer, error) {
	return a.moveUser(r, a.core.Users.Activate)
}

func (a *api) moveUser(r *http.Request, move userMove) (answer, error) {
	q := read(r)
	customer, uid := inPath(q, "customerId", customers.ParseUID), inPath(q, "userId", users.ParseUID)
	options := q.options()
	if q.err != nil {
		return answer{}, q.err
	}
	out, err := move(r.Context(), customer, uid, options)
	return done(http.StatusNoContent, out.Receipt, nil), err
}

// withOK answers 200 without a body instead of the operation's 204.
func withOK(h handler) handler {
	return func(r *http.Request) (answer, error) {
		said, err := h(r)
		said.status = http.StatusOK
		return said, err
	}
}

func (a *api) searchUsers(r *http.Request) (answer, error) {
	q := readBody(r)
	customer := inPath(q, "customerId", customers.ParseUID)
	by := users.Search{
		LoginID: inBody(q, "loginId", words), FirstName: inBody(q, "firstName", words),
		LastName: inBody(q, "lastName", words), EmailAddress: inBody(q, "email", words),
		PhoneNumber: inBody(q, "phoneNumber", words), ShortName: inBody(q, "shortName", words),
		Status: inBody(q, "status", users.ParseStatus),
	}
	sheet := q.page(peoplePages)
	if q.err != nil {
		return answer{}, q.err
	}
	found, err := a.core.Users.Page(r.Context(), customer, by, sheet.window())
	return list(found.Items, found.Total, sheet, userItemOf), err
}
