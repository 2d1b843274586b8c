// Package files takes in files of payments: it stores them sealed, finds every fault before anything is paid,
// waits for approval where that is needed, and then makes one payment of each line without faults.
package files

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/audit"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/ident"
	"bankgraph/core/money"
	"bankgraph/core/payments"
	"bankgraph/core/rails"
	"bankgraph/core/seal"
)

// FileUID is a file's number.
type FileUID int64

func (u FileUID) String() string { return strconv.FormatInt(int64(u), 10) }

// ParseFileUID reads a file's number from decimal digits.
func ParseFileUID(field, text string) (FileUID, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if text == "" || strings.Trim(text, "0123456789") != "" || err != nil {
		return 0, fault.Field("file", field, fault.Number, "must be the digits of a file number")
	}
	return FileUID(n), nil
}

// FileType is the format of a file (rest/CONTRACT.md, formats of bulk files).
type FileType string

const (
	NACHA   FileType = "NACHA"   // entries of ACH
	Fedwire FileType = "FEDWIRE" // wires
	RTP     FileType = "RTP"     // instant payments, over RTP or FedNow
	CSV     FileType = "CSV"     // payments of any speed
)

// ParseFileType reads a type as paths name it, in any letter case.
func ParseFileType(field, text string) (FileType, error) {
	for _, f := range formats {
		if ident.Same(f.Word, text) {
			return f.Type, nil
		}
	}
	return "", fault.Field("file", field, fault.Malformed, "must be csv, fedwire, rtp or ach")
}

// Format is a format of files that are taken in.
type Format struct {
	Word     string   // as paths name it
	Type     FileType // as files show it
	Size     int64    // the most that a file may have, in bytes
	Payments int      // the most of a file
}

// formats lists them all.
var formats = []Format{
	{"csv", CSV, MostBytes, mostLines},
	{"fedwire", Fedwire, MostBytes, mostLines},
	{"rtp", RTP, MostBytes, mostLines},
	{"ach", NACHA, nachaMost, mostLines},
}

// FileStatus says how far a file has come (rest/CONTRACT.md, bulk file states).
type FileStatus string

const (
	Received           FileStatus = "RECEIVED"            // stored; nothing is read of it yet
	Validating         FileStatus = "VALIDATING"          // its lines are checked
	Failed             FileStatus = "FAILED"              // no payment can be made of it
	PendingApproval    FileStatus = "PENDING_APPROVAL"    // checked; waits for a second person
	PartlyApproved     FileStatus = "PARTIALLY_APPROVED"  // one of two people has agreed
	Approved           FileStatus = "APPROVED"            // its payments are made next
	Rejected           FileStatus = "REJECTED"            // the second person said no
	Cancelled          FileStatus = "CANCELLED"           // before any payment was made
	Processing         FileStatus = "PROCESSING"          // its payments are being made
	PartiallyProcessed FileStatus = "PARTIALLY_PROCESSED" // all that could be are made; some lines had faults
	Processed          FileStatus = "PROCESSED"           // all are made
)

