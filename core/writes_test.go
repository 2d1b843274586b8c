package core_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"bankgraph/core/accounts"
	"bankgraph/core/alerts"
	"bankgraph/core/changes"
	"bankgraph/core/contacts"
	"bankgraph/core/coretest"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/fees"
	"bankgraph/core/fx"
	"bankgraph/core/given"
	"bankgraph/core/ledger"
	"bankgraph/core/money"
	"bankgraph/core/payments"
	"bankgraph/core/positivepay"
	"bankgraph/core/roles"
	"bankgraph/core/sandbox"
	"bankgraph/core/signatories"
	"bankgraph/core/users"
	"bankgraph/core/verifications"
	"bankgraph/core/virtualaccounts"
	"bankgraph/core/waterfalls"
	"bankgraph/core/webhooks"
)

// said is the answer of an operation.
type said struct {
	Result any
	changes.Receipt
}

// write is one operation on a bank that is ready for it.
type write func(ctx context.Context, key string) (said, error)

// writes lists all operations. The first word of a name is the operation's; as is the caller, nil for staff;
// refused is the expected fault.
var writes = []struct {
	name    string
	on      func(b *coretest.Bank) write
	as      func(b *coretest.Bank) context.Context
	refused error
}{
	{name: "addSignatory", on: func(b *coretest.Bank) write { return addSignatory(b, b.Customer()) }},
	{
		name: "addSignatory, to be approved",
		on:   func(b *coretest.Bank) write { return addSignatory(b, b.Customer(dual)) },
	},
	{
		name: "addSignatory, whose address is taken", refused: signatories.ErrTaken,
		on: func(b *coretest.Bank) write {
			c := b.Customer()
			b.Signatory(c, func(g *signatories.Signatory) { g.EmailAddress = "ada@mail.example" })
			return addSignatory(b, c)
		},
	},
	{
		name: "changeSignatory",
		on:   func(b *coretest.Bank) write { return changeSignatory(b, b.Signatory(b.Customer()).UID) },
	},
	{
		name: "changeSignatory, to be approved",
		on:   func(b *coretest.Bank) write { return changeSignatory(b, b.Signatory(b.Customer(dual)).UID) },
	},
	{
		name: "changeSignatory, which is absent", refused: signatories.ErrNotFound,
		on: func(b *coretest.Bank) write { return changeSignatory(b, 4711) },
	},
	{
		name: "removeSignatory",
		on:   func(b *coretest.Bank) write { return removeSignatory(b, b.Signatory(b.Customer()).UID) },
	},
	{
		name: "openVirtualAccount", on: func(b *coretest.Bank) write { return openVirtualAccount(b, b.Customer()) },
	},
	{
		name: "openVirtualAccount, to be approved",
		on:   func(b *coretest.Bank) write { return openVirtualAccount(b, b.Customer(dual)) },
	},
	{
		name: "approveChange, of a new virtual account", as: checker,
		on: func(b *coretest.Bank) write { return approve(b, openVirtualAccount(b, b.Customer(dual))) },
	},
	{
		name: "refuseChange, of a new virtual account", as: checker,
		on: func(b *coretest.Bank) write { return refuse(b, openVirtualAccount(b, b.Customer(dual))) },
	},
	{
		name: "changeVirtualAccount",
		on:   func(b *coretest.Bank) write { return changeVirtualAccount(b, b.Customer()) },
	},
	{
		name: "changeVirtualAccount, to be approved",
		on:   func(b *coretest.Bank) write { return changeVirtualAccount(b, b.Customer(dual)) },
	},
	{
		name: "changeVirtualAccount, which is closed", refused: virtualaccounts.ErrClosed,
		on: func(b *coretest.Bank) write { return changeVirtualAccount(b, b.Customer(), isClosed) },
	},
	{
		name: "closeVirtualAccount",
		on:   func(b *coretest.Bank) write { return closeVirtualAccount(b, b.Customer()) },
	},
	{
		name: "closeVirtualAccount, to be approved",
		on:   func(b *coretest.Bank) write { return closeVirtualAccount(b, b.Customer(dual)) },
	},
	{
		name: "closeVirtualAccount, which is", refused: virtualaccounts.ErrClosed,
		on: func(b *coretest.Bank) write { return closeVirtualAccount(b, b.Customer(), isClosed) },
	},
	{
		name: "createBalanceAlert", on: func(b *coretest.Bank) write { return createBalanceAlert(b, b.Customer()) },
	},
	{
		name: "createBalanceAlert, to be approved",
		on:   func(b *coretest.Bank) write { return createBalanceAlert(b, b.Customer(dual)) },
	},
	{
		name: "createBalanceAlert, for an account that is closed", refused: alerts.ErrElsewhere,
		on: func(b *coretest.Bank) write {
			return createBalanceAlert(b, b.Customer(), func(a *accounts.Account) { a.Status = accounts.Closed })
		},
	},
	{
		name: "createBalanceAlert, which there is", refused: alerts.ErrSame,
		on: func(b *coretest.Bank) write {
			account := b.Account(b.Customer())
			b.BalanceAlert(account)
			return alerting(b, account)
		},
	},
	{
		name: "createBalanceAlert, one too many", refused: alerts.ErrMany,
		on: func(b *coretest.Bank) write {
			account := b.Account(b.Customer())
			for n := range 10 {
				b.BalanceAlert(account, func(a *alerts.Alert) { a.Minor = int64(n) })
			}
			return alerting(b, account)
		},
	},
	{
		name: "approveChange, of a balance alert", as: checker,
		on: func(b *coretest.Bank) write { return approve(b, createBalanceAlert(b, b.Customer(dual))) },
	},
	{
		name: "refuseChange, of a balance alert", as: checker,
		on: func(b *coretest.Bank) write { return refuse(b, createBalanceAlert(b, b.Customer(dual))) },
	},
	{
		name: "changeBalanceAlert", on: func(b *coretest.Bank) write { return changeBalanceAlert(b, b.Customer()) },
	},
	{
		name: "changeBalanceAlert, to be approved",
		on:   func(b *coretest.Bank) write { return changeBalanceAlert(b, b.Customer(dual)) },
	},
	{
		name: "changeBalanceAlert, which is deleted", refused: alerts.ErrNotFound,
		on: func(b *coretest.Bank) write {
			return changeBalanceAlert(b, b.Customer(), func(a *alerts.Alert) { a.Status = alerts.Deleted })
		},
	},
	{
		name: "deleteBalanceAlert", on: func(b *coretest.Bank) write { return deleteBalanceAlert(b, b.Customer()) },
	},
	{
		name: "deleteBalanceAlert, to be approved",
		on:   func(b *coretest.Bank) write { return deleteBalanceAlert(b, b.Customer(dual)) },
	},
	{
		name: "startContactVerification",
		on:   func(b *coretest.Bank) write { return startContactVerification(b, b.Customer()) },
	},
	{
		name: "startContactVerification, whose deposits wait",
		on:   func(b *coretest.Bank) write { return startContactVerification(b, b.Customer(dual)) },
	},
	{
		name: "startContactVerification, of a contact that waits", refused: verifications.ErrContactState,
		on: func(b *coretest.Bank) write {
			return startContactVerification(b, b.Customer(), func(k *contacts.Contact) { k.Status = contacts.Pending })
		},
	},
	{
		name: "startContactVerification, which there is", refused: verifications.ErrOpen,
		on: func(b *coretest.Bank) write {
			c := b.Customer()
			contact, account := b.Contact(c), b.Account(c, coretest.Holding(1000_00, 0), coretest.Sends)
			b.Verification(contact, account)
			return verifies(b, contact, account, verifications.SmallDeposits)
		},
	},
	{
		name: "startContactVerification, by a prenote",
		on:   func(b *coretest.Bank) write { return asksForContact(b, b.Customer()) },
	},
	{
		name: "cancelContactVerification, whose prenote has not left",
		on:   func(b *coretest.Bank) write { return cancelPrenote(b, b.Customer()) },
	},
	{
		name: "confirmContactVerification",
		on:   func(b *coretest.Bank) write { return confirmContactVerification(b, b.Customer(), true) },
	},
	{
		name: "confirmContactVerification, with other amounts",
		on:   func(b *coretest.Bank) write { return confirmContactVerification(b, b.Customer(), false) },
	},
	{
		name: "cancelContactVerification",
		on:   func(b *coretest.Bank) write { return cancelContactVerification(b, b.Customer()) },
	},
	{
		name: "cancelContactVerification, which is over", refused: verifications.ErrOver,
		on: func(b *coretest.Bank) write {
			return cancelContactVerification(b, b.Customer(),
				func(v *verifications.Verification) { v.State = verifications.Verified })
		},
	},
	{
		name: "changeContact, which is being verified",
		on:   func(b *coretest.Bank) write { return changeVerifiedContact(b, b.Customer()) },
	},
	{
		name: "createPositivePayRule",
		on:   func(b *coretest.Bank) write { return createPositivePayRule(b, b.Customer()) },
	},
	{
		name: "createPositivePayRule, to be approved",
		on:   func(b *coretest.Bank) write { return createPositivePayRule(b, b.Customer(dual)) },
	},
	{
		name: "createPositivePayRule, for an account that is closed", refused: positivepay.ErrAccountState,
		on: func(b *coretest.Bank) write {
			return createPositivePayRule(b, b.Customer(), func(a *accounts.Account) { a.Status = accounts.Closed })
		},
	},
	{
		name: "approveChange, of a rule of positive pay",
		on:   func(b *coretest.Bank) write { return approve(b, createPositivePayRule(b, b.Customer(dual))) },
		as:   (*coretest.Bank).Checker,
	},
	{
		name: "refuseChange, of a rule of positive pay",
		on:   func(b *coretest.Bank) write { return refuse(b, createPositivePayRule(b, b.Customer(dual))) },
		as:   (*coretest.Bank).Checker,
	},
	{
		name: "changePositivePayRule",
		on:   func(b *coretest.Bank) write { return changePositivePayRule(b, b.Customer()) },
	},
	{
		name: "changePositivePayRule, to be approved",
		on:   func(b *coretest.Bank) write { return changePositivePayRule(b, b.Customer(dual)) },
	},
	{
		name: "activatePositivePayRule",
		on: func(b *coretest.Bank) write {
			return onRule(b, b.Customer(), positivepay.Suspended, b.PositivePay.Activate)
		},
	},
	{
		name: "activatePositivePayRule, which is", refused: positivepay.ErrStatus,
		on: func(b *coretest.Bank) write {
			return onRule(b, b.Customer(), positivepay.Active, b.PositivePay.Activate)
		},
	},
	{
		name: "suspendPositivePayRule",
		on: func(b *coretest.Bank) write {
			return onRule(b, b.Customer(dual), positivepay.Active, b.PositivePay.Suspend)
		},
	},
	{
		name: "deletePositivePayRule",
		on: func(b *coretest.Bank) write {
			return onRule(b, b.Customer(dual), positivepay.Active, b.PositivePay.Delete)
		},
	},
	{name: "moveClock", on: moveClock},
	{name: "runWaterfall", on: func(b *coretest.Bank) write { return runWaterfall(b, b.Customer(), "10") }},
	{
		name: "runWaterfall, whose reference is taken", refused: waterfalls.ErrReference,
		on: func(b *coretest.Bank) write {
			do := runWaterfall(b, b.Customer(), "10")
			if _, err := do(b.Staff(), ""); err != nil {
				panic(err)
			}
			return do
		},
	},
	{
		name: "runWaterfall, to an account that is closed", refused: payments.ErrAccountState,
		on: func(b *coretest.Bank) write {
			c := b.Customer()
			do := runWaterfall(b, c, "10")
			b.Exec(`UPDATE accounts SET status = 'Closed' WHERE tenant = ?0 AND uid =
				(SELECT max(uid) FROM accounts WHERE tenant = ?0 AND customer = ?1)`, b.Tenant, c.UID)
			return do
		},
	},
	{name: "uploadFile", on: func(b *coretest.Bank) write { return uploadFile(b, b.Customer()) }},
	{name: "cancelFile", on: func(b *coretest.Bank) write { return cancelFile(b, b.Customer()) }},
	{name: "placeHold", on: func(b *coretest.Bank) write { return placeHold(b, b.Customer(), "100.50") }},
	{
		name: "placeHold, to be approved",
		on:   func(b *coretest.Bank) write { return placeHold(b, b.Customer(dual), "100.50") },
	},
	{
		name: "placeHold, of more than there is", refused: ledger.ErrUncovered,
		on: func(b *coretest.Bank) write { return placeHold(b, b.Customer(), "1000.01") },
	},
	{name: "releaseHold", on: func(b *coretest.Bank) write { return releaseHold(b, b.Customer()) }},
	{
		name: "releaseHold, to be approved",
		on:   func(b *coretest.Bank) write { return releaseHold(b, b.Customer(dual)) },
	},
	{name: "quoteExchange", on: func(b *coretest.Bank) write { return quoteExchange(b, b.Customer(), "1000") }},
	{
		name: "quoteExchange, above a limit", refused: fx.ErrLimit,
		on: func(b *coretest.Bank) write {
			c := b.Customer()
			b.Limit(c, "FX_DAILY_SETTLEMENT_LIMIT", 999_99)
			return quoteExchange(b, c, "1000")
		},
	},
	{name: "acceptQuote", on: func(b *coretest.Bank) write { return acceptQuote(b, quoted(b, b.Customer())) }},
	{name: "acceptQuote, which was rejected", refused: fx.ErrDecided, on: func(b *coretest.Bank) write {
		uid := quoted(b, b.Customer())
		if _, err := rejectQuote(b, uid)(b.Staff(), ""); err != nil {
			panic(err)
		}
		return acceptQuote(b, uid)
	}},
	{name: "rejectQuote", on: func(b *coretest.Bank) write { return rejectQuote(b, quoted(b, b.Customer())) }},
	{name: "coverTrade", on: func(b *coretest.Bank) write { return coverTrade(b, traded(b, b.Customer())) }},
	{name: "cancelTrade", on: func(b *coretest.Bank) write { return cancelTrade(b, traded(b, b.Customer())) }},
	{name: "cancelTrade, which is covered", refused: fx.ErrCovered, on: func(b *coretest.Bank) write {
		uid := traded(b, b.Customer())
		if _, err := coverTrade(b, uid)(b.Staff(), ""); err != nil {
			panic(err)
		}
		return cancelTrade(b, uid)
	}},
	{name: "addContact", on: func(b *coretest.Bank) write { return addContact(b, b.Customer()) }},
	{
		name: "addContact, to be approved",
		on:   func(b *coretest.Bank) write { return addContact(b, b.Customer(dual)) },
	},
	{
		name: "changeContact",
		on:   func(b *coretest.Bank) write { return changeContact(b, b.Contact(b.Customer()).UID) },
	},
	{
		name: "changeContact, which is absent", refused: contacts.ErrNotFound,
		on: func(b *coretest.Bank) write { return changeContact(b, 4711) },
	},
	{
		name: "applyNoticeOfChange",
		on:   func(b *coretest.Bank) write { return applyNotice(b, b.Customer(), "1918171614") },
	},
	{
		name: "applyNoticeOfChange, whose number is none", refused: contacts.ErrNoticeUseless,
		on: func(b *coretest.Bank) write { return applyNotice(b, b.Customer(), "19181&1614") },
	},
	{name: "changeLimits", on: func(b *coretest.Bank) write { return changeLimits(b, b.Customer()) }},
	{
		name: "changeLimits, to be approved",
		on:   func(b *coretest.Bank) write { return changeLimits(b, b.Customer(dual)) },
	},
	{
		name: "changeLimits, of who is suspended", refused: customers.ErrInactive,
		on: func(b *coretest.Bank) write {
			return changeLimits(b, b.Customer(func(c *customers.Customer) { c.Status = customers.Suspended }))
		},
	},
	{name: "addFeeTier", on: func(b *coretest.Bank) write { return addFeeTier(b, b.Customer()) }},
	{
		name: "addFeeTier, to be approved",
		on:   func(b *coretest.Bank) write { return addFeeTier(b, b.Customer(dual)) },
	},
	{name: "addFeeTier, which it has", refused: fees.ErrTaken, on: func(b *coretest.Bank) write {
		c := b.Customer()
		b.Fee(c)
		return addFeeTier(b, c)
	}},
	{
		name: "changeFeeTier",
		on:   func(b *coretest.Bank) write { return changeFeeTier(b, b.Fee(b.Customer()).ID) },
	},
	{
		name: "changeFeeTier, to be approved",
		on:   func(b *coretest.Bank) write { return changeFeeTier(b, b.Fee(b.Customer(dual)).ID) },
	},
	{
		name: "changeFeeTier, which is absent", refused: fees.ErrNotFound,
		on: func(b *coretest.Bank) write { return changeFeeTier(b, 4711) },
	},
	{name: "createCustomer", on: createCustomer},
	{name: "createCustomer, whose name is taken", refused: nameTaken, on: func(b *coretest.Bank) write {
		b.Customer(func(c *customers.Customer) { c.ShortName = "LAKESIDE" })
		return createCustomer(b)
	}},
	{name: "changeCustomer", on: func(b *coretest.Bank) write {
		return changeCustomer(b, b.Customer(), customers.Draft{Website: given.Of("https://bakery.example")})
	}},
	{name: "changeCustomer, which moves to a partner", on: func(b *coretest.Bank) write {
		return changeCustomer(b, b.Customer(),
			customers.Draft{PartnerOrgShortName: given.Of(b.DownstreamPartner().ShortName)})
	}},
	{name: "suspendCustomer", on: func(b *coretest.Bank) write { return suspendCustomer(b, b.Customer()) }},
	{name: "activateCustomer", on: func(b *coretest.Bank) write {
		return activateCustomer(b, b.Customer(func(c *customers.Customer) { c.Status = customers.Suspended }))
	}},
	{
		name: "activateCustomer, who is active", refused: customers.ErrStatus,
		on: func(b *coretest.Bank) write { return activateCustomer(b, b.Customer()) },
	},
	{name: "openAccount", on: func(b *coretest.Bank) write { return openAccount(b, b.Customer()) }},
	{
		name: "openAccount, to be approved",
		on:   func(b *coretest.Bank) write { return openAccount(b, b.Customer(dual)) },
	},
	{
		name: "openAccount, whose number is taken", refused: accounts.ErrNumberTaken,
		on: func(b *coretest.Bank) write {
			c := b.Customer()
			open := openAccount(b, c)
			if _, err := open(b.Staff(), ""); err != nil {
				panic(err)
			}
			return open
		},
	},
	{
		name: "changeAccount",
		on:   func(b *coretest.Bank) write { return changeAccount(b, b.Account(b.Customer())) },
	},
	{
		name: "changeAccount, to be approved",
		on:   func(b *coretest.Bank) write { return changeAccount(b, b.Account(b.Customer(dual))) },
	},
	{name: "closeAccount", on: func(b *coretest.Bank) write {
		a := b.Account(b.Customer(), coretest.Holding(0, 0))
		return func(ctx context.Context, key string) (said, error) {
			return heard(b.Accounts.Close(ctx, 0, a.UID, with(key)))
		}
	}},
	{name: "closeAccount, with money in it", refused: accounts.ErrMoney, on: func(b *coretest.Bank) write {
		a := b.Account(b.Customer())
		return func(ctx context.Context, key string) (said, error) {
			return heard(b.Accounts.Close(ctx, 0, a.UID, with(key)))
		}
	}},
	{name: "suspendAccount", on: func(b *coretest.Bank) write {
		a := b.Account(b.Customer(dual), coretest.Holding(1000_00, 0))
		return func(ctx context.Context, key string) (said, error) {
			return heard(b.Accounts.Suspend(ctx, 0, a.UID, with(key)))
		}
	}},
	{name: "activateAccount", on: func(b *coretest.Bank) write {
		a := b.Account(b.Customer(), func(a *accounts.Account) { a.Status = accounts.Suspended })
		return func(ctx context.Context, key string) (said, error) {
			return heard(b.Accounts.Activate(ctx, 0, a.UID, with(key)))
		}
	}},
	{name: "deleteAccount", on: func(b *coretest.Bank) write {
		a := b.Account(b.Customer(), coretest.Holding(0, 0))
		return func(ctx context.Context, key string) (said, error) {
			return heard(b.Accounts.Delete(ctx, 0, a.UID, with(key)))
		}
	}},
	{name: "setSweep", on: func(b *coretest.Bank) write { return setSweep(b, b.Customer()) }},
	{
		name: "setSweep, to be approved",
		on:   func(b *coretest.Bank) write { return setSweep(b, b.Customer(dual)) },
	},
	{name: "changeSweep", on: func(b *coretest.Bank) write {
		name := sweep(b)
		return func(ctx context.Context, key string) (said, error) {
			return heard(b.Accounts.ChangeSweep(ctx, 0, name, accounts.SweepDraft{TargetBalance: given.Of("7")},
				with(key)))
		}
	}},
	{name: "removeSweep", on: func(b *coretest.Bank) write {
		name := sweep(b)
		return func(ctx context.Context, key string) (said, error) {
			return heard(b.Accounts.RemoveSweep(ctx, 0, name, with(key)))
		}
	}},
	{name: "transferFunds", on: func(b *coretest.Bank) write { return transferFunds(b, b.Customer(), "10", 0) }},
	{
		name: "transferFunds, on another day",
		on:   func(b *coretest.Bank) write { return transferFunds(b, b.Customer(), "10", 1) },
	},
	{
		name: "transferFunds, to be approved",
		on:   func(b *coretest.Bank) write { return transferFunds(b, b.Customer(dual), "10", 0) },
	},
	{
		name: "transferFunds, which are not there", refused: ledger.ErrUncovered,
		on: func(b *coretest.Bank) write { return transferFunds(b, b.Customer(), "1000000", 0) },
	},
	{
		name: "approveChange, of a transfer", as: checker,
		on: func(b *coretest.Bank) write { return approve(b, transferFunds(b, b.Customer(dual), "10", 0)) },
	},
	{
		name: "refuseChange, of a transfer", as: checker,
		on: func(b *coretest.Bank) write { return refuse(b, transferFunds(b, b.Customer(dual), "10", 0)) },
	},
	{name: "sendPayment", on: func(b *coretest.Bank) write { return sendPayment(b, b.Customer(), "10", 0) }},
	{
		name: "sendPayment, on another day",
		on:   func(b *coretest.Bank) write { return sendPayment(b, b.Customer(), "10", 1) },
	},
	{
		name: "sendPayment, to be approved",
		on:   func(b *coretest.Bank) write { return sendPayment(b, b.Customer(dual), "10", 0) },
	},
	{
		name: "sendPayment, above a limit", refused: payments.ErrLimit,
		on: func(b *coretest.Bank) write { return sendPayment(b, b.Customer(), "900.01", 0) },
	},
	{
		name: "sendPayment, which waits for repair",
		on:   func(b *coretest.Bank) write { return sendUnfit(b, b.Customer()) },
	},
	{name: "repairPayment", on: func(b *coretest.Bank) write { return repairPayment(b, b.Customer()) }},
	{
		name: "approveChange, of a payment that is repaired", as: checker,
		on: func(b *coretest.Bank) write { return approve(b, repairPayment(b, b.Customer())) },
	},
	{
		name: "approveChange, of a payment over a network", as: checker,
		on: func(b *coretest.Bank) write { return approve(b, sendPayment(b, b.Customer(dual), "10", 0)) },
	},
	{
		name: "refuseChange, of a payment over a network", as: checker,
		on: func(b *coretest.Bank) write { return refuse(b, sendPayment(b, b.Customer(dual), "10", 0)) },
	},
	{name: "transferFunds, again and again", on: func(b *coretest.Bank) write {
		return repeatTransfer(b, b.Customer(), 0)
	}},
	{
		name: "skipRecurrence",
		on:   func(b *coretest.Bank) write { return skipRecurrence(b, repeatTransfer(b, b.Customer(), 0)) },
	},
	{name: "skipRecurrence, with a payment that waits", on: func(b *coretest.Bank) write {
		return skipRecurrence(b, repeatTransfer(b, b.Customer(), 1))
	}},
	{name: "changeRecurrence", on: func(b *coretest.Bank) write {
		return changeRecurrence(b, repeatTransfer(b, b.Customer(), 1))
	}},
	{name: "changeRecurrence, to be approved", on: func(b *coretest.Bank) write {
		c := b.Customer()
		what := changeRecurrence(b, repeatTransfer(b, c, 1))
		b.Exec(`UPDATE customers SET access_payment_dual_approval = true
			WHERE tenant = ? AND uid = ?`, b.Tenant, c.UID)
		return what
	}},
	{name: "cancelRecurrence", on: func(b *coretest.Bank) write {
		return cancelRecurrence(b, repeatTransfer(b, b.Customer(), 1))
	}},
	{name: "cancelRecurrence, to be approved", on: func(b *coretest.Bank) write {
		return cancelRecurrence(b, repeatTransfer(b, b.Customer(dual), 1))
	}},
	{
		name: "cancelRecurrence, which is over", refused: payments.ErrRecurrenceOver,
		on: func(b *coretest.Bank) write {
			what := cancelRecurrence(b, repeatTransfer(b, b.Customer(), 1))
			if _, err := what(b.Staff(), ""); err != nil {
				panic(err)
			}
			return what
		},
	},
	{
		name: "approveChange, of a transfer that begins a series", as: checker,
		on: func(b *coretest.Bank) write { return approve(b, repeatTransfer(b, b.Customer(dual), 0)) },
	},
	{name: "requestDebit", on: func(b *coretest.Bank) write { return requestDebit(b, b.Customer(), "10", 0) }},
	{
		name: "requestDebit, which asks",
		on:   func(b *coretest.Bank) write { return requestPayment(b, b.Customer()) },
	},
	{
		name: "requestDebit, on another day",
		on:   func(b *coretest.Bank) write { return requestDebit(b, b.Customer(), "10", 5) },
	},
	{
		name: "requestDebit, to be approved",
		on:   func(b *coretest.Bank) write { return requestDebit(b, b.Customer(dual), "10", 0) },
	},
	{
		name: "requestDebit, above a limit", refused: payments.ErrLimit,
		on: func(b *coretest.Bank) write { return requestDebit(b, b.Customer(), "900.01", 0) },
	},
	{
		name: "approveChange, of a debit", as: checker,
		on: func(b *coretest.Bank) write { return approve(b, requestDebit(b, b.Customer(dual), "10", 0)) },
	},
	{name: "cancelPayment, which waits for repair", on: func(b *coretest.Bank) write {
		return cancelPayment(b, sendUnfit(b, b.Customer()))
	}},
	{name: "cancelPayment, of a debit", on: func(b *coretest.Bank) write {
		return cancelPayment(b, requestDebit(b, b.Customer(), "10", 0))
	}},
	{name: "releaseScreenedPayment", on: func(b *coretest.Bank) write {
		return releaseScreenedPayment(b, screened(b, b.Customer()))
	}},
	{
		name: "releaseScreenedPayment, which nobody looks at", refused: payments.ErrNotScreened,
		on: func(b *coretest.Bank) write {
			return releaseScreenedPayment(b, came(b, b.Customer()))
		},
	},
	{name: "rejectScreenedPayment", on: func(b *coretest.Bank) write {
		return rejectScreenedPayment(b, screened(b, b.Customer()))
	}},
	{name: "sendPayment, to somebody on a list", on: func(b *coretest.Bank) write {
		listed(b)
		return sendPayment(b, b.Customer(), "10", 0)
	}},
	{name: "cancelPayment, which is queued", on: func(b *coretest.Bank) write {
		return cancelPayment(b, sendPayment(b, b.Customer(), "10", 0))
	}},
	{name: "cancelPayment", on: func(b *coretest.Bank) write {
		return cancelPayment(b, transferFunds(b, b.Customer(), "10", 1))
	}},
	{name: "cancelPayment, which is over", refused: payments.ErrOver, on: func(b *coretest.Bank) write {
		return cancelPayment(b, transferFunds(b, b.Customer(), "10", 0))
	}},
	{name: "playIncomingCredit", on: func(b *coretest.Bank) write {
		return playIncomingCredit(b, b.Account(b.Customer(), coretest.Sends).UID)
	}},
	{name: "playIncomingDebit", on: func(b *coretest.Bank) write {
		return playIncomingDebit(b, b.Account(b.Customer(), coretest.Sends).UID)
	}},
	{name: "playIncomingRequest", on: func(b *coretest.Bank) write {
		return playIncomingRequest(b, b.Account(b.Customer(), coretest.Sends).UID)
	}},
	{name: "approveException, of a request", on: func(b *coretest.Bank) write {
		return approveException(b, demanded(b, b.Customer()))
	}},
	{name: "rejectException, of a request", on: func(b *coretest.Bank) write {
		return rejectException(b, demanded(b, b.Customer()))
	}},
	{
		name: "approveException",
		on:   func(b *coretest.Bank) write { return approveException(b, debited(b, b.Customer())) },
	},
	{
		name: "rejectException",
		on:   func(b *coretest.Bank) write { return rejectException(b, debited(b, b.Customer())) },
	},
	{name: "rejectException, of nothing", refused: positivepay.ErrNoException, on: func(b *coretest.Bank) write {
		return rejectException(b, came(b, b.Customer()))
	}},
	{name: "decideExceptions", on: func(b *coretest.Bank) write {
		return decideExceptions(b, debited(b, b.Customer()))
	}},
	{name: "playInformationRequest", on: func(b *coretest.Bank) write {
		return playInformationRequest(b, came(b, b.Customer()))
	}},
	{name: "requestInformation", on: func(b *coretest.Bank) write {
		return requestInformation(b, came(b, b.Customer()))
	}},
	{
		name: "requestInformation, about a transfer", refused: payments.ErrNoInformation,
		on: func(b *coretest.Bank) write {
			made, err := transferFunds(b, b.Customer(), "10", 0)(b.Staff(), "")
			if err != nil {
				panic(err)
			}
			return requestInformation(b, made.Result.(payments.Saved).UID)
		},
	},
	{name: "playAnswer", on: func(b *coretest.Bank) write {
		return playAnswer(b, paidOverACH(b, b.Customer()), sandbox.Answer{Verdict: sandbox.Returned})
	}},
	{
		name: "playAnswer, about what came in", refused: sandbox.ErrNoAnswer,
		on: func(b *coretest.Bank) write {
			return playAnswer(b, came(b, b.Customer()), sandbox.Answer{Verdict: sandbox.Settled})
		},
	},
	{name: "playRecall", on: func(b *coretest.Bank) write { return playRecall(b, came(b, b.Customer())) }},
	{name: "returnPayment", on: func(b *coretest.Bank) write { return returnPayment(b, came(b, b.Customer())) }},
	{name: "returnPayment, to be approved", on: func(b *coretest.Bank) write {
		return returnPayment(b, came(b, b.Customer(dual)))
	}},
	{
		name: "returnPayment, over ACH",
		on:   func(b *coretest.Bank) write { return refuseEntry(b, cameOverACH(b, b.Customer())) },
	},
	{name: "returnPayment, over ACH, to be approved", on: func(b *coretest.Bank) write {
		return refuseEntry(b, cameOverACH(b, b.Customer(dual)))
	}},
	{name: "approveChange, of a return over ACH", as: checker, on: func(b *coretest.Bank) write {
		return approve(b, refuseEntry(b, cameOverACH(b, b.Customer(dual))))
	}},
	{
		name: "reversePayment, over ACH",
		on:   func(b *coretest.Bank) write { return reverseEntry(b, paidOverACH(b, b.Customer())) },
	},
	{name: "playIncomingCredit, over ACH", on: func(b *coretest.Bank) write {
		return playCreditOverACH(b, b.Account(b.Customer(), coretest.Sends).UID)
	}},
	{name: "returnPayment, which went out", refused: payments.ErrNotIncoming, on: func(b *coretest.Bank) write {
		made, err := sendPayment(b, b.Customer(), "10", 0)(b.Staff(), "")
		if err != nil {
			panic(err)
		}
		return returnPayment(b, made.Result.(payments.Saved).UID)
	}},
	{name: "approveChange, of a return", as: checker, on: func(b *coretest.Bank) write {
		return approve(b, returnPayment(b, came(b, b.Customer(dual))))
	}},
	{name: "reversePayment", on: func(b *coretest.Bank) write {
		return reversePayment(b, transferFunds(b, b.Customer(), "10", 0))
	}},
	{name: "reversePayment, over a network", on: func(b *coretest.Bank) write {
		return reversePayment(b, sendPayment(b, b.Customer(), "10", 0))
	}},
	{
		name: "reversePayment, which is not over", refused: payments.ErrNotProcessed,
		on: func(b *coretest.Bank) write {
			return reversePayment(b, transferFunds(b, b.Customer(), "10", 1))
		},
	},
	{
		name: "approveChange, of a new account", as: checker,
		on: func(b *coretest.Bank) write {
			of := b.Customer(dual)
			b.Account(of) // the bank is there already, so a partner may agree
			return approve(b, openAccount(b, of))
		},
	},
	{
		name: "refuseChange, of a new account", as: checker,
		on: func(b *coretest.Bank) write { return refuse(b, openAccount(b, b.Customer(dual))) },
	},
	{
		name: "approveChange, of something new", as: checker,
		on: func(b *coretest.Bank) write { return approve(b, addSignatory(b, b.Customer(dual))) },
	},
	{name: "approveChange, of a change", as: checker, on: func(b *coretest.Bank) write {
		return approve(b, changeSignatory(b, b.Signatory(b.Customer(dual)).UID))
	}},
	{name: "approveChange, by who asked for it", refused: changes.ErrOwn, on: func(b *coretest.Bank) write {
		return approve(b, addSignatory(b, b.Customer(dual)))
	}},
	{
		name: "refuseChange", as: checker,
		on: func(b *coretest.Bank) write { return refuse(b, addSignatory(b, b.Customer(dual))) },
	},
	{
		name: "createWebhook",
		on: func(b *coretest.Bank) write {
			return createWebhook(b, b.Customer(),
				"https://hooks.partner.example")
		},
	},
	{
		name: "createWebhook, to be approved",
		on: func(b *coretest.Bank) write {
			return createWebhook(b, b.Customer(dual), "https://hooks.partner.example")
		},
	},
	{
		name: "createWebhook, that leads inside", refused: webhooks.ErrTarget,
		on: func(b *coretest.Bank) write { return createWebhook(b, b.Customer(), "https://10.0.0.1") },
	},
	{
		name: "approveChange, of a new webhook", as: checker,
		on: func(b *coretest.Bank) write {
			return approve(b, createWebhook(b, b.Customer(dual), "https://hooks.partner.example"))
		},
	},
	{
		name: "refuseChange, of a new webhook", as: checker,
		on: func(b *coretest.Bank) write {
			return refuse(b, createWebhook(b, b.Customer(dual), "https://hooks.partner.example"))
		},
	},
	{
		name: "changeWebhook",
		on:   func(b *coretest.Bank) write { return changeWebhook(b, webhook(b, b.Customer())) },
	},
	{
		name: "changeWebhook, to be approved",
		on:   func(b *coretest.Bank) write { return changeWebhook(b, webhook(b, b.Customer(dual))) },
	},
	{
		name: "changeWebhook, which is absent", refused: webhooks.ErrNotFound,
		on: func(b *coretest.Bank) write { return changeWebhook(b, 4711) },
	},
	{
		name: "rotateWebhookSecret",
		on:   func(b *coretest.Bank) write { return rotateWebhookSecret(b, webhook(b, b.Customer(dual))) },
	},
	{
		name: "disableWebhook",
		on: func(b *coretest.Bank) write {
			return onWebhook(webhook(b, b.Customer(dual)), b.Webhooks.Disable)
		},
	},
	{
		name: "enableWebhook",
		on: func(b *coretest.Bank) write {
			uid := webhook(b, b.Customer())
			b.Exec(`UPDATE webhooks SET status = 'Disabled' WHERE tenant = ?`, b.Tenant)
			return onWebhook(uid, b.Webhooks.Enable)
		},
	},
	{
		name: "enableWebhook, which is", refused: webhooks.ErrStatus,
		on: func(b *coretest.Bank) write { return onWebhook(webhook(b, b.Customer()), b.Webhooks.Enable) },
	},
	{
		name: "deleteWebhook",
		on:   func(b *coretest.Bank) write { return onWebhook(webhook(b, b.Customer(dual)), b.Webhooks.Delete) },
	},
	{
		name: "replayWebhook",
		on:   func(b *coretest.Bank) write { return replayWebhook(b, webhook(b, b.Customer())) },
	},
	{
		name: "testWebhook",
		on:   func(b *coretest.Bank) write { return testWebhook(b, webhook(b, b.Customer())) },
	},
	{
		name: "resendWebhookDelivery",
		on:   func(b *coretest.Bank) write { return resendWebhookDelivery(b, webhook(b, b.Customer())) },
	},
	{name: "createUser", on: func(b *coretest.Bank) write { return createUser(b, b.Customer()) }},
	{
		name: "createUser, to be approved",
		on:   func(b *coretest.Bank) write { return createUser(b, b.Customer(dual)) },
	},
	{name: "createUser, whose login id is taken", refused: users.ErrTaken, on: func(b *coretest.Bank) write {
		b.User(b.Customer(), nil, func(u *users.User) { u.LoginID = "ADA.byron" })
		return createUser(b, b.Customer())
	}},
	{name: "changeUser", on: func(b *coretest.Bank) write { return changeUser(b, b.Customer()) }},
	{
		name: "changeUser, to be approved",
		on:   func(b *coretest.Bank) write { return changeUser(b, b.Customer(dual)) },
	},
	{
		name: "suspendUser",
		on:   func(b *coretest.Bank) write { return suspendUser(b, b.Customer(dual), users.Active) },
	},
	{
		name: "suspendUser, who is", refused: users.ErrSuspended,
		on: func(b *coretest.Bank) write { return suspendUser(b, b.Customer(), users.Suspended) },
	},
	{
		name: "activateUser",
		on:   func(b *coretest.Bank) write { return activateUser(b, b.Customer(), users.Locked) },
	},
	{
		name: "activateUser, to be approved",
		on:   func(b *coretest.Bank) write { return activateUser(b, b.Customer(dual), users.Suspended) },
	},
	{
		name: "activateUser, who is", refused: users.ErrActive,
		on: func(b *coretest.Bank) write { return activateUser(b, b.Customer(), users.Active) },
	},
	{
		name: "approveChange, of a new user", as: checker,
		on: func(b *coretest.Bank) write { return approve(b, createUser(b, b.Customer(dual))) },
	},
	{
		name: "refuseChange, of a new user", as: checker,
		on: func(b *coretest.Bank) write { return refuse(b, createUser(b, b.Customer(dual))) },
	},
	{name: "linkSubject", on: func(b *coretest.Bank) write { return linkSubject(b, b.Customer()) }},
	{
		name: "linkSubject, to be approved",
		on:   func(b *coretest.Bank) write { return linkSubject(b, b.Customer(dual)) },
	},
	{name: "linkSubject, whose issuer is absent", refused: users.ErrNoIssuer, on: func(b *coretest.Bank) write {
		do := linkSubject(b, b.Customer())
		b.Exec(`UPDATE issuers SET disabled_at = now() WHERE tenant = ?`, b.Tenant)
		return do
	}},
	{name: "unlinkSubject", on: func(b *coretest.Bank) write { return unlinkSubject(b, b.Customer(dual)) }},
	{name: "createRole", on: func(b *coretest.Bank) write { return createRole(b, b.Customer()) }},
	{
		name: "createRole, to be approved",
		on:   func(b *coretest.Bank) write { return createRole(b, b.Customer(dual)) },
	},
	{name: "createRole, whose name is taken", refused: roles.ErrTaken, on: func(b *coretest.Bank) write {
		c := b.Customer()
		b.Role(c, func(r *roles.Role) { r.Name = "CLERK" })
		return createRole(b, c)
	}},
	{name: "changeRole", on: func(b *coretest.Bank) write { return changeRole(b, b.Customer()) }},
	{
		name: "changeRole, to be approved",
		on:   func(b *coretest.Bank) write { return changeRole(b, b.Customer(dual)) },
	},
	{
		name: "approveChange, of a new role", as: checker,
		on: func(b *coretest.Bank) write { return approve(b, createRole(b, b.Customer(dual))) },
	},
	{
		name: "refuseChange, of a new role", as: checker,
		on: func(b *coretest.Bank) write { return refuse(b, createRole(b, b.Customer(dual))) },
	},
}

