package graph

import (
	"cmp"
	"context"

	"github.com/99designs/gqlgen/graphql"

	"bankgraph/core"
	"bankgraph/core/accounts"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/db"
	"bankgraph/graph/model"
	"bankgraph/graph/scalar"
)

var accountKind = numbered("Account", kind[accounts.UID, accounts.Account]{
	prefix: scalar.AccountPrefix,
	find:   func(c *core.Core) finder[accounts.UID, accounts.Account] { return c.Accounts.FindMany },
	key:    func(a *accounts.Account) accounts.UID { return a.UID },
	columns: columns{
		"balances":        {"Balance", "Currency"},
		"externalAccount": {"ExternalProvider", "ExternalID"},
		"bank":            {"BankID", "BankIDType", "CountryCode"},
		"features": {
			"Currency", "EnableWires", "EnableDomesticWires", "EnableInternationalWires", "EnableCallbacks",
			"CallbackLimit", "EnableACH", "EnableOffset", "DefaultOffset", "Underwritten", "ACHPrefund",
			"DebitExposureLimit", "CreditExposureLimit",
			"ACHCompanyID", "SECCodes", "EnableFedNow", "FedNowSend",
			"FedNowRFPSend", "EnableRTP", "RTPSend", "RTPRFPSend", "RFPReceive", "RFPSend", "EnableSWIFT",
			"EnablePositivePay", "AccountAnalysis", "FeeAccount", "ReturnAccount",
		},
	},
})

func init() {
	query("account", (*operation).account)
	hasCustomer(accountKind, "customer", func(a *accounts.Account) *customers.UID { return &a.Customer })
	hasMany(customerKind, "accounts", accountKind, pages(
		func(c *core.Core) *accounts.Service { return c.Accounts },
		(*accounts.Service).OfCustomers, capped((*accounts.Service).CountOfCustomers),
	))
	prices["AccountConnection.totalCount"], prices["AccountConnection.totalCountIsExact"] = countOne, countOne
	subjects["account"] = subject{
		codes: codes{fault.NotFound: "ACC002", fault.State: "ACC001", fault.Conflict: "ACC001"},
		fields: map[string]string{
			"accountName": "name", "accountNumber": "number", "fboAccountNumber": "fboNumber",
			"accountUID": "uid", "accountType": "type", "accountSubType": "subType",
			"systemOfRecords": "systemOfRecord", "routingNumber": "bankId", "reason": "note",
			"externalAccount.externalProvider":  "externalAccount.provider",
			"externalAccount.externalId":        "externalAccount.id",
			"externalAccount.externalAuthToken": "externalAccount.token",
			"enableWire":                        "features.wires",
			"enableDomesticWire":                "features.domesticWires",
			"enableInternationalWire":           "features.internationalWires",
			"enableCallbacks":                   "features.callbacks",
			"callbackLimit":                     "features.callbackLimit",
			"enableACH":                         "features.ach",
			"enableOffset":                      "features.offset",
			"defaultOffset":                     "features.defaultOffset",
			"enableUnderWritten":                "features.underwritten",
			"enableAchPrefund":                  "features.achPrefund",
			"debitExposureLimit":                "features.debitExposureLimit",
			"creditExposureLimit":               "features.creditExposureLimit",
			"achCompanyId":                      "features.achCompanyId",
			"secCodes":                          "features.secCodes",
		},
	}
}

var customerUID = db.ColumnsOf[customers.Customer]("UID")

// account answers Query.account. It reads the customer's own columns in the same statement.
func (o *operation) account(ctx context.Context, f graphql.CollectedField) (*accounts.Account, error) {
	by, _, err := lookup[model.AccountBy](ctx, f)
	if err != nil {
		return nil, err
	}
	var key accounts.By
	if by.UID != nil {
		key.UID = *by.UID
	} else {
		key.Number = *by.Number
	}
	want, relations := accountKind.wants(ctx, f.Selections)
	var (
		ofCustomer             db.Columns
		customer, own, further []graphql.CollectedField
	)
	for _, f := range relations {
		if f.Name != "customer" {
			own = append(own, f)
			continue
		}
		customer = append(customer, f)
		columns, relations := customerKind.wants(ctx, f.Selections)
		ofCustomer = ofCustomer.And(columns).And(customerUID)
		further = append(further, relations...)
	}
	b := o.batch()
	rows := o.core.Accounts.FindWith(ctx, b, key, want, ofCustomer)
	var found *accounts.Found
	err = o.read(ctx, b, []step{func(ctx context.Context, next *db.Batch) []step {
		if found, _ = rows.One(); found == nil {
			return nil
		}
		s := family([]accounts.UID{found.Account.UID})
		attachRows(o, s, []*accounts.Account{&found.Account})
		steps := o.children(ctx, next, accountKind.objectType, s, own)
		if found.Customer.UID == 0 {
			return steps // out of reach, or not asked for: the relation says which
		}
		for _, f := range customer {
			s.answers[f.Field] = func(accounts.UID) (*customers.Customer, error) {
				return &found.Customer, nil
			}
		}
		owner := []*customers.Customer{&found.Customer}
		return append(steps, customerKind.under(ctx, o, next, owner, mergeFields(further))...)
	}})
	if err = cmp.Or(err, rows.Err); err != nil || found == nil {
		return nil, err
	}
	return &found.Account, nil
}

func (m mutations) OpenAccount(ctx context.Context, in model.AccountDraft) (*model.AccountPayload, error) {
	done, err := m.core.Accounts.Open(ctx, in.Customer, in.Draft, in.RequestOptions)
	return accountKind.payload(ctx, done.Result.UID, done.Receipt, err)
}

func (m mutations) ChangeAccount(ctx context.Context, in model.AccountDraft) (*model.AccountPayload, error) {
	done, err := m.core.Accounts.Change(ctx, 0, in.UID, in.Draft, in.RequestOptions)
	return accountKind.payload(ctx, done.Result.UID, done.Receipt, err)
}

func (m mutations) CloseAccount(ctx context.Context, in model.AccountDraft) (*model.AccountPayload, error) {
	done, err := m.core.Accounts.Close(ctx, 0, in.UID, in.RequestOptions)
	return accountKind.payload(ctx, done.Result.UID, done.Receipt, err)
}

func (m mutations) SuspendAccount(ctx context.Context, in model.AccountDraft) (*model.AccountPayload, error) {
	done, err := m.core.Accounts.Suspend(ctx, 0, in.UID, in.RequestOptions)
	return accountKind.payload(ctx, done.Result.UID, done.Receipt, err)
}

func (m mutations) ActivateAccount(
	ctx context.Context, in model.AccountDraft,
) (*model.AccountPayload, error) {
	done, err := m.core.Accounts.Activate(ctx, 0, in.UID, in.RequestOptions)
	return accountKind.payload(ctx, done.Result.UID, done.Receipt, err)
}

func (m mutations) DeleteAccount(
	ctx context.Context, in model.AccountDraft,
) (*model.DeleteAccountPayload, error) {
	done, err := m.core.Accounts.Delete(ctx, 0, in.UID, in.RequestOptions)
	if err != nil {
		return nil, err
	}
	return &model.DeleteAccountPayload{
		UID: int64(done.Result.UID), Approval: waiting(ctx, done.Receipt), Replayed: done.Replayed,
	}, nil
}
