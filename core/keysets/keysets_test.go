package keysets_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core"
	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/changes"
	"bankgraph/core/contacts"
	"bankgraph/core/coretest"
	"bankgraph/core/customers"
	"bankgraph/core/files"
	"bankgraph/core/given"
	"bankgraph/core/keysets"
	"bankgraph/core/money"
	"bankgraph/core/page"
	"bankgraph/core/payments"
	"bankgraph/core/seal"
	"bankgraph/db"
)

// house is a bank whose keys can be rotated, with two processes; the second gets each change of the keys
// later.
type house struct {
	*coretest.Bank
	*testing.T
	file     seal.File
	late     *core.Core
	operator context.Context
	at       time.Time
}

func build(t *testing.T) *house {
	t.Helper()
	h := &house{T: t, file: seal.File{Path: filepath.Join(t.TempDir(), "keyset.json")}, at: time.Now()}
	h.must(seal.Create(h.file.Path))
	h.Bank = coretest.Under(t, h.load())
	h.late = h.process()
	h.operator = access.Operator(t.Context(), h.Tenant, h.Code, nil)
	return h
}

func (h *house) must(err error) {
	h.Helper()
	if err != nil {
		h.Fatal(err)
	}
}

func (h *house) load() *seal.Keys {
	h.Helper()
	keys, err := h.file.Load()
	h.must(err)
	return keys
}

func (h *house) process() *core.Core {
	return core.New(core.Options{DB: h.DB, Keys: h.load(), Now: h.Now})
}

// step takes a step of a rotation, an hour after the one before.
func (h *house) step(take func(time.Time) (seal.Info, error)) {
	h.Helper()
	h.at = h.at.Add(time.Hour)
	_, err := take(h.at)
	h.must(err)
}

func (h *house) add(at time.Time) (seal.Info, error) { return h.file.Add(true, at) }

func (h *house) reload(of ...*core.Core) {
	h.Helper()
	for _, c := range of {
		_, err := c.Keys.Reload()
		h.must(err)
	}
}

// promoted rotates the keys up to the point at which values are to be moved, in all processes.
func (h *house) promoted() {
	h.Helper()
	h.step(h.add)
	h.reload(h.Core, h.late)
	h.step(h.file.Promote)
	h.reload(h.Core, h.late)
}

// move moves everything, and returns how many rows.
func (h *house) move() (moved int) {
	h.Helper()
	for range 1000 {
		did, err := h.Keysets.Move(h.operator)
		h.must(err)
		h.must(did.Trouble)
		if moved += did.Moved; did.Done {
			return moved
		}
		if did.Idle {
			h.Fatal("it rests")
		}
	}
	h.Fatal("it does not end")
	return 0
}

func (h *house) left() []keysets.Left {
	h.Helper()
	left, _, err := h.Keysets.Prove(h.operator)
	h.must(err)
	return left
}

// retire finishes a rotation, as the command does.
func (h *house) retire() {
	h.Helper()
	proven := func() error {
		if left := h.left(); left != nil {
			return fmt.Errorf("%v", left)
		}
		return nil
	}
	h.step(func(at time.Time) (seal.Info, error) { return h.file.Retire(at, proven) })
	h.reload(h.Core, h.late)
	h.step(func(at time.Time) (seal.Info, error) { return h.file.Destroy(at, proven) })
	h.reload(h.Core, h.late)
}

// stock is one object of every kind with sealed values.
type stock struct {
	customer *customers.Customer
	account  *accounts.Account
	contact  *contacts.Contact
	approval changes.UID
}

func (h *house) stock() stock {
	h.Helper()
	s := stock{customer: h.Customer()}
	place := func(column string, row int64) seal.Place {
		return seal.Place{Tenant: int64(h.Tenant), Column: column, Row: row}
	}
	s.account = h.Account(s.customer, func(a *accounts.Account) {
		a.FBONumber = h.Keys.Seal("5500001", place(accounts.FBONumberColumn, int64(a.UID)))
		a.ExternalToken = h.Keys.Seal("token-of-the-provider", place(accounts.ExternalTokenColumn, int64(a.UID)))
	})
	s.contact = h.Contact(s.customer, func(k *contacts.Contact) {
		k.RegulatoryReporting = contacts.Report{
			k.Reported(h.Keys, "TaxId", "914820033"), k.Reported(h.Keys, "social", "000-12-3456"),
		}
	})
	asks := h.Customer(func(c *customers.Customer) { c.Access.CustomerDualApproval = true })
	out, err := h.Customers.Change(h.Staff(), asks.UID, customers.Draft{TaxID: given.Of("98-7654321")},
		changes.RequestOptions{})
	h.must(err)
	if s.approval = changes.UID(out.Approval); s.approval == 0 {
		h.Fatal("the change does not wait")
	}
	_, _, err = h.Clients.Sign(h.operator, "test", []byte("x"))
	h.must(err)
	return s
}

