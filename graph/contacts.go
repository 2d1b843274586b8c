package graph

import (
	"context"

	"bankgraph/core"
	"bankgraph/core/contacts"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/graph/model"
	"bankgraph/graph/scalar"
)

var contactKind = numbered("Contact", kind[contacts.UID, contacts.Contact]{
	prefix: scalar.ContactPrefix,
	find:   func(c *core.Core) finder[contacts.UID, contacts.Contact] { return c.Contacts.FindMany },
	key:    func(k *contacts.Contact) contacts.UID { return k.UID },
	columns: columns{
		"intermediaryBank": {"Intermediary"}, "bank.entry": {"Bank.Country", "Bank.NationalCode", "Bank.SWIFTCode"},
	},
})

func init() {
	hasCustomer(contactKind, "customer", func(k *contacts.Contact) *customers.UID { return &k.Customer })
	hasMany(customerKind, "contacts", contactKind, pages(
		func(c *core.Core) *contacts.Service { return c.Contacts },
		(*contacts.Service).OfCustomers, capped((*contacts.Service).CountOfCustomers),
	))
	prices["ContactConnection.totalCount"], prices["ContactConnection.totalCountIsExact"] = countOne, countOne
	subjects["contact"] = subject{
		codes: codes{fault.NotFound: "CUST002"},
		fields: map[string]string{
			"address.addressLine1": "address.line1", "address.addressLine2": "address.line2",
			"contactBank": "bank", "contactBank.accountNo": "bank.accountNumber",
			"contactBank.accountCcy":                "bank.accountCurrency",
			"contactBank.address.addressLine1":      "bank.address.line1",
			"contactBank.address.addressLine2":      "bank.address.line2",
			"intermediaryBank.address.addressLine1": "intermediaryBank.address.line1",
			"intermediaryBank.address.addressLine2": "intermediaryBank.address.line2",
			"intermediaryBank.address.addressLine3": "intermediaryBank.addressLine3",
			"otherInfo.beneficiaryNotes":            "beneficiaryNotes",
			"otherInfo.otherBeneBankInfo":           "otherBankInfo",
			"regulartoryReporting":                  "regulatoryReporting",
		},
	}
	subjects["noticeOfChange"] = subject{codes: codes{fault.NotFound: "PAYMENT001", fault.State: "PAYMENT001"}}
}

func (m mutations) AddContact(ctx context.Context, in model.ContactDraft) (*model.ContactPayload, error) {
	done, err := m.core.Contacts.Add(ctx, in.Customer, in.Draft, in.RequestOptions)
	return contactKind.payload(ctx, done.Result.UID, done.Receipt, err)
}

func (m mutations) ChangeContact(ctx context.Context, in model.ContactDraft) (*model.ContactPayload, error) {
	done, err := m.core.Contacts.Change(ctx, in.Customer, in.UID, in.Draft, in.RequestOptions)
	return contactKind.payload(ctx, done.Result.UID, done.Receipt, err)
}

func (m mutations) ApplyNoticeOfChange(
	ctx context.Context, in model.NoticeDraft,
) (*model.ContactPayload, error) {
	done, err := m.core.Contacts.ApplyNotice(ctx, contacts.Notice{Payment: int64(in.Payment), Code: in.Code},
		in.RequestOptions)
	return contactKind.payload(ctx, done.Result.UID, done.Receipt, err)
}
