package rest

import (
	"errors"
	"net/http"

	"bankgraph/core/accounts"
	"bankgraph/core/changes"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
)

func (a *api) openAccountG1(r *http.Request) (answer, error) {
	return a.openAccount(r, openingG1, savedG1)
}

func (a *api) openAccountV2(r *http.Request) (answer, error) {
	return a.openAccount(r, openingV2, savedV2)
}

func (a *api) openAccountV3(r *http.Request) (answer, error) {
	return a.openAccount(r, draftV3, openedV3)
}

func (a *api) changeAccountG1(r *http.Request) (answer, error) {
	return a.changeAccount(r, draftG1, savedG1)
}

func (a *api) changeAccountV2(r *http.Request) (answer, error) {
	return a.changeAccount(r, draftV2, savedV2)
}

func (a *api) changeAccountV3(r *http.Request) (answer, error) {
	return a.changeAccount(r, draftV3, changedV3)
}

// openAccount uses the body's reason twice: as the account's note and as the reason in the record.
func (a *api) openAccount(
	r *http.Request, draft func(fields) accounts.Draft, view savedAccount,
) (answer, error) {
	q := readBody(r)
	customer, opening, options := inPath(q, "customerUID", customers.ParseUID), draft(q.fields()), q.options()
	if q.err != nil {
		return answer{}, q.err
	}
	options.Reason = opening.Note.Value
	out, err := a.core.Accounts.Open(r.Context(), customer, opening, options)
	return view(out), err
}

// changeAccount merges: fields that the body does not give stay as they are.
func (a *api) changeAccount(
	r *http.Request, draft func(fields) accounts.Draft, view savedAccount,
) (answer, error) {
	q := readBody(r)
	customer, uid := inPath(q, "customerUID", customers.ParseUID), inPath(q, "accountUID", accounts.ParseUID)
	change, options := draft(q.fields()), q.options()
	if q.err != nil {
		return answer{}, q.err
	}
	options.Reason = change.Note.Value
	out, err := a.core.Accounts.Change(r.Context(), customer, uid, change, options)
	return view(out), err
}

func (a *api) deleteAccountG1(r *http.Request) (answer, error) { return a.deleteAccount(r, savedG1) }

func (a *api) deleteAccountV2(r *http.Request) (answer, error) { return a.deleteAccount(r, savedV2) }

func (a *api) deleteAccount(r *http.Request, view savedAccount) (answer, error) {
	q := read(r)
	customer, uid := inPath(q, "customerUID", customers.ParseUID), inPath(q, "accountUID", accounts.ParseUID)
	options := q.options()
	if q.err != nil {
		return answer{}, q.err
	}
	out, err := a.core.Accounts.Delete(r.Context(), customer, uid, options)
	return view(out), err
}

func (a *api) actOnAccountV2(r *http.Request) (answer, error) {
	q := readBody(r)
	customer, uid := inPath(q, "customerUID", customers.ParseUID), inPath(q, "accountUID", accounts.ParseUID)
	body, options := q.fields(), q.options()
	action := body.required("action", fields.text)
	options.Reason = body.required("reason", fields.text)
	act := parsed(q, "action", action, accounts.ParseAction)
	if q.err != nil {
		return answer{}, q.err
	}
	out, err := a.core.Accounts.Act(r.Context(), customer, uid, act, options)
	return done(http.StatusOK, out.Receipt, codeAndMessage{"SUCCESS", says(out.Receipt, actedOn[act])}), err
}

var actedOn = map[accounts.Action]string{
	accounts.Activate: "Account activated", accounts.Close: "Account closed",
}

// savedAccount makes a generation's answer to a change of an account.
type savedAccount func(changes.Outcome[accounts.Saved]) answer

func (a *api) findSweep(r *http.Request) (answer, error) {
	q := read(r)
	customer, name := sweepInPath(q)
	if q.err != nil {
		return answer{}, q.err
	}
	found, err := a.core.Accounts.FindSweep(r.Context(), customer, name)
	if errors.Is(err, accounts.ErrNoSweep) {
		return answer{}, nil // 204: the account has no such sweep
	}
	if err != nil {
		return answer{}, err
	}
	return answer{data: sweepOf(found), mark: changes.Receipt{Version: found.Version}}, nil
}

func (a *api) setSweep(r *http.Request) (answer, error) {
	q := readBody(r)
	customer, name := sweepInPath(q)
	draft, options := sweepDraft(q.fields()), q.options()
	if q.err != nil {
		return answer{}, q.err
	}
	out, err := a.core.Accounts.SetSweep(r.Context(), customer, name, draft, options)
	return done(http.StatusCreated, out.Receipt, codeAndMessage{
		"SUCCESS",
		says(out.Receipt, "Sweep created"),
	}), err
}

func (a *api) changeSweep(r *http.Request) (answer, error) {
	q := readBody(r)
	customer, name := sweepInPath(q)
	draft, options := sweepDraft(q.fields()), q.options()
	if q.err != nil {
		return answer{}, q.err
	}
	out, err := a.core.Accounts.ChangeSweep(r.Context(), customer, name, draft, options)
	return done(http.StatusOK, out.Receipt, codeAndMessage{"SUCCESS", says(out.Receipt, "Sweep updated")}), err
}

func (a *api) removeSweep(r *http.Request) (answer, error) {
	q := read(r)
	customer, name := sweepInPath(q)
	options := q.options()
	if q.err != nil {
		return answer{}, q.err
	}
	out, err := a.core.Accounts.RemoveSweep(r.Context(), customer, name, options)
	return done(http.StatusNoContent, out.Receipt, nil), err
}

func sweepInPath(q *reader) (customers.UID, accounts.SweepName) {
	return inPath(q, "customerUID", notZero(customers.ParseUID)), accounts.SweepName{
		Account:   inPath(q, "accountUID", notZero(accounts.ParseUID)),
		Direction: inPath(q, "direction", accounts.ParseDirection),
	}
}

// notZero refuses numbers of zeros only, which belong to nobody.
func notZero[T ~int32 | ~int64](parse parser[T]) parser[T] {
	return func(field, text string) (T, error) {
		n, err := parse(field, text)
		if err == nil && n == 0 {
			err = fault.Field("request", field, fault.AllZero, "must not be all zeros")
		}
		return n, err
	}
}