// finds searches for each object by its sealed value, in a process.
func (h *house) finds(c *core.Core, s stock, when string) {
	h.Helper()
	ctx := h.Staff()
	profile, err := c.Accounts.Lookup(ctx, coretest.AccountNumber(s.account.UID), "")
	if err != nil || profile == nil || profile.Account.UID != s.account.UID {
		h.Errorf("%s: the account is not found: %v, %v", when, profile, err)
	}
	batch := c.PrimaryBatch()
	one := c.Accounts.FindWith(ctx, batch, accounts.By{Number: coretest.AccountNumber(s.account.UID)},
		db.Columns{}, db.Columns{})
	all := c.Accounts.OfCustomers(ctx, batch, []customers.UID{s.customer.UID},
		accounts.Search{Number: coretest.AccountNumber(s.account.UID)}, db.Columns{}, page.First(10))
	payees := c.Contacts.OfCustomers(ctx, batch, []customers.UID{s.customer.UID},
		contacts.Search{AccountNumber: coretest.ContactNumber(s.contact.UID)}, db.Columns{}, page.First(10))
	whose := c.Customers.List(ctx, batch, customers.Search{TaxID: coretest.TaxID(s.customer.UID)}, db.Columns{},
		page.First(10))
	h.must(batch.Send(ctx))
	if len(one.Items) != 1 || len(all.Of[s.customer.UID]) != 1 || len(payees.Of[s.customer.UID]) != 1 ||
		len(whose.Items) != 1 {
		h.Errorf("%s: %d account, %d of its customer, %d contact, %d customer", when, len(one.Items),
			len(all.Of[s.customer.UID]), len(payees.Of[s.customer.UID]), len(whose.Items))
	}
	if _, _, err := c.Clients.Sign(h.operator, "test", []byte("x")); err != nil {
		h.Errorf("%s: the signing key: %v", when, err)
	}
}

func TestARotationMovesEverythingAndChangesNothing(t *testing.T) {
	t.Parallel()
	h := build(t)
	s := h.stock()
	twice := func(when string) {
		t.Helper()
		h.finds(h.Core, s, when)
		h.finds(h.late, s, when+", the other process")
	}
	twice("before")
	h.step(h.add)
	h.reload(h.Core)
	twice("added in one process")
	h.reload(h.late)
	h.step(h.file.Promote)
	h.reload(h.Core)
	if moved := h.Customer(); moved == nil || len(h.left()) == 0 {
		t.Fatal("nothing is under the old keys")
	}
	before := h.said()
	twice("promoted in one process")
	h.reload(h.late)
	twice("promoted")
	if moved := h.move(); moved < 6 {
		t.Errorf("moved %d rows", moved)
	}
	twice("moved")
	if left := h.left(); left != nil {
		t.Errorf("left: %+v", left)
	}
	h.retire()
	// signing keys are kept in memory for seconds, and the clock stands
	h.Core, h.late = h.process(), h.process()
	twice("retired")
	if now := h.said(); now != before {
		t.Errorf("the rotation has changed something:\n%s\n%s", before, now)
	}
	entries := h.entries()
	if !slices.Equal(entries, []string{"beginKeyRotation", "endKeyRotation"}) {
		t.Errorf("the record says %v", entries)
	}
	if _, err := h.Changes.Approve(h.Checker(), s.approval, changes.RequestOptions{}); err != nil {
		t.Errorf("the draft that waited: %v", err)
	}
	// The keys still open what they opened before.
	var report contacts.Report
	h.must(h.DB.NewRaw(`SELECT regulatory_reporting FROM contacts WHERE tenant = ? AND uid = ?`, h.Tenant,
		s.contact.UID).Scan(t.Context(), &report))
	for i, want := range []string{"914820033", "000-12-3456"} {
		if got, err := h.Keys.Open(report[i].Value, s.contact.ReportingPlace(report[i].Key)); got != want ||
			err != nil {
			t.Errorf("entry %d: %q, %v", i, got, err)
		}
	}
}

