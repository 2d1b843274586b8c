package payments_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"bankgraph/core/access"
	"bankgraph/core/changes"
	"bankgraph/core/fault"
	"bankgraph/core/payments"
	"bankgraph/core/rails"
	"bankgraph/core/rails/iso20022"
	"bankgraph/core/sandbox"
)

// unclear asks for an invoice number, in words that name somebody.
func unclear(edits ...func(*payments.InformationDraft)) payments.InformationDraft {
	d := payments.InformationDraft{
		Missing: []*payments.InformationItem{{Code: "NARR", Info: "Which invoice of Grace Hopper?"}},
		Party:   "Grete Hermann",
	}
	for _, edit := range edits {
		edit(&d)
	}
	return d
}

func (s *sender) ask(uid payments.UID, d payments.InformationDraft) (payments.SavedInformation, error) {
	out, err := s.Payments.RequestInformation(s.Staff(), uid, d, changes.RequestOptions{})
	return out.Result, err
}

// asked returns what was asked about a payment, as OUT NARR, with its answer.
func (s *sender) asked(
	t *testing.T, uid payments.UID,
) (all []string, requests []*payments.InformationRequest) {
	t.Helper()
	h, err := s.Payments.InformationHistory(s.Staff(), uid)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range h.Requests {
		text := string(r.Direction) + " " + r.Codes
		if r.AnsweredAt != nil {
			text += ": " + strings.Join(r.Heard, "; ")
		}
		all = append(all, text)
	}
	return all, h.Requests
}

func (s *sender) hasAsked(t *testing.T, uid payments.UID, want ...string) {
	t.Helper()
	if got, _ := s.asked(t, uid); strings.Join(got, " | ") != strings.Join(want, " | ") {
		t.Errorf("was asked: %q, want %q", got, want)
	}
}

// over lets the account reach one instant network alone.
func (s *sender) over(network rails.Rail) {
	if network == rails.RTP {
		s.Exec(`UPDATE accounts SET fednow_send = false, fednow_rfp_send = false
			WHERE tenant = ? AND uid = ?`, s.Tenant, s.from.UID)
	}
}

func TestTheOtherBankAnswersWhatIsAskedAboutAPayment(t *testing.T) {
	t.Parallel()
	for _, network := range []rails.Rail{rails.FedNow, rails.RTP} {
		for _, way := range []payments.Direction{payments.Out, payments.In} {
			t.Run(string(network)+" "+string(way), func(t *testing.T) {
				t.Parallel()
				s := newSender(t)
				var uid payments.UID
				if way == payments.In {
					uid = s.play(t, network, "250.00")
				} else {
					s.over(network)
					uid = s.send(t, s.order("250.00", instantly)).UID
					s.run(t)
					s.run(t)
				}
				before, wrong := s.shows(t, uid), map[rails.Rail]string{rails.FedNow: "IN02", rails.RTP: "IN04"}[network]
				done, err := s.ask(uid, unclear(func(d *payments.InformationDraft) {
					d.Incorrect = []*payments.InformationItem{{Code: wrong}}
				}))
				if err != nil || done.Rail != network || done.Payment != uid {
					t.Fatal(done, err)
				}
				s.hasAsked(t, uid, "OUT NARR "+wrong)
				s.run(t)
				s.hasAsked(t, uid, "OUT NARR "+wrong)
				s.Clock.Advance(5 * time.Second)
				s.run(t)
				if sent := s.sent(t); !strings.HasSuffix(sent, "camt.026") {
					t.Error(sent)
				}
				all, requests := s.asked(t, uid)
				if len(all) != 1 || !strings.Contains(all[0], "NARR: supplied by the sandbox; "+wrong+": corrected") ||
					!strings.Contains(all[0], "Debtor: Customer of ") {
					t.Error(all)
				}
				if r := requests[0]; r.MessageID != done.MessageID || r.Said.Party != "Grete Hermann" ||
					r.Rail != network ||
					r.Said.Missing[0].Info != "Which invoice of Grace Hopper?" {
					t.Errorf("%+v", requests[0])
				}
				if after := s.shows(t, uid); after.Version != before.Version || after.State != before.State {
					t.Errorf("the payment was %s, and is %s", before.State, after.State)
				}
				s.Prove()
			})
		}
	}
}

