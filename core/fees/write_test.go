package fees_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/changes"
	"bankgraph/core/coretest"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/fees"
	"bankgraph/core/given"
)

// gold returns a draft that a configured bank accepts.
func gold(edits ...func(*fees.Draft)) fees.Draft {
	d := fees.Draft{
		Application: given.Of("payments"), Product: given.Of("OUTGOING payment"), FeeName: given.Of("spot"),
		FeeTier: given.Of("gold"),
	}
	for _, edit := range edits {
		edit(&d)
	}
	return d
}

// configured makes a bank with a catalogue.
func configured(t *testing.T) *coretest.Bank {
	t.Helper()
	bank := coretest.New(t)
	bank.Configured("Payments", "Outgoing Payment", "SPOT", "Gold")
	bank.Configured("Payments", "Outgoing Payment", "SPOT", "Silver")
	bank.Configured("Payments", "Incoming Payment", "TN", "Platinum")
	return bank
}

func held(t *testing.T, bank *coretest.Bank, c *customers.Customer) []*fees.Tier {
	t.Helper()
	found, err := of(bank, bank.Staff(), c.UID)
	if err != nil {
		t.Fatal(err)
	}
	return found[c.UID]
}

func TestATierNamesWhatTheBankIsConfiguredFor(t *testing.T) {
	t.Parallel()
	bank := configured(t)
	customer, other := bank.Customer(), bank.Customer()
	account, foreign := bank.Account(customer), bank.Account(other)
	for name, c := range map[string]struct {
		draft fees.Draft
		want  string
	}{
		"nothing": {
			fees.Draft{}, "application REQUIRED feeTier REQUIRED feeName REQUIRED product REQUIRED",
		},
		"another application": {
			gold(func(d *fees.Draft) { d.Application = given.Of("Shoes") }), "application NOTFOUND",
		},
		"another product": {gold(func(d *fees.Draft) { d.Product = given.Of("Shoes") }), "product NOTFOUND"},
		"the other's fee": {gold(func(d *fees.Draft) { d.FeeName = given.Of("TN") }), "feeName NOTFOUND"},
		"the other's tier": {
			gold(func(d *fees.Draft) { d.FeeTier = given.Of("Platinum") }),
			"feeTier NOTFOUND",
		},
		"long": {
			gold(func(d *fees.Draft) { d.FeeTier = given.Of(strings.Repeat("x", 256)) }), "feeTier MAX",
		},
		"odd account": {
			gold(func(d *fees.Draft) { d.AccountNumber = given.Of("12-3") }), "accountNumber INVALID",
		},
		"nobody's account": {
			gold(func(d *fees.Draft) { d.AccountNumber = given.Of("4711") }), "accountNumber NOTFOUND",
		},
		"somebody's account": {
			gold(func(d *fees.Draft) { d.AccountNumber = given.Of(coretest.AccountNumber(foreign.UID)) }),
			"accountNumber NOTFOUND",
		},
		"one's own": {
			gold(func(d *fees.Draft) { d.AccountNumber = given.Of(coretest.AccountNumber(account.UID)) }), "",
		},
		"for all accounts too": {gold(), ""},
	} {
		_, err := bank.Fees.Add(bank.Staff(), customer.UID, c.draft, changes.RequestOptions{})
		if got := blamed(err); got != c.want || (err == nil) != (c.want == "") {
			t.Errorf("%s: %s (%v), want %s", name, got, err, c.want)
		}
	}
	for _, tier := range held(t, bank, customer) {
		if tier.Application != "Payments" || tier.Product != "Outgoing Payment" || tier.FeeName != "SPOT" ||
			tier.FeeTier != "Gold" || tier.Status != fees.Active {
			t.Errorf("not as the catalogue writes it: %+v", tier)
		}
	}
	if n := len(held(t, bank, customer)); n != 2 {
		t.Errorf("%d tiers", n)
	}
}

func blamed(err error) string {
	var several fault.Faults
	var words []string
	if errors.As(err, &several) {
		for _, f := range several {
			words = append(words, f.Field, string(f.Problem))
		}
	}
	return strings.Join(words, " ")
}