// said returns the content of all tables of the bank, without sealed values.
func (h *house) said() string {
	h.Helper()
	var all []string
	h.must(h.DB.NewRaw(
		`SELECT (to_jsonb(c) - '{tax_id_sealed,tax_id_hash}'::text[])::text FROM customers AS c WHERE tenant = ?0
		UNION ALL SELECT (to_jsonb(a) - '{number_sealed,number_hash,fbo_number_sealed,fbo_number_hash,
		  external_token_sealed,external_token_hash}'::text[])::text
			FROM accounts AS a WHERE tenant = ?0
		UNION ALL SELECT (to_jsonb(k) -
		  '{bank_account_number_sealed,bank_account_number_hash,regulatory_reporting}'::text[])::text
		FROM contacts AS k WHERE tenant = ?0
		UNION ALL SELECT (to_jsonb(w) - 'draft')::text FROM approvals AS w WHERE tenant = ?0
		UNION ALL SELECT count(*)::text || ' events' FROM events WHERE tenant = ?0
		ORDER BY 1`, h.Tenant).Scan(h.Context(), &all))
	return strings.Join(all, "\n")
}

// entries returns the actions of the audit entries about the keyset.
func (h *house) entries() (actions []string) {
	h.Helper()
	h.must(h.DB.NewRaw(`SELECT action FROM audit_entries WHERE tenant = ? AND object = 'keyset' ORDER BY id`,
		h.Tenant).Scan(h.Context(), &actions))
	return actions
}

// A column that holds sealed values and is not in the list would be lost with the first key that is
// destroyed.
func TestEverySealedColumnIsInTheList(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	var columns []string
	err := bank.DB.NewRaw(`SELECT table_name || '.' || column_name FROM information_schema.columns
		JOIN information_schema.tables USING (table_schema, table_name)
		WHERE table_schema = current_schema() AND data_type = 'bytea'
		AND table_type = 'BASE TABLE' ORDER BY 1`).Scan(t.Context(), &columns)
	if err != nil {
		t.Fatal(err)
	}
	// Hashes of values that are not stored cannot be made again, and the hashes of the audit chain are not
	// secret.
	others := []string{
		"clients.secret", "clients.former", "refresh_tokens.token", "idempotency_keys.request",
		"last_writes.caller",
	}
	columns = slices.DeleteFunc(columns,
		func(c string) bool { return slices.Contains(others, c) || strings.HasPrefix(c, "audit_") })
	want := slices.Sorted(slices.Values(keysets.Columns()))
	if slices.Sort(columns); !slices.Equal(columns, want) {
		t.Errorf("the schema has %v\nthe list has %v", columns, want)
	}
}

// A file of before a rotation is known again after it: what it pays is not paid twice.
func TestTheSameFileIsRefusedAcrossARotation(t *testing.T) {
	t.Parallel()
	h := build(t)
	of := h.Customer().UID
	upload := func() error {
		_, err := h.Files.Upload(h.Staff(), files.Upload{
			Customer: of, Type: files.CSV, Open: files.OpenText("salaries.csv", strings.NewReader("of November")),
		}, changes.RequestOptions{})
		return err
	}
	h.must(upload())
	// a file from before this was kept
	h.Exec(`INSERT INTO bulk_files (tenant, uid, customer, name, type, status, channel, size, content_hash,
			maker, maker_client, created_at, updated_at, version)
		SELECT tenant, nextval('file_numbers'), customer, name, type, 'PROCESSED', channel, size, content_hash,
		  maker,
			maker_client, created_at, updated_at, version FROM bulk_files WHERE tenant = ?`, h.Tenant)
	h.promoted()
	h.move()
	h.retire()
	if err := upload(); !errors.Is(err, files.ErrSame) {
		t.Errorf("the same file: %v", err)
	}
}

