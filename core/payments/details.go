package payments

import (
	"context"
	"encoding/json"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/banks"
	"bankgraph/core/contacts"
	"bankgraph/core/postal"
	"bankgraph/core/rails/nacha"
	"bankgraph/core/seal"
	"bankgraph/db"
)

// Details are what only payments over a network say: who is on the other side, at which bank, and what the
// two sides tell each other (rest/CONTRACT.md, credit requests). The other side is the payee, or the payer of
// a payment that came in.
type Details struct {
	bun.BaseModel `bun:"table:payment_details,alias:pd" json:"-"`

	Tenant  access.Tenant `bun:"tenant,pk" json:"-"`
	Payment UID           `bun:"payment,pk" json:"-"`
	// the contact that was named; 0 for somebody described in full
	Contact contacts.UID   `bun:"contact,nullzero" json:"receiver,omitzero"`
	Number  seal.Value     `bun:"embed:number_" json:"receiverAccountNumber"`
	Type    string         `bun:"type" json:"-"` // Deposit, Loan or GL; '' if nobody said
	SubType string         `bun:"sub_type" json:"-"`
	Address postal.Address `bun:"embed:address_" json:"-"`
	Email   string         `bun:"email_address" json:"-"`
	Phone   string         `bun:"phone_number" json:"-"`
	// routing number; of a bank abroad the BIC
	BankID   string `bun:"bank_id" json:"receiverBankId"`
	BankName string `bun:"bank_name" json:"-"`
	// of an entry of ACH to or from an account abroad: where the bank is that has the account; else ''
	BankCountry string `bun:"bank_country" json:"-"`
	// the banks that a wire goes over, if it does (rest/CONTRACT.md, banks of wires): each by its routing
	// number or BIC
	CorrespondentID   string `bun:"correspondent_id" json:"-"`
	CorrespondentName string `bun:"correspondent_name" json:"-"`
	IntermediaryID    string `bun:"intermediary_id" json:"-"`
	IntermediaryName  string `bun:"intermediary_name" json:"-"`
	// the accounts of the intermediary and of the payee's bank, each with the bank before it; nil for none
	IntermediaryAccount []byte `bun:"intermediary_account_sealed,type:bytea" json:"-"`
	BankAccount         []byte `bun:"bank_account_sealed,type:bytea" json:"-"`
	Remittance          string `bun:"remittance" json:"-"`
	// of a remittance that is elsewhere: how the payee gets it, EMAL or URID, and where; else ''
	RemittanceMethod  string `bun:"remittance_method" json:"-"`
	RemittanceAddress string `bun:"remittance_address" json:"-"`
	Reference         string `bun:"reference" json:"-"` // for the payee
	OriginatorInfo    string `bun:"originator_information" json:"-"`
	BankInfo          string `bun:"bank_information" json:"-"`
	Charges           string `bun:"charges" json:"-"`
	LocalInstrument   string `bun:"local_instrument" json:"-"` // of instant payments
	CostCenter        string `bun:"cost_center" json:"-"`
	RequestMethod     string `bun:"request_method" json:"-"`
	OperationNote     string `bun:"operation_note" json:"-"`
	Route             string `bun:"route" json:"-"` // why this network was picked
	UETR              string `bun:"uetr" json:"-"`  // the UUID by which every bank on the way knows it
	// why the network or the other bank gave it back, as a reason of ISO 20022
	ReturnCode string `bun:"return_code" json:"-"`
	// of an enrolment what it asks for, with masked numbers, and sealed as it is; nil for other payments
	BenefitShown  json.RawMessage `bun:"benefit,nullzero" json:"-"`
	BenefitSealed []byte          `bun:"benefit_sealed,type:bytea" json:"-"`
	benefit       *Benefit        // of a new one, and of one that is sent
	// what only an entry of ACH to an account abroad says, sealed; nil for other payments
	AbroadSealed []byte               `bun:"abroad_sealed,type:bytea" json:"-"`
	abroad       *nacha.International // of a new one, and of one that is sent
}

var detailing db.QueryCache[Details]

// DetailsOf reads the details of payments over networks, for callers who see whose payments they are.
func (s *Service) DetailsOf(ctx context.Context, b *db.Batch, of []UID) *db.Many[UID, Details] {
	caller, err := access.Require(ctx, access.ViewPayments)
	if err != nil {
		return db.Refuse[UID, Details](err)
	}
	return s.detailsOf(b, caller, of)
}