func TestACustomerHasOneTierOfAFee(t *testing.T) {
	t.Parallel()
	bank := configured(t)
	customer := bank.Customer()
	errs := make([]error, 6)
	var all sync.WaitGroup
	for i := range errs {
		all.Go(func() {
			_, errs[i] = bank.Fees.Add(bank.Staff(), customer.UID, gold(func(d *fees.Draft) {
				if i%2 == 0 {
					d.FeeTier = given.Of("Silver")
				}
			}), changes.RequestOptions{})
		})
	}
	all.Wait()
	won := 0
	for _, err := range errs {
		if err == nil {
			won++
		} else if !errors.Is(err, fees.ErrTaken) {
			t.Error(err)
		}
	}
	if won != 1 {
		t.Errorf("%d of them are there", won)
	}
}

func TestAFeeTierIsChanged(t *testing.T) {
	t.Parallel()
	bank := configured(t)
	partner := bank.DownstreamPartner()
	customer, ours := bank.Customer(coretest.OwnedBy(partner)), bank.Customer()
	account := bank.Account(customer)
	tier, hidden := bank.Fee(customer), bank.Fee(ours)
	silver := fees.Draft{
		FeeTier: given.Of("silver"), AccountNumber: given.Of(coretest.AccountNumber(account.UID)),
	}
	for name, c := range map[string]struct {
		ctx   context.Context
		of    customers.UID
		id    fees.ID
		draft fees.Draft
		want  error
	}{
		"nobody":              {bank.Nobody(), customer.UID, tier.ID, silver, access.ErrUnauthenticated},
		"a reader":            {bank.Reader(), customer.UID, tier.ID, silver, access.ErrDenied},
		"of another customer": {bank.Staff(), ours.UID, tier.ID, silver, fees.ErrNotFound},
		"another partner's":   {bank.Partner(partner), 0, hidden.ID, silver, fees.ErrNotFound},
		"not configured": {
			bank.Staff(), customer.UID, tier.ID,
			fees.Draft{FeeTier: given.Of("Platinum")},
			nil,
		},
		"its own": {bank.Partner(partner), 0, tier.ID, fees.Draft{FeeTier: given.Of("silver")}, nil},
		"ours":    {bank.Staff(), 0, tier.ID, fees.Draft{AccountNumber: silver.AccountNumber}, nil},
	} {
		_, err := bank.Fees.Change(c.ctx, c.of, c.id, c.draft, changes.RequestOptions{})
		if name == "not configured" {
			if blamed(err) != "feeTier NOTFOUND" {
				t.Errorf("%s: %v", name, err)
			}
		} else if !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	got := held(t, bank, customer)[0]
	if got.FeeTier != "Silver" || got.Account == nil || *got.Account != account.UID || got.Version != 3 ||
		got.FeeName != "SPOT" {
		t.Errorf("%+v", got)
	}
	if _, err := bank.Fees.Change(bank.Staff(), 0, tier.ID, fees.Draft{AccountNumber: given.Of("")},
		changes.RequestOptions{Version: 1}); !errors.Is(err, changes.ErrStale) {
		t.Error(err)
	}
	if _, err := bank.Fees.Change(bank.Staff(), 0, tier.ID, fees.Draft{AccountNumber: given.Of("")},
		changes.RequestOptions{Version: 3}); err != nil || held(t, bank, customer)[0].Account != nil {
		t.Error(err)
	}
}

func TestAFeeTierWaitsForASecondPerson(t *testing.T) {
	t.Parallel()
	for _, approve := range []bool{true, false} {
		bank := configured(t)
		customer := bank.Customer(func(c *customers.Customer) { c.Access.FeeTierForApproval = true })
		number := coretest.AccountNumber(bank.Account(customer).UID)
		out, err := bank.Fees.Add(bank.Staff(), customer.UID,
			gold(func(d *fees.Draft) { d.AccountNumber = given.Of(number) }),
			changes.RequestOptions{IdempotencyKey: "k"})
		if err != nil || out.Approval == 0 {
			t.Fatal(out, err)
		}
		if all := held(t, bank, customer); len(all) != 1 || all[0].Status != fees.Pending ||
			len(fees.Counting(all)) != 0 {
			t.Errorf("%+v counts before it was approved", all)
		}
		if _, err := bank.Changes.Approve(bank.Staff(), changes.UID(out.Approval),
			changes.RequestOptions{}); !errors.Is(err, changes.ErrOwn) {
			t.Error(err)
		}
		decide, left := bank.Changes.Refuse, 0
		if approve {
			decide, left = bank.Changes.Approve, 1
		}
		if _, err := decide(bank.Checker(), changes.UID(out.Approval), changes.RequestOptions{}); err != nil {
			t.Fatal(err)
		}
		if all := held(t, bank, customer); len(all) != left || len(fees.Counting(all)) != left {
			t.Errorf("%+v", all)
		}
		var record string
		err = bank.DB.NewRaw(
			`SELECT concat((SELECT json_agg(x) FROM audit_entries x WHERE tenant = ?0), (SELECT json_agg(x)
				FROM events x WHERE tenant = ?0),
			(SELECT json_agg(x) FROM idempotency_keys x WHERE tenant = ?0), (SELECT json_agg(x)
				FROM approvals x WHERE tenant = ?0))`, bank.Tenant).Scan(t.Context(), &record)
		if err != nil || strings.Contains(record, number) || !strings.Contains(record, "addFeeTier") {
			t.Errorf("%v %s", err, record)
		}
	}
}

// A tier counts for the account that people approved, not for another one that has its number by then.
func TestATierIsChangedToTheAccountThatWasApproved(t *testing.T) {
	t.Parallel()
	bank := configured(t)
	customer := bank.Customer()
	first, asked, other := bank.Account(customer), bank.Account(customer), bank.Account(customer)
	made, err := bank.Fees.Add(bank.Staff(), customer.UID, gold(func(d *fees.Draft) {
		d.AccountNumber = given.Of(coretest.AccountNumber(first.UID))
	}), changes.RequestOptions{})
	if err != nil || made.Approval != 0 {
		t.Fatal(made, err)
	}
	bank.Exec(`UPDATE customers SET access_fee_tier_for_approval = true WHERE tenant = ? AND uid = ?`,
		bank.Tenant, customer.UID)
	moved := func(to accounts.UID, before func()) error {
		out, err := bank.Fees.Change(bank.Staff(), customer.UID, made.Result.ID,
			fees.Draft{AccountNumber: given.Of(coretest.AccountNumber(to))}, changes.RequestOptions{})
		if err != nil || out.Approval == 0 {
			t.Fatal(out, err)
		}
		before()
		_, err = bank.Changes.Approve(bank.Checker(), changes.UID(out.Approval), changes.RequestOptions{})
		if err != nil {
			_, refused := bank.Changes.Refuse(bank.Checker(), changes.UID(out.Approval), changes.RequestOptions{})
			err = errors.Join(err, refused)
		}
		return err
	}
	err = moved(asked.UID, func() { bank.Renumber(asked.UID, other.UID) })
	if !errors.Is(err, changes.ErrStale) {
		t.Errorf("approved after another account got the number: %v", err)
	}
	if err := moved(first.UID, func() {}); err != nil {
		t.Error(err)
	}
}

// What a customer pays is the bank's income: a partner asks for less, and the bank decides.
func TestAPartnerMakesNothingCheaperByItself(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		add    bool
		draft  fees.Draft
		at     bool // the account
		before string
		waits  bool
	}{
		"a dearer tier":                {draft: fees.Draft{FeeTier: given.Of("Platinum")}},
		"the same price":               {draft: fees.Draft{FeeTier: given.Of("Bronze")}},
		"a cheaper tier":               {draft: fees.Draft{FeeTier: given.Of("Silver")}, waits: true},
		"a tier in another currency":   {draft: fees.Draft{FeeTier: given.Of("Euro")}, waits: true},
		"a tier of another fee":        {draft: fees.Draft{FeeName: given.Of("TN")}, waits: true},
		"a tier of one account alone":  {at: true, waits: true},
		"one more for an account":      {add: true, draft: gold(), at: true},
		"a cheaper one for an account": {add: true, draft: gold(tierOf("Silver")), at: true, waits: true},
		"a first one of another fee": {
			add:   true,
			draft: gold(tierOf("Silver"), func(d *fees.Draft) { d.FeeName = given.Of("TN") }),
		},
		"one that the catalogue forgot": {draft: fees.Draft{FeeTier: given.Of("Silver")}, before: "Gold"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bank := coretest.New(t)
			for _, fee := range []string{"SPOT", "TN"} {
				for _, tier := range []string{"Gold", "Silver", "Bronze", "Platinum", "Euro"} {
					bank.Configured("Payments", "Outgoing Payment", fee, tier)
				}
			}
			bank.Exec(`UPDATE fee_catalogue SET price = CASE fee_tier WHEN 'Silver' THEN 1249 WHEN 'Platinum' THEN 1251
				ELSE price END, currency = CASE fee_tier WHEN 'Euro' THEN 'EUR'
				ELSE currency END WHERE tenant = ?`, bank.Tenant)
			partner := bank.DownstreamPartner()
			customer := bank.Customer(coretest.OwnedBy(partner))
			account := bank.Account(customer)
			first, err := bank.Fees.Add(bank.Staff(), customer.UID, gold(), changes.RequestOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if c.before != "" {
				bank.Exec(`DELETE FROM fee_catalogue WHERE tenant = ? AND fee_tier = ?`, bank.Tenant, c.before)
			}
			if c.at {
				c.draft.AccountNumber = given.Of(coretest.AccountNumber(account.UID))
			}
			change := func(ctx context.Context) (changes.Outcome[fees.Saved], error) {
				if c.add {
					return bank.Fees.Add(ctx, customer.UID, c.draft, changes.RequestOptions{})
				}
				return bank.Fees.Change(ctx, customer.UID, first.Result.ID, c.draft, changes.RequestOptions{})
			}
			out, err := change(bank.Partner(partner))
			if err != nil || (out.Approval != 0) != c.waits {
				t.Fatalf("%+v %v", out, err)
			}
			if !c.waits {
				return
			}
			if _, err := bank.Changes.Approve(bank.Checker(), changes.UID(out.Approval),
				changes.RequestOptions{}); err != nil {
				t.Fatal(err)
			}
			var decides access.Reach
			if err := bank.DB.NewRaw(`SELECT decides FROM approvals
				WHERE tenant = ? AND uid = ?`, bank.Tenant,
				out.Approval).Scan(t.Context(), &decides); err != nil || decides != access.OfBank {
				t.Errorf("%s decides: %v", decides, err)
			}
		})
	}
}