// Workers are killed at any moment, and others continue.
func TestAMoveThatIsCutOffGoesOn(t *testing.T) {
	t.Parallel()
	h := build(t)
	const many = 700 // more than a batch
	for range many {
		h.Customer()
	}
	h.promoted()
	cut := 0
	// each has more time than the one before, so that it ends on a slow machine
	for try, done := 0, false; !done; try++ {
		ctx, end := context.WithTimeout(h.operator, time.Duration(rand.IntN(2000*(try+1)))*time.Microsecond)
		did, err := h.process().Keysets.Move(ctx) // each time another worker
		end()
		if done = did.Done; err != nil {
			cut++
		}
		if try > 2000 {
			t.Fatal("it does not end: ", err)
		}
	}
	t.Logf("cut off %d times", cut)
	if left := h.left(); left != nil {
		t.Errorf("left: %+v", left)
	}
	var moved int64
	progress, err := h.Keysets.Progress(h.operator)
	h.must(err)
	for _, p := range progress {
		if moved += p.Moved; p.FinishedAt == nil {
			t.Errorf("%+v", p)
		}
	}
	if moved < many || moved > many+5 {
		t.Errorf("%d rows were moved for %d", moved, many)
	}
	if entries := h.entries(); !slices.Equal(entries, []string{"beginKeyRotation", "endKeyRotation"}) {
		t.Errorf("the record says %v", entries)
	}
	h.retire()
}

// A network's file takes megabytes. However many there are, a transaction moves few of them, and a proof reads
// few at a time.
func TestAMoveTakesNoMoreThanSomeMegabytesAtATime(t *testing.T) {
	t.Parallel()
	h := build(t)
	const many, size = 7, 3 << 20
	file := strings.Repeat("9", size)
	for id := range int64(many) {
		at := seal.Place{Tenant: int64(h.Tenant), Column: payments.BodyColumn, Row: id + 1}
		h.Exec(`INSERT INTO network_messages (tenant, id, rail, direction, kind, message_id, body, at)
			VALUES (?, ?, 'ACH', 'OUT', 'NACHA', ?, ?, now())`, h.Tenant, at.Row, at.Row, h.Keys.Encrypt(file, at))
	}
	h.promoted()
	largest := 0
	for done := false; !done; {
		did, err := h.Keysets.Move(h.operator)
		h.must(err)
		done, largest = did.Done, max(largest, did.Moved)
	}
	if largest != 3 {
		t.Errorf("%d were moved at a time", largest)
	}
	if left := h.left(); left != nil {
		t.Errorf("left: %+v", left)
	}
	h.retire()
}

func TestWorkersBesideEachOtherMoveEachRowOnce(t *testing.T) {
	t.Parallel()
	h := build(t)
	for range 600 {
		h.Customer()
	}
	h.promoted()
	var all sync.WaitGroup
	for range 4 {
		c := h.process()
		all.Go(func() {
			for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
				did, err := c.Keysets.Move(h.operator)
				if err != nil {
					t.Error(err)
				}
				if did.Done || err != nil {
					return
				}
			}
			t.Error("it does not end")
		})
	}
	all.Wait()
	if left := h.left(); left != nil || len(h.entries()) != 2 {
		t.Errorf("left %+v, the record says %v", left, h.entries())
	}
}

func TestALockedRowIsLeftForLater(t *testing.T) {
	t.Parallel()
	h := build(t)
	c := h.Customer()
	h.promoted()
	h.must(h.DB.InTx(t.Context(), int64(h.Tenant), func(_ context.Context, tx bun.Tx) error {
		if _, err := tx.NewRaw(`SELECT FROM customers WHERE tenant = ? AND uid = ? FOR UPDATE`, h.Tenant, c.UID).
			Exec(t.Context()); err != nil {
			return err
		}
		started, rests := time.Now(), false
		for range 50 {
			did, err := h.Keysets.Move(h.operator)
			if err != nil || did.Done {
				return fmt.Errorf("done with a row that is locked: %v, %w", did, err)
			}
			if rests = did.Idle; rests {
				break
			}
		}
		if !rests || time.Since(started) > 2*time.Second {
			return errors.New("it waits for the row, or asks for it again and again")
		}
		return nil
	}))
	if left := h.left(); len(left) != 1 || left[0] != (keysets.Left{Of: "customers", Rows: 1}) {
		t.Errorf("left: %+v", left)
	}
	h.Clock.Advance(2 * time.Minute)
	h.move()
	h.retire()
}

