package core_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"bankgraph/core/changes"
	"bankgraph/core/coretest"
	"bankgraph/core/customers"
)

// made lists the operations that create something. A creation waits for no other approval, but changes of the
// new thing wait for it.
var made = map[string]bool{
	"createCustomer": true, "createUser": true, "createRole": true, "openAccount": true, "addSignatory": true,
	"addContact": true, "addFeeTier": true, "transferFunds": true, "sendPayment": true,
	"requestDebit": true, "createWebhook": true, "placeHold": true, "createPositivePayRule": true,
	"openVirtualAccount": true, "repairPayment": true, "createBalanceAlert": true,
}

// prompt lists the operations that never wait: suspensions, those that take away access or a payment,
// decisions, what is only played, and trades, as a quote holds for seconds, and debits, whose time is short.
var prompt = map[string]bool{
	"suspendAccount": true, "suspendCustomer": true, "suspendUser": true, "unlinkSubject": true,
	"approveChange": true, "refuseChange": true, "cancelPayment": true, "skipRecurrence": true,
	"cancelRecurrence": true, "uploadFile": true, "cancelFile": true, "runWaterfall": true, "moveClock": true,
	"disableWebhook": true, "deleteWebhook": true, "suspendPositivePayRule": true, "deletePositivePayRule": true,
	// these change nothing of where a webhook leads, and of what it is told
	"enableWebhook": true, "rotateWebhookSecret": true, "replayWebhook": true, "testWebhook": true,
	"resendWebhookDelivery": true, "playIncomingCredit": true, "playIncomingDebit": true,
	"playIncomingRequest": true, "playRecall": true, "playAnswer": true,
	"playInformationRequest": true, "requestInformation": true,
	"approveException": true, "rejectException": true, "decideExceptions": true,
	"releaseScreenedPayment": true, "rejectScreenedPayment": true,
	// deposits wait as payments, and nothing else of a verification moves money
	"startContactVerification": true, "confirmContactVerification": true, "cancelContactVerification": true,
	"quoteExchange": true, "acceptQuote": true, "rejectQuote": true, "coverTrade": true, "cancelTrade": true,
}

// asking sets whether all customers of a bank, and the bank itself, ask for a second person everywhere or
// nowhere.
func asking(b *coretest.Bank, second bool) {
	b.Exec(`UPDATE customers SET access_customer_dual_approval = ?0, access_bene_dual_approval = ?0,
		access_user_dual_approval = ?0,
		access_fee_tier_for_approval = ?0, access_payment_dual_approval = ?0 WHERE tenant = ?1`, second, b.Tenant)
}

// waitingFor carries out every operation that can wait, on a bank where it does.
func waitingFor(
	t *testing.T, test func(t *testing.T, operation string, b *coretest.Bank, do write, approval changes.UID),
) {
	t.Helper()
	on := map[string]func(*coretest.Bank) write{}
	for _, w := range writes {
		if _, variant, _ := strings.Cut(w.name, ","); variant == "" {
			on[w.name] = w.on
		}
	}
	for _, operation := range open(t).Changes.Operations() {
		if prompt[operation] {
			continue
		}
		t.Run(operation, func(t *testing.T) {
			t.Parallel()
			if on[operation] == nil {
				t.Fatal("it is not among the writes")
			}
			b := coretest.New(t)
			do := on[operation](b)
			asking(b, true)
			out, err := do(b.Staff(), "")
			if err != nil || out.Approval == 0 {
				t.Fatalf("it does not wait: %+v %v", out, err)
			}
			test(t, operation, b, do, changes.UID(out.Approval))
		})
	}
}

// While a change of a thing waits for a second person, nothing else changes the thing: neither a change that
// would not need approval any more, nor a second proposal.
func TestNothingOvertakesAChangeThatWaits(t *testing.T) {
	t.Parallel()
	waitingFor(t, func(t *testing.T, operation string, b *coretest.Bank, do write, approval changes.UID) {
		t.Helper()
		if made[operation] {
			return
		}
		if _, err := do(b.Checker(), ""); !errors.Is(err, changes.ErrWaiting) {
			t.Errorf("a second proposal: %v", err)
		}
		asking(b, false)
		if _, err := do(b.Checker(), ""); !errors.Is(err, changes.ErrWaiting) {
			t.Errorf("a change that needs nobody: %v", err)
		}
		if _, err := b.Changes.Refuse(b.Checker(), approval, with("")); err != nil {
			t.Fatal(err)
		}
		if _, err := do(b.Checker(), ""); err != nil {
			t.Errorf("nothing waits any more: %v", err)
		}
	})
}

// An approval is for the version at the time of the request. Once the thing has changed, the request can only
// be refused.
func TestNobodyApprovesWhatHasChangedSince(t *testing.T) {
	t.Parallel()
	waitingFor(t, func(t *testing.T, operation string, b *coretest.Bank, _ write, approval changes.UID) {
		t.Helper()
		if operation == "setSweep" { // there is no version yet that could change
			return
		}
		b.Exec(`UPDATE approvals SET version = 99 WHERE tenant = ?`, b.Tenant)
		if _, err := b.Changes.Approve(b.Checker(), approval, with("")); !errors.Is(err, changes.ErrStale) {
			t.Errorf("approved: %v", err)
		}
		if a, err := b.Changes.Find(b.Staff(), approval); err != nil || a.Status != changes.Open {
			t.Errorf("afterwards: %+v %v", a, err)
		}
		if _, err := b.Changes.Refuse(b.Checker(), approval, with("")); err != nil {
			t.Errorf("refused: %v", err)
		}
	})
}

// A new customer cannot be suspended before a second person has decided.
func TestANewCustomerThatWaitsIsNotSuspended(t *testing.T) {
	t.Parallel()
	b := coretest.New(t)
	do := createCustomer(b)
	asking(b, true)
	out, err := do(b.Staff(), "")
	if err != nil {
		t.Fatal(err)
	}
	suspend := func(ctx context.Context) error {
		_, err := b.Customers.Suspend(ctx, out.Result.(customers.Saved).UID, with(""))
		return err
	}
	if err := suspend(b.Checker()); !errors.Is(err, changes.ErrWaiting) {
		t.Errorf("it waits: %v", err)
	}
	if _, err := b.Changes.Approve(b.Checker(), changes.UID(out.Approval), with("")); err != nil {
		t.Fatal(err)
	}
	if err := suspend(b.Staff()); err != nil {
		t.Errorf("it does not wait any more: %v", err)
	}
}