// nameTaken is the fault of package customers with this code.
var nameTaken = fault.Kept{Code: "customer.short_name_taken"}.Again()

func TestEveryOperationIsAmongTheWrites(t *testing.T) {
	t.Parallel()
	var tried []string
	for _, w := range writes {
		operation, _, _ := strings.Cut(w.name, ",")
		tried = append(tried, operation)
	}
	declared := open(t).Changes.Operations()
	for _, operation := range declared {
		if !slices.Contains(tried, operation) {
			t.Errorf("%s is not in writes", operation)
		}
	}
	for _, operation := range tried {
		if !slices.Contains(declared, operation) {
			t.Errorf("there is no %s", operation)
		}
	}
}

// heard converts the outcome of any operation.
func heard[R any](out changes.Outcome[R], err error) (said, error) {
	return said{out.Result, out.Receipt}, err
}

func with(key string) changes.RequestOptions { return changes.RequestOptions{IdempotencyKey: key} }

func checker(b *coretest.Bank) context.Context { return b.Checker() }

// dual makes a customer ask for a second person everywhere.
func dual(c *customers.Customer) {
	c.Access.CustomerDualApproval, c.Access.BeneDualApproval, c.Access.UserDualApproval = true, true, true
	c.Access.FeeTierForApproval, c.Access.PaymentDualApproval = true, true
}