// A value that does not open is not lost: its key cannot be retired while it exists.
func TestWhatDoesNotOpenKeepsItsKey(t *testing.T) {
	t.Parallel()
	h := build(t)
	good, bad := h.Customer(), h.Customer()
	h.exec(`UPDATE customers SET tax_id_sealed = set_byte(tax_id_sealed, 20, get_byte(tax_id_sealed, 20) # 1)
		WHERE tenant = ? AND uid = ?`, bad.UID)
	h.promoted()
	var trouble error
	for range 20 {
		did, err := h.Keysets.Move(h.operator)
		h.must(err)
		if trouble = errors.Join(trouble, did.Trouble); did.Idle {
			break
		}
	}
	if !errors.Is(trouble, seal.ErrSealed) || !strings.Contains(trouble.Error(), "customers "+bad.UID.String()) {
		t.Errorf("it says %v", trouble)
	}
	if left := h.left(); len(left) != 1 || left[0].Rows != 1 {
		t.Errorf("left: %+v", left)
	}
	_, err := h.file.Retire(h.at.Add(time.Hour), func() error {
		if left := h.left(); left != nil {
			return errors.New("left")
		}
		return nil
	})
	if err == nil {
		t.Error("the key of what does not open is retired")
	}
	h.finds(h.Core, stock{customer: good, account: h.Account(good), contact: h.Contact(good)}, "the others")
}

func (h *house) exec(text string, of fmt.Stringer) {
	h.Helper()
	h.must(h.DB.InTx(h.Context(), int64(h.Tenant), func(ctx context.Context, tx bun.Tx) error {
		_, err := tx.NewRaw(text, h.Tenant, json.Number(of.String())).Exec(ctx)
		return err
	}))
}

func drafted(number string) accounts.Draft {
	deposit, checking, internal, usd := accounts.Deposit, accounts.Checking, accounts.InternalCore,
		money.Currency("USD")
	return accounts.Draft{
		Name: given.Of("Vendor Payments"), Number: given.Of(number), Type: &deposit, SubType: &checking,
		SystemOfRecord: &internal, Currency: &usd, CountryCode: given.Of("USA"), BankID: given.Of("611090001"),
		MasterGL: given.Of("201000"),
	}
}

// Two accounts never have the same number, whatever keys the writers have, while a worker moves the stored
// values.
func TestANumberIsUniqueThroughARotation(t *testing.T) {
	t.Parallel()
	h := build(t)
	owners := []*customers.Customer{h.Customer(), h.Customer(), h.Customer(), h.Customer()}
	numbers := 0
	race := func(when string, processes ...*core.Core) {
		t.Helper()
		for range 12 {
			numbers++
			number := fmt.Sprintf("40007%06d", numbers)
			var all sync.WaitGroup
			var mu sync.Mutex
			opened := 0
			for i := range 4 {
				c, owner := processes[i%len(processes)], owners[i]
				all.Go(func() {
					_, err := c.Accounts.Open(h.Staff(), owner.UID, drafted(number), changes.RequestOptions{})
					mu.Lock()
					defer mu.Unlock()
					switch {
					case err == nil:
						opened++
					case !errors.Is(err, accounts.ErrNumberTaken):
						t.Errorf("%s: %v", when, err)
					}
				})
			}
			all.Wait()
			if opened != 1 {
				t.Errorf("%s: number %s was opened %d times", when, number, opened)
			}
			for _, c := range processes { // nor later
				if _, err := c.Accounts.Open(h.Staff(), owners[0].UID, drafted(number),
					changes.RequestOptions{}); !errors.Is(err, accounts.ErrNumberTaken) {
					t.Errorf("%s: it is opened again: %v", when, err)
				}
			}
		}
	}
	again := func(when string, processes ...*core.Core) { // what was opened in any phase before
		t.Helper()
		for n := 1; n <= numbers; n++ {
			if _, err := processes[n%len(processes)].Accounts.Open(h.Staff(), owners[0].UID,
				drafted(fmt.Sprintf("40007%06d", n)),
				changes.RequestOptions{}); !errors.Is(err, accounts.ErrNumberTaken) {
				t.Errorf("%s: number %d is opened again: %v", when, n, err)
			}
		}
	}
	race("before", h.Core, h.late)
	h.step(h.add)
	h.reload(h.Core)
	race("added in one process", h.Core, h.late)
	h.reload(h.late)
	h.step(h.file.Promote)
	h.reload(h.Core)
	race("promoted in one process", h.Core, h.late)
	again("promoted in one process", h.Core, h.late)
	h.reload(h.late)
	stop, moving := make(chan struct{}), sync.WaitGroup{}
	moving.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				if _, err := h.Keysets.Move(h.operator); err != nil {
					t.Error(err)
				}
				h.Clock.Advance(2 * time.Minute)
			}
		}
	})
	race("while it is moved", h.Core, h.late)
	close(stop)
	moving.Wait()
	h.move()
	again("moved", h.Core, h.late)
	h.step(func(at time.Time) (seal.Info, error) { return h.file.Retire(at, func() error { return nil }) })
	h.reload(h.Core)
	race("retired in one process", h.Core, h.late)
	h.reload(h.late)
	again("retired", h.Core, h.late)
	race("after", h.Core, h.late)
	if left := h.left(); left != nil {
		t.Errorf("left: %+v", left)
	}
}