// What a bank asks to be paid over RTP is asked about as well: its request is no transfer.
func TestARequestForPaymentOverRTPIsAskedAbout(t *testing.T) {
	t.Parallel()
	s := newDebtor(t)
	uid := s.asks(t, rails.RTP)
	done, err := s.ask(uid, unclear())
	if err != nil || done.Payment != uid {
		t.Fatal(done, err)
	}
	s.run(t)
	s.Clock.Advance(5 * time.Second)
	s.run(t)
	if all, _ := s.asked(t, uid); len(all) != 1 || !strings.Contains(all[0], "NARR: supplied by the sandbox") {
		t.Error(all)
	}
	s.lived(t, uid, "HOLD")
}

func TestALongQuestionGoesOnInFurtherEntriesAndComesBackWhole(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	uid := s.play(t, rails.FedNow, "250.00")
	long := strings.Repeat("What is this for? ", 27)
	if _, err := s.ask(uid,
		unclear(func(d *payments.InformationDraft) { d.Missing[0].Info = long })); err != nil {
		t.Fatal(err)
	}
	_, requests := s.asked(t, uid)
	if got := requests[0].Said.Missing[0].Info; got != long {
		t.Error(got)
	}
	_, err := s.ask(uid, unclear(func(d *payments.InformationDraft) {
		for range 3 {
			d.Missing = append(d.Missing, &payments.InformationItem{Code: "NARR", Info: long})
		}
	}))
	if f, _ := fault.Of(err); f == nil || f.Field != "missingInformation" || f.Problem != fault.Max {
		t.Errorf("sixteen entries: %v", err)
	}
}

func TestABankThatNeverAnswersLeavesTheQuestionOpen(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	uid := s.play(t, rails.RTP, "250.35")
	if _, err := s.ask(uid, unclear()); err != nil {
		t.Fatal(err)
	}
	s.run(t)
	s.Clock.Advance(time.Hour)
	s.run(t)
	s.hasAsked(t, uid, "OUT NARR")
}

func TestTheOtherBankAsksAboutWhatItGotAndWhatItSent(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	out, in := s.send(t, s.order("250.00", instantly)).UID, s.play(t, rails.RTP, "10.00")
	request := s.collect(t, s.order("250.22", asking)).UID
	s.run(t)
	s.run(t)
	for _, uid := range []payments.UID{out, in, request} {
		if _, err := s.Sandbox.PlayInformationRequest(s.Staff(), uid, sandbox.Inquiry{Code: "IN06"},
			changes.RequestOptions{}); err != nil {
			t.Fatal(err)
		}
		s.run(t)
		s.hasAsked(t, uid, "IN IN06")
		if _, requests := s.asked(t, uid); requests[0].Said.Party != "Customer of another bank" ||
			requests[0].Said.Incorrect[0].Code != "IN06" {
			t.Errorf("%+v", requests[0].Said)
		}
	}
	for _, uid := range []payments.UID{s.send(t, s.order("10.00", byWire)).UID, 4711} {
		_, err := s.Sandbox.PlayInformationRequest(s.Staff(), uid, sandbox.Inquiry{}, changes.RequestOptions{})
		if f, _ := fault.Of(err); f == nil || !sandbox.ErrNoInquiry.Is(f) && !payments.ErrNotFound.Is(f) {
			t.Error(err)
		}
	}
}

func TestOnlyTheBankOnTheOtherSideAsksAndAnswersAndOnce(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	uid := s.play(t, rails.FedNow, "250.35")
	done, err := s.ask(uid, unclear())
	if err != nil {
		t.Fatal(err)
	}
	s.run(t)
	var came struct {
		MessageID string `bun:"message_id"`
		Bank      string `bun:"bank"`
	}
	if err := s.DB.NewRaw(`SELECT message_id, bank FROM network_messages WHERE tenant = ? AND payment = ?
		AND kind = 'pacs.008'`,
		s.Tenant, uid).Scan(t.Context(), &came); err != nil {
		t.Fatal(err)
	}
	about := iso20022.Original{
		MessageID: came.MessageID, Type: iso20022.TypeCreditTransfer, CreatedAt: s.Now(),
		UETR: s.uetr(t, uid),
	}
	answer := func(n int, from, text string) iso20022.Message {
		return &iso20022.Information{
			Group: s.group(rails.FedNow, n), CaseID: done.MessageID, Original: about,
			OriginalAmount: s.credit(rails.FedNow, n).Amount,
			OriginalDate:   time.Date(2026, 11, 18, 0, 0, 0, 0, time.UTC), Text: []string{text},
			Sender: from, Receiver: ours,
		}
	}
	question := func(n int, from string) iso20022.Message {
		m := answer(n, from, "").(*iso20022.Information)
		return &iso20022.InformationRequest{
			Group: m.Group, CaseID: m.ID, Original: about, OriginalAmount: m.OriginalAmount,
			OriginalDate: m.OriginalDate, Missing: []iso20022.Lack{{Code: "MS01"}}, Sender: from, Receiver: m.Receiver,
		}
	}
	s.deliver(t, rails.FedNow, answer(1, "111000025", "of a stranger"), question(2, "111000025"))
	s.run(t)
	s.hasAsked(t, uid, "OUT NARR")
	s.deliver(t, rails.FedNow, answer(3, came.Bank, "Invoice 7"), answer(4, came.Bank, "Invoice 8"),
		question(5, came.Bank))
	s.run(t)
	s.deliver(t, rails.FedNow, answer(6, came.Bank, "Invoice 9"), answer(3, came.Bank, "Invoice 7"))
	s.run(t)
	s.hasAsked(t, uid, "OUT NARR: Invoice 7", "IN MS01")
}

