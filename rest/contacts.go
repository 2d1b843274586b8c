package rest

import (
	"net/http"

	"bankgraph/core/contacts"
	"bankgraph/core/customers"
)

func (a *api) searchContactsG1(r *http.Request) (answer, error) {
	return a.searchContacts(r, contactPagesG1, contactG1Of)
}

func (a *api) searchContactsV2(r *http.Request) (answer, error) {
	return a.searchContacts(r, contactPagesV2, contactV2Of)
}

// searchContacts is what the two searches share: they differ in pages and view.
func (a *api) searchContacts(r *http.Request, n numbering, view func(*contacts.Contact) any) (answer, error) {
	q := read(r)
	customer := inPath(q, "customerUID", customers.ParseUID)
	by := contacts.Search{Name: inQuery(q, "contactName", text), AccountNumber: inQuery(q, "accountNumber", text)}
	sheet := q.sheet(n)
	if q.err != nil {
		return answer{}, q.err
	}
	found, err := a.core.Contacts.Of(r.Context(), customer, by, sheet.window())
	return list(found.Items, found.Total, sheet, view), err
}

func (a *api) findContactG1(r *http.Request) (answer, error) {
	return a.findContact(r, "contactUID", contactG1Of)
}

// findContactV2 serves two paths that differ in the name of the contact's number.
func (a *api) findContactV2(name string) handler {
	return func(r *http.Request) (answer, error) { return a.findContact(r, name, contactV2Of) }
}

func (a *api) findContact(r *http.Request, name string, view func(*contacts.Contact) any) (answer, error) {
	q := read(r)
	customer := inPath(q, "customerUID", customers.ParseUID)
	uid := inPath(q, name, contacts.ParseUID)
	if q.err != nil {
		return answer{}, q.err
	}
	contact, err := a.core.Contacts.Find(r.Context(), customer, uid)
	if err != nil {
		return answer{}, err
	}
	return one(view(contact)), nil
}