func openAccount(b *coretest.Bank, of *customers.Customer) write {
	deposit, checking, core, usd := accounts.Deposit, accounts.Checking, accounts.InternalCore,
		money.Currency("USD")
	draft := accounts.Draft{
		Name: given.Of("Petty Cash"), Number: given.Of("4000700001"), Type: &deposit, SubType: &checking,
		SystemOfRecord: &core, Currency: &usd, CountryCode: given.Of("US"), BankID: given.Of("611090001"),
		MasterGL: given.Of("201000"),
		Features: accounts.FeaturesDraft{ACH: given.Of(true), ACHCompanyID: given.Of("77")},
	}
	return func(ctx context.Context, key string) (said, error) {
		return heard(b.Accounts.Open(ctx, of.UID, draft, with(key)))
	}
}

func changeAccount(b *coretest.Bank, a *accounts.Account) write {
	return func(ctx context.Context, key string) (said, error) {
		return heard(b.Accounts.Change(ctx, 0, a.UID,
			accounts.Draft{Name: given.Of("Petty Cash"), Number: given.Of("4000700002")}, with(key)))
	}
}

func setSweep(b *coretest.Bank, of *customers.Customer) write {
	a, contact := b.Account(of), b.Contact(of)
	zero, method, daily := accounts.Zero, accounts.ACHCredit, accounts.Daily
	draft := accounts.SweepDraft{
		BalanceType: &zero, ToContact: &contact.UID, ToMethod: &method, Frequency: &daily,
	}
	return func(ctx context.Context, key string) (said, error) {
		return heard(b.Accounts.SetSweep(ctx, 0, accounts.SweepName{Account: a.UID, Direction: accounts.Out}, draft,
			with(key)))
	}
}

// sweep makes a sweep and returns its name.
func sweep(b *coretest.Bank) accounts.SweepName {
	c := b.Customer()
	a, contact := b.Account(c), b.Contact(c)
	b.Sweep(a, func(w *accounts.Sweep) { w.ToContact = &contact.UID })
	return accounts.SweepName{Account: a.UID, Direction: accounts.Out}
}
