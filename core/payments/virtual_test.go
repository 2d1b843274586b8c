package payments_test

import (
	"context"
	"strings"
	"testing"

	"github.com/uptrace/bun"

	"bankgraph/core/accounts"
	"bankgraph/core/changes"
	"bankgraph/core/coretest"
	"bankgraph/core/page"
	"bankgraph/core/payments"
	"bankgraph/core/rails"
	"bankgraph/core/rails/iso20022"
	"bankgraph/core/sandbox"
	"bankgraph/core/virtualaccounts"
)

// naming lets a credit name a number.
func naming(number string) func(*iso20022.CreditTransfer) {
	return func(t *iso20022.CreditTransfer) { t.Creditor.Account = number }
}

// part returns a virtual account as staff sees it.
func (s *sender) part(t *testing.T, v *virtualaccounts.VirtualAccount) *virtualaccounts.Shown {
	t.Helper()
	found, err := s.VirtualAccounts.Show(s.Staff(), v.Customer, v.UID)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// stepped demands that each posting of a virtual account names the step of its payment that brought it about:
// webhooks are told of it with the event of that step.
func (s *sender) stepped(t *testing.T, v *virtualaccounts.VirtualAccount) {
	t.Helper()
	var of []struct {
		Minor int64
		State string
		Same  int64 // postings of this step
	}
	err := s.DB.InTx(t.Context(), int64(s.Tenant), func(ctx context.Context, tx bun.Tx) error {
		return tx.NewRaw(`SELECT vp.amount AS minor, coalesce(st.state, '') AS state, (SELECT count(*)
			FROM virtual_postings AS o
				WHERE o.tenant = vp.tenant AND o.payment = vp.payment AND o.step = vp.step) AS same
			FROM virtual_postings AS vp
			LEFT JOIN payment_steps AS st ON st.tenant = vp.tenant AND st.payment = vp.payment AND st.number = vp.step
			WHERE vp.tenant = ? AND vp.virtual_account = ?`, s.Tenant, v.UID).Scan(ctx, &of)
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range of {
		state := payments.State(p.State)
		back := p.Minor < 0 && (state == payments.Returning || state == payments.Returned)
		if p.Same != 1 || state != payments.Settled && !back {
			t.Errorf("%d came of a step to %q, as did %d in all", p.Minor, p.State, p.Same)
		}
	}
}

// moved returns what the postings of a virtual account say, newest first.
func (s *sender) moved(t *testing.T, v *virtualaccounts.VirtualAccount) (all []string) {
	t.Helper()
	found, err := s.VirtualAccounts.PostingsPage(s.Staff(),
		virtualaccounts.PostingSearch{VirtualAccount: v.UID}, page.First(10))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range found.Items {
		all = append(all, p.Amount().String()+" "+string(p.Rail)+" "+p.ExternalReferenceID)
	}
	if int(found.Total) != len(all) {
		t.Errorf("%d are counted, of %d", found.Total, len(all))
	}
	s.stepped(t, v)
	return all
}

// Of what compliance looks at a virtual account has nothing before it is released.
func TestACreditToAVirtualNumberThatPeopleRelease(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	s.lists(t, "Ada Byron")
	one := s.VirtualAccount(s.from)
	s.deliver(t, rails.RTP, s.credit(rails.RTP, 1, naming(coretest.VirtualNumber(one.UID))))
	s.deliver(t, rails.RTP, s.credit(rails.RTP, 2, naming(coretest.VirtualNumber(one.UID)),
		func(t *iso20022.CreditTransfer) {
			t.Debtor.Name = "Grace Hopper"
		}))
	found, err := s.Payments.Page(s.Staff(), payments.Search{Direction: payments.In}, page.First(2))
	if err != nil || len(found.Items) != 2 {
		t.Fatal(found, err)
	}
	held := found.Items[1].UID
	s.inScreening(t, held)
	if got := s.part(t, one).Balance().String(); got != "25.00" {
		t.Error(got)
	}
	s.release(t, held)
	if got := s.part(t, one).Balance().String(); got != "50.00" || len(s.moved(t, one)) != 2 {
		t.Error(got, s.moved(t, one))
	}
	s.Prove()
}

func TestACreditToAVirtualNumberIsOnTheMasterAccountAndTold(t *testing.T) {
	t.Parallel()
	for _, over := range []rails.Rail{rails.FedNow, rails.RTP, rails.Fedwire} {
		t.Run(string(over), func(t *testing.T) {
			t.Parallel()
			s := newSender(t)
			one, two := s.VirtualAccount(s.from), s.VirtualAccount(s.from)
			s.deliver(t, over, s.credit(over, 1, naming(coretest.VirtualNumber(one.UID))),
				s.credit(over, 2, naming(coretest.VirtualNumber(one.UID))),
				s.credit(over, 3, naming(coretest.VirtualNumber(two.UID))), s.credit(over, 4))
			s.has(t, 100_100_00, 0)
			if got := s.part(t, one).Balance().String() + " " + s.part(t, two).Balance().
				String(); got != "50.00 25.00" {
				t.Error(got)
			}
			if got := s.moved(t, one); len(got) != 2 || got[0] != "25.00 "+string(over)+" E2" {
				t.Error(got)
			}
			p, err := s.Payments.Page(s.Staff(), payments.Search{ExternalReferenceID: "E3"}, page.First(1))
			if err != nil || len(p.Items) != 1 || p.Items[0].Virtual != two.UID ||
				p.Items[0].Ultimate.Name != two.Name ||
				p.Items[0].Ultimate.Masked() != s.part(t, two).Number.Masked() ||
				p.Items[0].ReceiverAccount != s.from.UID {
				t.Errorf("%+v %v", p.Items, err)
			}
			s.Prove()
		})
	}
}

func TestAVirtualAccountGivesBackWhatIsGivenBack(t *testing.T) {
	t.Parallel()
	for _, over := range []rails.Rail{rails.FedNow, rails.RTP, rails.Fedwire} {
		t.Run(string(over), func(t *testing.T) {
			t.Parallel()
			s := newSender(t)
			v := s.VirtualAccount(s.from)
			s.deliver(t, over, s.credit(over, 1, naming(coretest.VirtualNumber(v.UID))))
			if _, err := s.VirtualAccounts.Close(s.Staff(), v.Customer, v.UID, changes.RequestOptions{}); err != nil {
				t.Error("with what came in:", err)
			}
			s.Prove()
			if _, err := s.back(s.newest(t), wholly(over)); err != nil {
				t.Fatal(err)
			}
			s.has(t, 100_000_00, 0)
			if got := s.moved(t, v); len(got) != 2 || got[0] != "-25.00 "+string(over)+" E1" {
				t.Error(got)
			}
			s.Prove()
			s.run(t)
			s.run(t)
			if got := s.part(t, v); got.BalanceMinor != 0 {
				t.Error(got.Balance())
			}
			s.Prove()
		})
	}
}

// What the network refuses to give back stays, on the virtual account too.
func TestAReturnThatIsRejectedComesBackToTheVirtualAccount(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	v := s.VirtualAccount(s.from)
	_, err := s.Sandbox.PlayCredit(s.Staff(), sandbox.Credit{
		Account: s.from.UID, Virtual: coretest.VirtualNumber(v.UID), Amount: "40.34", Rail: "FEDNOW",
		Reference: "E1",
	}, changes.RequestOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s.run(t)
	uid := s.newest(t)
	if _, err := s.back(uid, wholly(rails.FedNow)); err != nil {
		t.Fatal(err)
	}
	if got := s.part(t, v); got.BalanceMinor != 0 {
		t.Error(got.Balance())
	}
	s.run(t)
	s.run(t)
	if life := s.life(t, uid); life != "SETTLED RETURNING SETTLED" {
		t.Error(life)
	}
	if got := s.part(t, v).Balance().String(); got != "40.34" {
		t.Error(got)
	}
	if got := strings.Join(s.moved(t, v), ", "); got != "40.34 FEDNOW E1, -40.34 FEDNOW E1, 40.34 FEDNOW E1" {
		t.Error(got)
	}
	s.Prove()
}

// A part of a payment that is given back is taken from the virtual account, too.
func TestAVirtualAccountGivesBackAPart(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	v := s.VirtualAccount(s.from)
	s.deliver(t, rails.RTP, s.credit(rails.RTP, 1, naming(coretest.VirtualNumber(v.UID))))
	if _, err := s.back(s.newest(t), payments.Return{Type: "PECR", Amount: "1.00"}); err != nil {
		t.Fatal(err)
	}
	if got := s.part(t, v).Balance().String(); got != "24.00" {
		t.Error(got)
	}
	s.Prove()
}

func TestACreditToAVirtualAccountThatIsNotActiveGoesBack(t *testing.T) {
	t.Parallel()
	closed := func(v *virtualaccounts.VirtualAccount) { v.Status = virtualaccounts.Closed }
	for name, check := range map[string]struct {
		edit   func(*virtualaccounts.VirtualAccount)
		master accounts.Status
		number string
		want   string
	}{
		"closed": {closed, accounts.Active, "", "pacs.002 RJCT AC04"},
		"waits for a second person": {
			func(v *virtualaccounts.VirtualAccount) { v.Status = virtualaccounts.Suspended },
			accounts.Active, "", "pacs.002 RJCT AC06",
		},
		"its master account is closed":    {nil, accounts.Closed, "", "pacs.002 RJCT AC04"},
		"its master account is suspended": {nil, accounts.Suspended, "", "pacs.002 RJCT AC06"},
		"nobody's number":                 {nil, accounts.Active, "80000000099999", "pacs.002 RJCT AC03"},
		"active":                          {nil, accounts.Active, "", "pacs.002 ACTC"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSender(t)
			v := s.VirtualAccount(s.from, func(v *virtualaccounts.VirtualAccount) {
				if check.edit != nil {
					check.edit(v)
				}
			})
			s.Exec(`UPDATE accounts SET status = ? WHERE tenant = ? AND uid = ?`, check.master, s.Tenant, s.from.UID)
			number := coretest.VirtualNumber(v.UID)
			if check.number != "" {
				number = check.number
			}
			s.deliver(t, rails.FedNow, s.credit(rails.FedNow, 1, naming(number)))
			if got := s.sent(t); got != check.want {
				t.Error(got)
			}
			s.Prove()
		})
	}
}

// The same number means another virtual account, or none, in another bank.
func TestAVirtualNumberIsOfOneBank(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	s.VirtualAccount(s.from)
	other := s.Other()
	s.deliver(t, rails.FedNow, s.credit(rails.FedNow, 1, naming(coretest.VirtualNumber(1))))
	for bank, want := range map[*coretest.Bank]int64{s.Bank: 25_00, other: 0} {
		found, err := bank.VirtualAccounts.Page(bank.Staff(),
			virtualaccounts.Search{Number: virtualaccounts.Number(coretest.VirtualNumber(1))}, page.First(2))
		if err != nil || len(found.Items) != 1 || found.Items[0].BalanceMinor != want {
			t.Error(found, err)
		}
	}
}