// What is charged counts, by whatever steps, and in whatever order, tiers come to it.
func TestAPartnerMakesNothingCheaperInSteps(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	for product, price := range map[string]int64{"Wire": 100, "Other": 50} {
		for _, fee := range []string{"SPOT", "TN"} {
			for _, tier := range []string{"Gold", "Free"} {
				bank.Configured("Payments", product, fee, tier)
			}
		}
		bank.Exec(`UPDATE fee_catalogue SET price = CASE fee_tier WHEN 'Free' THEN 0 ELSE ? END
			WHERE tenant = ? AND product = ?`, price, bank.Tenant, product)
	}
	partner := bank.DownstreamPartner()
	add := func(ctx context.Context, to *customers.Customer, product, fee, tier, number string) (fees.ID, bool) {
		t.Helper()
		out, err := bank.Fees.Add(ctx, to.UID, gold(tierOf(tier), func(d *fees.Draft) {
			d.Product, d.FeeName, d.AccountNumber = given.Of(product), given.Of(fee), given.Of(number)
		}), changes.RequestOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return out.Result.ID, out.Approval != 0
	}
	change := func(to *customers.Customer, id fees.ID, draft fees.Draft) bool {
		t.Helper()
		out, err := bank.Fees.Change(bank.Partner(partner), to.UID, id, draft, changes.RequestOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return out.Approval != 0
	}
	for name, by := range map[string]func(*customers.Customer, string) bool{
		"a free one of another fee, for an account, becomes one of the fee": func(
			of *customers.Customer, number string,
		) bool {
			id, waits := add(bank.Partner(partner), of, "Wire", "TN", "Free", number)
			if waits {
				t.Error("a first tier of a fee waits")
			}
			add(bank.Staff(), of, "Wire", "SPOT", "Gold", "")
			return change(of, id, fees.Draft{FeeName: given.Of("SPOT")})
		},
		"an older one of another product comes first": func(of *customers.Customer, _ string) bool {
			id, _ := add(bank.Partner(partner), of, "Other", "TN", "Gold", "")
			add(bank.Staff(), of, "Wire", "SPOT", "Gold", "")
			return change(of, id, fees.Draft{FeeName: given.Of("SPOT")})
		},
		"one of an account becomes the whole customer's": func(of *customers.Customer, number string) bool {
			id, _ := add(bank.Partner(partner), of, "Other", "SPOT", "Gold", number)
			add(bank.Staff(), of, "Wire", "SPOT", "Gold", "")
			return change(of, id, fees.Draft{AccountNumber: given.Of("")})
		},
	} {
		of := bank.Customer(coretest.OwnedBy(partner))
		if !by(of, coretest.AccountNumber(bank.Account(of).UID)) {
			t.Errorf("%s, and nobody of the bank was asked", name)
		}
	}
	// a dearer one that does not come first, and a cheaper one behind it
	of := bank.Customer(coretest.OwnedBy(partner))
	add(bank.Staff(), of, "Wire", "SPOT", "Gold", "")
	if _, waits := add(bank.Partner(partner), of, "Other", "SPOT", "Gold", ""); waits {
		t.Error("a tier that charges nobody less waits")
	}
}

// The second person of a partner does not agree for the bank to what has become its to decide.
func TestATierThatHasBecomeCheaperIsTheBanksToApprove(t *testing.T) {
	t.Parallel()
	bank := configured(t)
	bank.Exec(`UPDATE fee_catalogue SET price = 1 WHERE tenant = ? AND fee_tier = 'Silver'`, bank.Tenant)
	partner := bank.DownstreamPartner()
	of := bank.Customer(coretest.OwnedBy(partner),
		func(c *customers.Customer) { c.Access.FeeTierForApproval = true })
	number := coretest.AccountNumber(bank.Account(of).UID)
	out, err := bank.Fees.Add(bank.PartnersPerson(partner), of.UID,
		gold(tierOf("Silver"), func(d *fees.Draft) { d.AccountNumber = given.Of(number) }),
		changes.RequestOptions{})
	if err != nil || out.Approval == 0 {
		t.Fatal(out, err)
	}
	given, err := bank.Fees.Add(bank.Staff(), of.UID, gold(), changes.RequestOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := bank.Changes.Approve(bank.Checker(), changes.UID(given.Approval),
		changes.RequestOptions{}); err != nil {
		t.Fatal(err)
	}
	second := bank.PartnersPerson(partner)
	if _, err := bank.Changes.Approve(second, changes.UID(out.Approval),
		changes.RequestOptions{}); !errors.Is(err, changes.ErrNotYours) {
		t.Errorf("a person of the partner: %v", err)
	}
	if _, err := bank.Changes.Approve(bank.Checker(), changes.UID(out.Approval),
		changes.RequestOptions{}); err != nil {
		t.Error(err)
	}
}

func tierOf(name string) func(*fees.Draft) {
	return func(d *fees.Draft) { d.FeeTier = given.Of(name) }
}

func TestTheCatalogueIsTheOperators(t *testing.T) {
	t.Parallel()
	bank := configured(t)
	operator := access.Operator(t.Context(), bank.Tenant, bank.Code, coretest.Zone())
	fee := fees.Fee{Application: "Payments", Product: "Outgoing Payment", FeeName: "ON", FeeTier: "Gold"}
	for name, c := range map[string]struct{ price, currency, want string }{
		"no price": {"", "USD", "price REQUIRED"}, "negative": {"-1", "USD", "price MIN"},
		"parts of a cent": {"0.001", "USD", "price INVALID"}, "no currency": {"1", "XXY", "currency INVALID"},
	} {
		if err := bank.Fees.Configure(operator, fee, c.price, c.currency); !strings.HasPrefix(blamed(err), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := bank.Fees.Configure(bank.Staff(), fee, "1", "USD"); !errors.Is(err, access.ErrDenied) {
		t.Error(err)
	}
	if err := errors.Join(bank.Fees.Configure(operator, fee, "12.5", "usd"),
		bank.Fees.Configure(operator,
			fees.Fee{Application: "payments", Product: "outgoing payment", FeeName: "on", FeeTier: "GOLD"}, "9",
			"EUR")); err != nil {
		t.Fatal(err)
	}
	prices := func() (all []string) {
		found, err := bank.Fees.Catalogue(bank.Reader())
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range found {
			all = append(all, f.String()+" "+f.Price().String()+" "+string(f.Currency))
		}
		return all
	}
	if got := prices(); len(got) != 4 ||
		!slices.Contains(got, "Payments / Outgoing Payment / ON / Gold 9.00 EUR") {
		t.Errorf("%q", got)
	}
	if err := bank.Fees.Unconfigure(operator, fee); err != nil || len(prices()) != 3 {
		t.Error(err, prices())
	}
	if err := bank.Fees.Unconfigure(operator, fee); !errors.Is(err, fees.ErrNotConfigured) {
		t.Error(err)
	}
	if err := bank.Fees.Unconfigure(bank.Staff(), fee); !errors.Is(err, access.ErrDenied) {
		t.Error(err)
	}
	if _, err := bank.Fees.Catalogue(bank.As(access.ViewAccounts)); !errors.Is(err, access.ErrDenied) {
		t.Error(err)
	}
}

// All tiers of a customer are read with it: one that adds tiers without end would take the memory of all.
func TestACustomerHasSoManyTiers(t *testing.T) {
	t.Parallel()
	bank := configured(t)
	customer, other := bank.Customer(), bank.Customer()
	account := bank.Account(customer)
	several := func(first, n int, status fees.Status) {
		bank.Exec(`INSERT INTO fee_tiers (tenant, customer, application, fee_tier, account, product,
			fee_name, status)
			SELECT ?, ?, 'Payments', 'Gold', ?, 'Outgoing Payment', 'Fee ' || n, ?
			FROM generate_series(?, ?) AS n`,
			bank.Tenant, customer.UID, account.UID, status, first, first+n-1)
	}
	several(1, 100, fees.Refused)
	several(1000, fees.MostOfCustomer-1, fees.Active)
	if _, err := bank.Fees.Add(bank.Staff(), customer.UID, gold(), changes.RequestOptions{}); err != nil {
		t.Fatal(err)
	}
	one := gold(func(d *fees.Draft) { d.AccountNumber = given.Of(coretest.AccountNumber(account.UID)) })
	if _, err := bank.Fees.Add(bank.Staff(), customer.UID, one, changes.RequestOptions{}); !errors.Is(err,
		fees.ErrMany) {
		t.Errorf("one too many: %v", err)
	}
	if _, err := bank.Fees.Add(bank.Staff(), other.UID, gold(), changes.RequestOptions{}); err != nil {
		t.Errorf("another customer: %v", err)
	}
	several(2000, 50, fees.Active) // as before there was a bound
	if tiers := held(t, bank, customer); len(tiers) != fees.MostOfCustomer || tiers[0].FeeName != "Fee 1000" {
		t.Errorf("%d tiers are read", len(tiers))
	}
}

// What payments cost is read for all that are due together: a customer with a tier for each of a hundred
// thousand accounts would stop everybody's.
func TestTiersOfOtherAccountsAreNotRead(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	customer := bank.Customer()
	account := bank.Account(customer)
	bank.Configured("Payments", "Outgoing Payment", "Wire", "Gold")
	bank.Fee(customer, func(f *fees.Tier) { f.FeeName = "Wire" })
	bank.Exec(`INSERT INTO fee_tiers (tenant, customer, application, fee_tier, account, product, fee_name)
		SELECT ?, ?, 'Payments', 'Gold', ?, 'Outgoing Payment', 'Fee ' || n
		FROM generate_series(1, 20000) AS n`, bank.Tenant, customer.UID, bank.Account(customer).UID)
	var lines []string
	err := bank.DB.InTx(t.Context(), int64(bank.Tenant), func(ctx context.Context, tx bun.Tx) error {
		_, set := tx.NewRaw("SET LOCAL plan_cache_mode = force_generic_plan").Exec(ctx)
		_, prepared := tx.NewRaw("PREPARE charging (bigint) AS " + fees.ChargingText).Exec(ctx)
		if err := errors.Join(set, prepared); err != nil {
			return err
		}
		err := tx.NewRaw(fmt.Sprintf("EXPLAIN (ANALYZE, TIMING OFF, COSTS OFF) EXECUTE charging (%d, "+
			"'{%d}', '{}', '{wire}')",
			bank.Tenant, account.UID)).Scan(ctx, &lines)
		_, ended := tx.NewRaw("DEALLOCATE charging").Exec(ctx)
		return errors.Join(err, ended)
	})
	plan := strings.Join(lines, "\n")
	read := regexp.MustCompile(`on fee_tiers .*(\n +[A-Z][^>]*)+`).FindString(plan)
	if err != nil || !strings.Contains(plan, "(actual rows=1") || strings.Contains(read, "Rows Removed") {
		t.Errorf("%v:\n%s\n%s", err, read, plan)
	}
}
