package payments_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"bankgraph/core/access"
	"bankgraph/core/attention"
	"bankgraph/core/changes"
	"bankgraph/core/coretest"
	"bankgraph/core/payments"
	"bankgraph/core/sandbox"
)

// A bank that was asked for the money of a payment and never answers is shown to people.
func TestARecallThatNobodyAnswersIsShownToPeople(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	p := s.send(t, s.order("10.33")) // which the other bank never answers when it is asked for it
	s.run(t)
	s.run(t)
	if _, err := s.reverse(p.UID, payments.Reversal{Code: "FRAD"}); err != nil {
		t.Fatal(err)
	}
	s.run(t)
	s.Clock.Set(s.Clock.Now().AddDate(0, 0, 90))
	s.run(t)
	s.run(t)
	list, err := s.Attention.List(s.Staff(), attention.Search{}, 200)
	if err != nil {
		t.Fatal(err)
	}
	told := ""
	for _, item := range list.Items {
		if item.UID == int64(p.UID) {
			told = string(item.Kind) + " " + item.Reason
		}
	}
	if told != "UNANSWERED its recall" {
		t.Errorf("after 90 days payment %s is %s, and people hear %q", p.UID, s.life(t, p.UID), told)
	}
}

// worksButHandsNothingOver does the bank's own work while the connection to the networks is down.
func (s *sender) worksButHandsNothingOver(t *testing.T, until string) {
	t.Helper()
	operator := access.Operator(t.Context(), s.Tenant, s.Code, coretest.Zone())
	for end := at(t, until); s.Clock.Now().Before(end); {
		s.Clock.Advance(30 * time.Minute)
		for _, work := range []func(context.Context) (int, error){
			s.Payments.SendQueued, s.Payments.SealFiles, s.Payments.SettleEntries, s.Payments.PostEntries,
		} {
			if _, err := work(operator); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// A return, or the entry that takes a credit back, in a file that the network has not taken is shown to
// people: its time passes.
func TestAReturnInAFileThatIsNotHandedOverIsShownToPeople(t *testing.T) {
	t.Parallel()
	s := newDebtor(t)
	uid := s.debit(t, settling(19))
	out := s.send(t, s.order("250.00", economy)).UID
	s.until(t, "2026-11-18 14:00")
	s.until(t, "2026-11-19 09:00")
	if err := s.sendBack(uid, "R29"); err != nil {
		t.Fatal(err)
	}
	if err := s.takeBack(out); err != nil {
		t.Fatal(err)
	}
	s.worksButHandsNothingOver(t, "2026-12-08 12:00")
	list, err := s.Attention.List(s.Staff(), attention.Search{Kind: []attention.Kind{attention.Late}}, 200)
	if err != nil {
		t.Fatal(err)
	}
	for _, item := range list.Items {
		if item.Customer == 0 && strings.HasPrefix(item.Reason, "the file ") {
			return
		}
	}
	t.Errorf("payments %s %s and %s %s, and nobody is told: %+v", uid, s.life(t, uid), out, s.life(t, out),
		list.Items)
}

// An instant network that does not get our acceptance has not paid: who is credited meanwhile is shown to
// people.
func TestAnAnswerThatIsNotHandedOverIsShownToPeople(t *testing.T) {
	t.Parallel()
	s := newDebtor(t)
	operator := access.Operator(t.Context(), s.Tenant, s.Code, coretest.Zone())
	if _, err := s.Sandbox.PlayCredit(s.Staff(),
		sandbox.Credit{Account: s.from.UID, Amount: "250.00", Rail: "FEDNOW"},
		changes.RequestOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Payments.Receive(operator); err != nil {
		t.Fatal(err)
	}
	uid := s.newest(t)
	s.worksButHandsNothingOver(t, "2026-11-20 12:00")
	list, err := s.Attention.List(s.Staff(), attention.Search{}, 200)
	if err != nil {
		t.Fatal(err)
	}
	if len(list.Items) != 1 || list.Items[0].UID != int64(uid) {
		t.Errorf("payment %s is %s, its network has no answer for two days, and nobody is told", uid,
			s.life(t, uid))
	}
}