func (s *Service) detailsOf(b *db.Batch, reader access.Caller, of []UID) *db.Many[UID, Details] {
	text := detailing.Get(reader.Reach, func() string {
		return db.Select[Details](db.Columns{}, inDetails).
			Join("JOIN payments AS pay ON pay.tenant = pd.tenant AND pay.uid = pd.payment").
			Where("pd.tenant = $1").
			Where("pay.tenant = $1").Where(reader.Reach.Scope("pay.customer")).
			Where("pd.payment = ANY($3)").String()
	})
	return db.QueueMany(b, text, func(d *Details) UID { return d.Payment }, reader.Tenant,
		reader.ScopeCustomer(), of)
}

var inDetails = map[string]string{
	"contact": "coalesce(pd.contact, 0)", "bank_name": banks.NameOr("pd.bank_name", "'US'", "pd.bank_id"),
}

// writeReturnCodesTx writes the reasons for which payments were given back, at the end of the transaction.
func writeReturnCodesTx(ctx context.Context, tenant access.Tenant, why map[UID]string) error {
	if len(why) == 0 {
		return nil
	}
	var uids []int64
	var codes []string
	for uid, code := range why {
		uids, codes = append(uids, int64(uid)), append(codes, code)
	}
	return db.ExecAtCommit(ctx, `UPDATE payment_details AS d SET return_code = n.code
		FROM unnest($2::bigint[], $3::text[]) AS n(uid, code) WHERE d.tenant = $1 AND d.payment = n.uid`,
		tenant, uids, codes)
}

// NumberColumn names the column for which the account numbers at other banks are sealed (seal.Place).
const NumberColumn = "payment_details.number"

// The columns for which the account numbers of banks are sealed (seal.Place).
const (
	IntermediaryAccountColumn = "payment_details.intermediary_account"
	BankAccountColumn         = "payment_details.bank_account"
)

// place returns where the account number is sealed.
func (d *Details) place() seal.Place { return d.placeOf(NumberColumn) }

func (d *Details) placeOf(column string) seal.Place {
	return seal.Place{Tenant: int64(d.Tenant), Column: column, Row: int64(d.Payment)}
}

// alone returns the sealed values that have neither hash nor last digits, each with the column for which it
// is sealed.
func (d *Details) alone() map[string]*[]byte {
	return map[string]*[]byte{
		IntermediaryAccountColumn: &d.IntermediaryAccount, BankAccountColumn: &d.BankAccount,
		BenefitColumn: &d.BenefitSealed, AbroadColumn: &d.AbroadSealed,
	}
}

// copyFor returns the details of another payment that says the same: what is sealed is sealed for it.
// earlier returns the payments of the series before this one: an older release copied what was sealed for one
// of them as it was.
func (d *Details) copyFor(keys *seal.Keys, uid UID, earlier func() ([]UID, error)) (*Details, error) {
	number, err := keys.Open(d.Number, d.place())
	if err != nil {
		return nil, err
	}
	another := *d
	another.Payment = uid
	another.Number = keys.Seal(number, another.place())
	for column, sealed := range another.alone() {
		if *sealed == nil {
			continue
		}
		clear, err := keys.Open(seal.Value{Sealed: *sealed}, d.placeOf(column))
		if err != nil {
			before, failed := earlier()
			if failed != nil {
				return nil, failed
			}
			rows := make([]int64, len(before))
			for i, uid := range before {
				rows[i] = int64(uid)
			}
			if clear, err = keys.OpenCopied(*sealed, d.placeOf(column), rows); err != nil {
				return nil, err
			}
		}
		*sealed = keys.Encrypt(clear, another.placeOf(column))
	}
	return &another, nil
}

// EarlierTx returns the payments of a payment's series that were made before it, the last one first.
func EarlierTx(ctx context.Context, tx bun.IDB, bank access.Tenant, of UID) (uids []UID, err error) {
	err = tx.NewRaw(`SELECT b.uid FROM payments AS p
		JOIN payments AS b ON b.tenant = p.tenant AND b.recurrence = p.recurrence AND b.uid < p.uid
		WHERE p.tenant = ? AND p.uid = ? ORDER BY b.uid DESC`, bank, of).Scan(ctx, &uids)
	return uids, err
}