func TestWhatCannotBeAskedIsRefused(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	in, wire := s.play(t, rails.RTP, "250.00"), s.play(t, rails.Fedwire, "250.00")
	queued := s.send(t, s.order("250.00", instantly)).UID
	request := s.collect(t, s.order("250.00", asking)).UID
	item := func(code, info string) []*payments.InformationItem {
		return []*payments.InformationItem{{Code: code, Info: info}}
	}
	for name, c := range map[string]struct {
		of    payments.UID
		edit  func(*payments.InformationDraft)
		want  *fault.Fault
		field string
	}{
		"nothing": {in, func(d *payments.InformationDraft) { d.Missing = nil }, nil, "missingInformation"},
		"null": {
			in, func(d *payments.InformationDraft) { d.Missing[0] = nil }, nil,
			"missingInformation[0]",
		},
		"no code": {
			in, func(d *payments.InformationDraft) { d.Missing = item(" ", "x") }, nil,
			"missingInformation[0].code",
		},
		"no words": {
			in, func(d *payments.InformationDraft) { d.Missing = item("NARR", " ") }, nil,
			"missingInformation[0].additionalInfo",
		},
		"unknown": {
			in, func(d *payments.InformationDraft) { d.Missing = item("MS02", "") }, nil,
			"missingInformation[0].code",
		},
		"unknown as wrong": {
			in, func(d *payments.InformationDraft) { d.Incorrect = item("IN99", "") }, nil,
			"incorrectInformation[0].code",
		},
		"of FedNow": {
			in, func(d *payments.InformationDraft) { d.Incorrect = item("IN02", "") }, payments.ErrOtherRail,
			"incorrectInformation[0].code",
		},
		"nobody": {in, func(d *payments.InformationDraft) { d.Party = "" }, nil, "initiatingPartyName"},
		"a long name": {
			in, func(d *payments.InformationDraft) { d.Party = strings.Repeat("a", 101) }, nil,
			"initiatingPartyName",
		},
		"long words": {
			in, func(d *payments.InformationDraft) { d.Missing[0].Info = strings.Repeat("a", 501) },
			nil, "missingInformation[0].additionalInfo",
		},
		"other signs": {
			in, func(d *payments.InformationDraft) { d.Missing[0].Info = "Ж" }, nil,
			"missingInformation[0].additionalInfo",
		},
		"a wire":       {wire, nil, payments.ErrNoInformation, ""},
		"not yet sent": {queued, nil, payments.ErrInformationEarly, ""},
		"a request":    {request, nil, payments.ErrOwnRequest, ""},
		"none":         {4711, nil, payments.ErrNoPayment, "paymentId"},
	} {
		d := unclear()
		if c.edit != nil {
			c.edit(&d)
		}
		_, err := s.ask(c.of, d)
		f, is := fault.Of(err)
		if !is || f.Field != c.field || c.want != nil && !c.want.Is(f) {
			t.Errorf("%s: %v on %+v, want %v on %s", name, err, f, c.want, c.field)
		}
	}
	for uid, want := range map[payments.UID]error{wire: payments.ErrNoInformation, 4711: payments.ErrNoPayment} {
		if _, err := s.Payments.InformationHistory(s.Staff(), uid); !errors.Is(err, want) {
			t.Errorf("the history of %s: %v", uid, err)
		}
	}
}