// A change that gives the account's present number is no change, even if the number's key was rotated.
func TestARotationIsNoChangeOfANumber(t *testing.T) {
	t.Parallel()
	h := build(t)
	owner := h.Customer()
	out, err := h.Accounts.Open(h.Staff(), owner.UID, drafted("4000700001"), changes.RequestOptions{})
	h.must(err)
	h.promoted()
	_, err = h.Accounts.Change(h.Staff(), owner.UID, out.Result.UID,
		accounts.Draft{Number: given.Of("4000700001"), Name: given.Of("Payroll")}, changes.RequestOptions{})
	h.must(err)
	var after string
	h.must(h.DB.NewRaw(`SELECT after::text FROM audit_entries WHERE tenant = ? AND action = 'changeAccount'`,
		h.Tenant).Scan(t.Context(), &after))
	if strings.Contains(after, "umber") || !strings.Contains(after, "Payroll") {
		t.Errorf("the record says that the number changed: %s", after)
	}
	h.move()
	h.retire()
}

func TestOnlyOperatorsMove(t *testing.T) {
	t.Parallel()
	h := build(t)
	if _, err := h.Keysets.Move(h.Staff()); !errors.Is(err, access.ErrDenied) {
		t.Errorf("moving: %v", err)
	}
	if _, _, err := h.Keysets.Prove(h.Staff()); !errors.Is(err, access.ErrDenied) {
		t.Errorf("proving: %v", err)
	}
	if _, err := h.Keysets.Progress(h.Staff()); !errors.Is(err, access.ErrDenied) {
		t.Errorf("looking: %v", err)
	}
}

// As text, a longer number may sort before a shorter one; the keys must be compared as numbers.
func TestKeysOfDifferentLengthsAreAllMoved(t *testing.T) {
	t.Parallel()
	h := build(t)
	const long = 1001 // more than one statement of a proof reads
	var short []customers.UID
	for i := range long + 5 {
		uid := customers.UID(10_000_000 + i)
		if i >= long {
			uid = customers.UID(9_000_000 + i)
			short = append(short, uid)
		}
		h.Customer(func(c *customers.Customer) {
			c.UID = uid
			c.TaxID = h.Keys.Seal(coretest.TaxID(uid),
				seal.Place{Tenant: int64(h.Tenant), Column: customers.TaxIDColumn, Row: int64(uid)})
		})
	}
	h.promoted()
	moved := h.move()
	if left := h.left(); left != nil || moved < long+len(short) {
		t.Errorf("%d rows were moved, left: %+v", moved, left)
	}
	for _, uid := range short {
		c, err := h.Customers.Find(h.Staff(), uid)
		h.must(err)
		if !h.Keys.Current(c.TaxID.Sealed, c.TaxID.Hash) {
			t.Errorf("customer %d is under an old key, and the proof does not say so", uid)
		}
	}
}
