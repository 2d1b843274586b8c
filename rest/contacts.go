package rest

import (
	"net/http"

	"bankgraph/core/changes"
	"bankgraph/core/contacts"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
)

var (
	contactLines = table("CUST001", notAuthorized,
		because(contacts.ErrNotFound, "CUST002"))

	contactsG1 = dialect{success: successC1, failure: failureC1, lines: contactLines}

	contactsV2 = contactsG1
)

func (a *api) searchContactsG1(r *http.Request) (answer, error) {
	return a.searchContacts(r, contactPagesG1, contactG1Of)
}

func (a *api) searchContactsV2(r *http.Request) (answer, error) {
	return a.searchContacts(r, contactPagesV2, contactV2Of)
}

// searchContacts is shared by the two searches, which differ in pages and view.
func (a *api) searchContacts(r *http.Request, n numbering, view func(*contacts.Contact) any) (answer, error) {
	q := read(r)
	customer := inPath(q, "customerUID", customers.ParseUID)
	by := contacts.Search{
		Name:          inQuery(q, "contactName", words),
		AccountNumber: inQuery(q, "accountNumber", contacts.ParseNumber),
	}
	sheet := q.page(n)
	if q.err != nil {
		return answer{}, q.err
	}
	found, err := a.core.Contacts.Of(r.Context(), customer, by, sheet.window())
	return list(found.Items, found.Total, sheet, view), err
}

func (a *api) findContactG1(r *http.Request) (answer, error) {
	return a.findContact(r, "contactUID", contactG1Of)
}

// findContactV2 serves two paths, which name the contact's number differently.
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
	return answer{data: view(contact), mark: changes.Receipt{Version: contact.Version}}, nil
}

func (a *api) addContactG1(r *http.Request) (answer, error) {
	return a.addContact(r, contactDraftG1, contactSavedG1Of)
}

func (a *api) addContactV2(r *http.Request) (answer, error) {
	said, err := a.addContact(r, contactDraftV2, contactSavedOf)
	return said, fault.Called(err, contactWordsV2)
}

func (a *api) addBeneficiary(r *http.Request) (answer, error) {
	said, err := a.addContact(r, contactDraft, contactSavedOf)
	return said, fault.Called(err, contactWordsV2)
}

// addContact is shared by the creations, which differ in the words of body and answer, and in the required
// fields.
func (a *api) addContact(
	r *http.Request, drafted func(fields) contacts.Draft, view func(contacts.Saved) any,
) (answer, error) {
	q := readBody(r)
	customer, draft, options := inPath(q, "customerUID", customers.ParseUID), drafted(q.fields()), q.options()
	if q.err != nil {
		return answer{}, q.err
	}
	out, err := a.core.Contacts.Add(r.Context(), customer, draft, options)
	return done(http.StatusOK, out.Receipt, view(out.Result)), err
}

func (a *api) changeContactG1(r *http.Request) (answer, error) {
	return a.changeContact(r, "contactUID", contactDraftG1, contactSavedG1Of)
}

func (a *api) changeContactV2(r *http.Request) (answer, error) {
	said, err := a.changeContact(r, "contactUID", contactDraftV2, contactSavedOf)
	return said, fault.Called(err, contactWordsV2)
}

func (a *api) changeBeneficiary(r *http.Request) (answer, error) {
	said, err := a.changeContact(r, "contactId", contactDraft, contactSavedOf)
	return said, fault.Called(err, contactWordsV2)
}

// changeContact merges: fields that the body does not give stay as they are.
func (a *api) changeContact(
	r *http.Request, name string, drafted func(fields) contacts.Draft, view func(contacts.Saved) any,
) (answer, error) {
	q := readBody(r)
	customer, uid := inPath(q, "customerUID", customers.ParseUID), inPath(q, name, contacts.ParseUID)
	draft, options := drafted(q.fields()), q.options()
	if q.err != nil {
		return answer{}, q.err
	}
	out, err := a.core.Contacts.Change(r.Context(), customer, uid, draft, options)
	return done(http.StatusOK, out.Receipt, view(out.Result)), err
}