// BulkFile is a file of payments.
type BulkFile struct {
	bun.BaseModel `bun:"table:bulk_files,alias:bf" json:"-"`

	Tenant   access.Tenant `bun:"tenant,pk" json:"-"`
	UID      FileUID       `bun:"uid,pk" json:"uid"`
	Customer customers.UID `bun:"customer" json:"-"`
	Party    customers.UID `bun:"party" json:"-"` // whose share it takes: see partyOfCustomer, and leaveTx
	Name     string        `bun:"name" json:"fileName"`
	Type     FileType      `bun:"type" json:"fileType"`
	Status   FileStatus    `bun:"status" json:"fileStatus"`
	Channel  string        `bun:"channel" json:"channel"`
	Size     int64         `bun:"size" json:"size"`                 // bytes
	Hash     []byte        `bun:"content_hash,type:bytea" json:"-"` // tells the same file again
	// of which the hash is made anew where keys rotate
	Content       []byte       `bun:"content_sealed,type:bytea" json:"-"`
	Checked       int32        `bun:"checked" json:"-"`  // lines up to this one are checked
	Position      int64        `bun:"position" json:"-"` // bytes that were read up to there
	Paid          int32        `bun:"paid" json:"-"`     // lines up to this one are dealt with
	Cleared       int32        `bun:"cleared" json:"-"`  // lines up to this one were removed if not paid
	Valid         int32        `bun:"valid" json:"validPayments"`
	Failed        int32        `bun:"failed" json:"errorPayments"`
	Made          int32        `bun:"made" json:"madePayments"`
	Credits       int64        `bun:"credits" json:"-"` // cents, of what can be paid
	Debits        int64        `bun:"debits" json:"-"`
	Largest       int64        `bun:"largest" json:"-"`
	PaymentDate   *time.Time   `bun:"payment_date,type:date" json:"-"` // of the first payment
	OffsetAccount accounts.UID `bun:"offset_account,nullzero" json:"-"`
	Faults        Faults       `bun:"faults,type:jsonb" json:"-"`
	RejectReason  string       `bun:"reject_reason" json:"rejectReason"`
	Approvers     int32        `bun:"approvers" json:"-"`
	ByBank        bool         `bun:"by_bank" json:"-"`
	Maker         access.Maker `bun:"maker,type:jsonb" json:"-"`
	MakerClient   string       `bun:"maker_client" json:"-"`
	MakerLogin    string       `bun:"maker_login" json:"-"`
	ApprovedBy    string       `bun:"approved_by" json:"-"`
	ApprovedAt    *time.Time   `bun:"approved_at" json:"-"`
	UpdatedBy     string       `bun:"updated_by" json:"-"`
	Attempt       int32        `bun:"attempt" json:"-"`
	LeasedUntil   *time.Time   `bun:"leased_until" json:"-"`
	Stalled       int32        `bun:"stalled" json:"-"`   // attempts since the checking last got further
	WorkedAt      *time.Time   `bun:"worked_at" json:"-"` // when its lines were last checked, paid or given up
	CheckedAt     *time.Time   `bun:"checked_at" json:"-"`
	PaidAt        *time.Time   `bun:"paid_at" json:"-"`
	CreatedAt     time.Time    `bun:"created_at" json:"-"`
	UpdatedAt     time.Time    `bun:"updated_at" json:"-"`
	Version       int32        `bun:"version" json:"-"`
}

// inCents is the currency of totals: all formats pay in US dollars.
const inCents = money.Currency("USD")

// Bytes returns the length of the file, which is at most MostBytes.
func (f *BulkFile) Bytes() int32 { return int32(f.Size) }

// Progress returns how much of the present step is done, in percent.
func (f *BulkFile) Progress() int32 {
	done, of := int64(1), int64(1)
	switch f.Status {
	case Received:
		done = 0
	case Validating:
		done, of = f.Position, f.Size
	case Processing:
		done, of = int64(f.Made), int64(f.Valid)
	}
	return int32(done * 100 / max(of, 1))
}

// TotalCredits returns the sum that the lines without faults pay.
func (f *BulkFile) TotalCredits() money.Amount { return money.Of(f.Credits, inCents) }

// TotalDebits returns the sum that the lines without faults collect.
func (f *BulkFile) TotalDebits() money.Amount { return money.Of(f.Debits, inCents) }

// CreatedBy returns the login of the person who uploaded the file, or else the API key.
func (f *BulkFile) CreatedBy() string {
	if f.MakerLogin != "" {
		return f.MakerLogin
	}
	return f.MakerClient
}

// Recorded leaves out of the record of changes whose share the file takes, and what workers keep with it.
func (f *BulkFile) Recorded() map[string]audit.Field {
	return map[string]audit.Field{
		"Party": {}, "Position": {}, "Cleared": {}, "Attempt": {}, "LeasedUntil": {}, "Stalled": {}, "WorkedAt": {},
		"CheckedAt": {}, "PaidAt": {},
	}
}

// FileFault is what is wrong with a file, or with a line of it. It contains no account number.
type FileFault struct {
	Line    int32  `json:"line"`    // from 1; 0 for the file as a whole
	Field   string `json:"field"`   // the column, or the record and its field; '' for the whole line
	Code    string `json:"code"`    // such as REQUIRED, INVALID, NOTFOUND
	Message string `json:"message"` // in plain words
}

// Faults are what is wrong, in the order in which it was found.
type Faults = []FileFault

// LineStatus says what became of a line.
type LineStatus string

const (
	LineValid  LineStatus = "VALID"  // a payment can be made of it
	LineFailed LineStatus = "FAILED" // it has faults; no payment is made
	LineMade   LineStatus = "MADE"   // a payment was made of it
)

