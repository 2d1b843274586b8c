package rest

import (
	"net/http"

	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/signatories"
)

// signatoriesV1 is the only dialect that distinguishes a foreign customer of the same bank from an absent
// one.
var signatoriesV1 = dialect{
	success: bare, failure: failureC4or6, lines: table("SIG_VALIDATION_ERROR", notAuthorized,
		because(signatories.ErrPartner, "SIG_PARTNERID_REQUIRED"),
		because(customers.ErrNotFound, "SIG_CUSTOMER_NOTFOUND"),
		because(customers.ErrOutOfScope, "SIG_CUSTOMERACCESS_DENIED"),
		because(signatories.ErrNotFound, "SIG_SIGNATORYNOTFOUND"),
		wrong("fullName", fault.Required, "SIG_FULLNAME_REQUIRED"),
		because(signatories.ErrTaken, "SIG_EMAIL_CONFLICT"),
		wrong("emailAddress", fault.Required, "SIG_EMAIL_REQUIRED"),
		wrong("emailAddress", fault.Malformed, "SIG_EMAIL_INVALID"),
		wrong("phoneNumber", fault.Required, "SIG_PHONE_REQUIRED"),
		wrong("phoneNumber", fault.Malformed, "SIG_PHONE_INVALID"),
		wrong("approvalLimit", fault.Min, "SIG_APPROVALLIMIT_MIN"),
		wrong("approvalLimit", "", "SIG_APPROVALLIMIT_INVALID")),
}

// listSignatories counts pages from zero and answers no page object (rest/CONTRACT.md, PG3).
func (a *api) listSignatories(r *http.Request) (answer, error) {
	q := read(r)
	customer := inPath(q, "customerId", customers.ParseUID)
	sheet := q.page(signatoryPages)
	if q.err != nil {
		return answer{}, q.err
	}
	found, err := a.core.Signatories.Of(r.Context(), customer, sheet.window())
	return one(signatoriesOf(found.Items)), err
}

func (a *api) addSignatory(r *http.Request) (answer, error) {
	q := readBody(r)
	customer, draft, options := inPath(q, "customerId", customers.ParseUID), signatoryDraft(q.fields()),
		q.options()
	if q.err != nil {
		return answer{}, q.err
	}
	out, err := a.core.Signatories.Add(r.Context(), customer, draft, options)
	return done(http.StatusCreated, out.Receipt,
		signatorySaved{out.Result.UID, out.Result.Status, says(out.Receipt, "Signatory created")}), err
}

// changeSignatory merges: fields that the body does not give stay as they are.
func (a *api) changeSignatory(r *http.Request) (answer, error) {
	q := readBody(r)
	customer, uid := inPath(q, "customerId", customers.ParseUID), inPath(q, "signatoryId", signatories.ParseUID)
	draft, options := signatoryDraft(q.fields()), q.options()
	if q.err != nil {
		return answer{}, q.err
	}
	out, err := a.core.Signatories.Change(r.Context(), customer, uid, draft, options)
	return done(http.StatusOK, out.Receipt,
		signatorySaved{out.Result.UID, out.Result.Status, says(out.Receipt, "Signatory updated")}), err
}

func (a *api) removeSignatory(r *http.Request) (answer, error) {
	q := read(r)
	customer, uid := inPath(q, "customerId", customers.ParseUID), inPath(q, "signatoryId", signatories.ParseUID)
	options := q.options()
	if q.err != nil {
		return answer{}, q.err
	}
	out, err := a.core.Signatories.Remove(r.Context(), customer, uid, options)
	return done(http.StatusOK, out.Receipt, signatoryRemoved{
		says(out.Receipt, "Signatory deleted"),
		out.Result.Status,
	}), err
}