func TestAfterAReturnOrARecallMoreCanBeAsked(t *testing.T) {
	t.Parallel()
	for amount, edit := range map[string]func(*sender, payments.UID){
		"10.11": nil,
		"10.31": func(s *sender, uid payments.UID) { _, _ = s.reverse(uid, payments.Reversal{Code: "CUST"}) },
		"10.00": func(s *sender, uid payments.UID) { _, _ = s.reverse(uid, payments.Reversal{Code: "CUST"}) },
	} {
		s := newSender(t)
		uid := s.send(t, s.order(amount, instantly)).UID
		s.run(t)
		s.run(t)
		if edit != nil {
			edit(s, uid)
		}
		s.Clock.Advance(2 * time.Minute)
		s.run(t)
		s.Clock.Advance(time.Minute)
		s.run(t)
		if _, err := s.ask(uid, unclear()); err != nil {
			t.Errorf("%s, %s: %v", amount, s.life(t, uid), err)
		}
	}
	s := newSender(t)
	uid := s.send(t, s.order("10.01", instantly)).UID
	s.run(t)
	s.run(t)
	if _, err := s.ask(uid, unclear()); !errors.Is(err, payments.ErrInformationEarly) {
		t.Errorf("%s: %v", s.life(t, uid), err)
	}
}

func TestNoMoreThanAHundredQuestionsAboutAPayment(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	uid := s.play(t, rails.RTP, "250.00")
	if _, err := s.ask(uid, unclear()); err != nil {
		t.Fatal(err)
	}
	s.Exec(`INSERT INTO network_messages (tenant, id, rail, direction, kind, message_id, payment, body, at,
		handed_at)
		SELECT ?, -n, 'RTP', 'OUT', 'camt.026', 'Q' || n, ?, '', now(), now()
		FROM generate_series(1, 99) AS n`, s.Tenant, uid)
	s.Exec(`INSERT INTO information_requests (tenant, id, payment, rail, direction, bank, message_id, codes,
		asked_sealed, at)
		SELECT ?, -n, ?, 'RTP', 'OUT', '', 'Q' || n, '', '', now() FROM generate_series(1, 99) AS n`, s.Tenant, uid)
	if _, err := s.ask(uid, unclear()); !errors.Is(err, payments.ErrManyRequests) {
		t.Error(err)
	}
}

// The words of questions and answers may name people and accounts: they stand in no column and no record.
func TestTheWordsOfQuestionsAreSealed(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	uid := s.play(t, rails.RTP, "250.00")
	if _, err := s.ask(uid, unclear()); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Sandbox.PlayInformationRequest(s.Staff(), uid,
		sandbox.Inquiry{Code: "NARR", Info: "Who is Grace Hopper?"},
		changes.RequestOptions{}); err != nil {
		t.Fatal(err)
	}
	s.run(t)
	s.Clock.Advance(5 * time.Second)
	s.run(t)
	for _, table := range []string{
		"information_requests", "network_messages", "audit_entries", "events", "idempotency_keys",
	} {
		var found int
		if err := s.DB.NewRaw(fmt.Sprintf(`SELECT count(*) FROM %s AS x
			WHERE tenant = ? AND x::text ~ 'Hopper|Hermann|supplied'`, table),
			s.Tenant).Scan(t.Context(), &found); err != nil || found != 0 {
			t.Errorf("%s: %d, %v", table, found, err)
		}
	}
	var actions string
	err := s.DB.NewRaw(`SELECT string_agg(action, ' ' ORDER BY id) FROM audit_entries
		WHERE tenant = ? AND object = 'informationRequest'`,
		s.Tenant).Scan(t.Context(), &actions)
	if want := "requestInformation receiveInformationRequest receiveInformation"; err != nil ||
		actions != want {
		t.Errorf("%q, want %q: %v", actions, want, err)
	}
}

func TestWhoDoesNotSeeThePaymentNeitherAsksNorReads(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	uid := s.play(t, rails.RTP, "250.00")
	stranger := s.Partner(s.DownstreamPartner())
	if _, err := s.Payments.RequestInformation(stranger, uid, unclear(),
		changes.RequestOptions{}); !errors.Is(err, payments.ErrNoPayment) {
		t.Error(err)
	}
	if _, err := s.Payments.InformationHistory(stranger, uid); !errors.Is(err, payments.ErrNoPayment) {
		t.Error(err)
	}
	looks := s.As(access.ViewPayments)
	if _, err := s.Payments.RequestInformation(looks, uid, unclear(),
		changes.RequestOptions{}); !errors.Is(err, access.ErrDenied) {
		t.Error(err)
	}
}