// FileLine is one payment of a file, as the file says it, and what became of it.
type FileLine struct {
	bun.BaseModel `bun:"table:bulk_file_lines,alias:bl" json:"-"`

	Tenant     access.Tenant   `bun:"tenant,pk"`
	ID         LineID          `bun:"id,pk"`
	File       FileUID         `bun:"file"`
	Number     int32           `bun:"number"` // of the line in the file, from 1
	Batch      int32           `bun:"batch"`  // in the order of the file, from 1; 0 for none
	Status     LineStatus      `bun:"status"`
	EntryType  rails.EntryType `bun:"entry_type"`
	Rail       rails.Rail      `bun:"rail"` // '' where none was found
	Minor      int64           `bun:"amount"`
	Currency   money.Currency  `bun:"currency"`
	SenderName string          `bun:"sender_name"`      // whose account it is
	Found      json.RawMessage `bun:"faults,type:json"` // Faults
	Draft      []byte          `bun:"draft_sealed,type:bytea"`
	Payment    payments.UID    `bun:"payment,nullzero"`

	Order *payments.Order `bun:"-"` // what the line says, opened; nil where it could not be read, or was not kept
}

// Faults returns what is wrong with the line; nil if a payment can be made of it, or was.
func (l *FileLine) Faults() (all Faults) {
	_ = json.Unmarshal(l.Found, &all) // written by this package
	return all
}

// fails marks the line as failed, and keeps what is wrong with it.
func (l *FileLine) fails(all Faults) { l.Status, l.Found = LineFailed, textOf(all) }

// shorten leaves of a line with faults its number and their codes: a file of little else would take far more
// room than what was sent.
func (l *FileLine) shorten() {
	var short Faults
	for _, one := range l.Faults() {
		if !slices.ContainsFunc(short, func(is FileFault) bool { return is.Code == one.Code }) {
			short = append(short, FileFault{Line: one.Line, Code: one.Code})
		}
	}
	l.SenderName = ""
	l.fails(short)
}

// Amount returns what the line pays or collects.
func (l *FileLine) Amount() money.Amount { return money.Of(l.Minor, l.Currency) }

// LineID is the number of a line among those of all files.
type LineID int64

func (id LineID) String() string { return strconv.FormatInt(int64(id), 10) }

// lineBits is how many bits of a LineID are the line's own: files have fewer than 2^24 lines.
const lineBits = payments.LineBits

func lineID(of FileUID, line int32) LineID { return LineID(int64(of)<<lineBits | int64(line)) }

// file returns the file that a line is of.
func (id LineID) file() FileUID { return FileUID(id >> lineBits) }

// DraftColumn names the column for which lines are sealed (seal.Place).
const DraftColumn = "bulk_file_lines.draft"

func (l *FileLine) place() seal.Place {
	return seal.Place{Tenant: int64(l.Tenant), Column: DraftColumn, Row: int64(l.ID)}
}

// mostDraft is how much of a line with faults is kept, in bytes of JSON. Its cells may be as long as the line;
// of one without faults all fields have bounds far below that.
const mostDraft = 16 << 10

// seals seals what the line says; nothing if the line could not be read, or says too much with its faults.
func (l *FileLine) seals(keys *seal.Keys, o *payments.Order) error {
	if o == nil {
		return nil
	}
	text, err := json.Marshal(o)
	if err == nil && (l.Status != LineFailed || len(text) <= mostDraft) {
		l.Draft = keys.Encrypt(string(text), l.place())
	}
	return err
}

// open reads what the line says.
func (l *FileLine) open(keys *seal.Keys) error {
	if l.Draft == nil {
		return nil
	}
	text, err := keys.Open(seal.Value{Sealed: l.Draft}, l.place())
	if err != nil {
		return err
	}
	l.Order = new(payments.Order)
	return json.Unmarshal([]byte(text), l.Order)
}

// FileBatch is a batch of a NACHA file.
type FileBatch struct {
	bun.BaseModel `bun:"table:bulk_file_batches,alias:bb" json:"-"`

	Tenant        access.Tenant `bun:"tenant,pk"`
	File          FileUID       `bun:"file,pk"`
	Number        int32         `bun:"number,pk"`    // in the order of the file, from 1
	ID            string        `bun:"id"`           // a UUID
	BatchNumber   int32         `bun:"batch_number"` // as the file says it
	ServiceClass  string        `bun:"service_class"`
	Originator    string        `bun:"originator"` // routing number of its bank, eight digits
	CompanyName   string        `bun:"company_name"`
	CompanyID     string        `bun:"company_id"`
	Class         rails.SECCode `bun:"class"`
	Description   string        `bun:"description"`
	Effective     *time.Time    `bun:"effective_on,type:date"`
	EntryHash     int64         `bun:"entry_hash"`
	Entries       int32         `bun:"entries"`
	Credits       int64         `bun:"credits"` // cents
	Debits        int64         `bun:"debits"`
	OffsetAccount accounts.UID  `bun:"offset_account,nullzero"`
	Balanced      bool          `bun:"balanced"`
	Fault         string        `bun:"fault"` // why none of its entries can be paid; '' where they can
}

// SECClass returns the class of the batch's entries, such as PPD.
func (b *FileBatch) SECClass() string { return string(b.Class) }

// TotalCredits returns the sum of the batch's credits.
func (b *FileBatch) TotalCredits() money.Amount { return money.Of(b.Credits, inCents) }

// TotalDebits returns the sum of the batch's debits.
func (b *FileBatch) TotalDebits() money.Amount { return money.Of(b.Debits, inCents) }

// The faults of files.
var (
	ErrNotFound = fault.New(fault.NotFound, "file.not_found", "no such file")
	// ErrSame is returned for a file that the customer has uploaded within the last day, whatever its name.
	ErrSame = fault.New(fault.Conflict, "file.same",
		"the same file has been uploaded in the last 24 hours").On("file")
	// ErrMismatch is returned if the file with a number has another name.
	ErrMismatch = fault.New(fault.Conflict, "file.mismatch",
		"the file with this number has another name").On("fileName")
	// ErrOver is returned for a file that can no longer be cancelled.
	ErrOver = fault.New(fault.State, "file.over",
		"its payments are made already, or it has ended: payments that wait can be cancelled one by one")
	// ErrNotWaiting is returned for a decision on a file that does not wait for one.
	ErrNotWaiting = fault.New(fault.State, "file.not_waiting", "the file does not wait for approval")
	// ErrUploads is returned when too many files of a caller come in at a time, or too many bytes of them.
	ErrUploads = fault.New(fault.TooMany, "file.uploads",
		"too many or too large files of this caller come in at a time, try again when one has arrived")
	// ErrUploadsOfOthers is returned when too many files of others come in, of whom none has to give way.
	ErrUploadsOfOthers = fault.New(fault.TooMany, "file.uploads_of_others",
		"too many or too large files of other callers come in at a time, try again when one has arrived")
	// ErrGaveWay is returned for a file that was still coming in when there was no room for others, who have
	// fewer coming in or send faster.
	ErrGaveWay = fault.New(fault.TooMany, "file.gave_way",
		"the file gave way to files of others before it had arrived, send it again")
	// ErrUnfinished is returned when too many files of a customer are being worked on.
	ErrUnfinished = fault.New(fault.TooMany, "file.unfinished",
		"too many files of the customer are unfinished: approve or cancel some, or wait until they "+
			"are processed")
	// ErrUnread is returned when too much text of a caller's files, or of a bank's, waits to be read.
	ErrUnread = fault.New(fault.TooMany, "file.unread",
		"too much of files that came before waits to be checked, try again when some are")
	// ErrWasted is returned to a caller of whose files, or of whose party's, too many, or too many lines, are
	// no payments: they had faults, or were given up, in the last 24 hours, or wait for people.
	ErrWasted = fault.New(fault.TooMany, "file.wasted",
		"too many files, or lines of files, had faults or were given up in the last 24 hours, or wait for "+
			"approval: approve files that wait, or try again later")
	// ErrNothing is returned for a search that gives neither a name nor a number.
	ErrNothing = fault.New(fault.Invalid, "file.nothing", "fileName or fileNumber is required")
	// ErrNoEntity is returned to callers whose token names no legal entity.
	ErrNoEntity = fault.New(fault.Invalid, "file.no_entity", "the access token names no legal entity")
	ErrTooLarge = fault.New(fault.Invalid, "file.too_large", "must not be larger than 200 MiB").On("file")
)
