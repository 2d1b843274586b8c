package files

import (
	"errors"
	"io"
	"strings"

	"bankgraph/core/fault"
	"bankgraph/core/ident"
	"bankgraph/core/payments"
)

// readPayment is one payment as a line of a file says it.
type readPayment struct {
	line   int32
	last   int32           // where it ends
	batch  int32           // in the order of the file, from 1; 0 for none
	order  *payments.Order // nil where the line could not be read
	faults Faults
	end    int64 // how far the file was read with it, in bytes; a file of lines goes on there
}

// fail keeps what is wrong with the line, up to as many faults as are kept.
func (s *readPayment) fail(all ...FileFault) {
	s.faults = append(s.faults, all[:min(len(all), MostLineFaults-min(len(s.faults), MostLineFaults))]...)
}

// mostLines is how many payments a file may have.
const mostLines = 1_000_000

// How many faults of a file as a whole, and of a line, are kept.
const (
	MostFaults     = 100
	MostLineFaults = 20
)

// errBroken ends the reading of a file of which no more can be read.
type errBroken struct{ FileFault }

func (e errBroken) Error() string { return e.Message }

func broken(line int32, field string, problem fault.Problem, message string) error {
	return errBroken{FileFault{line, field, string(problem), message}}
}

// bounded fails when a record takes too many bytes, so that a file without line ends does not fill the
// memory.
type bounded struct {
	from io.Reader
	left int
}

// mostRecord is the length of the longest line, counting quotes with line breaks in them.
const mostRecord = 64 << 10

var errRecord = errors.New("a record is longer than 64 KiB")

// begins allows the next record its full length, and what is read ahead.
func (b *bounded) begins() { b.left = 2 * mostRecord }

func (b *bounded) Read(into []byte) (int, error) {
	if b.left <= 0 {
		return 0, errRecord
	}
	n, err := b.from.Read(into[:min(len(into), b.left)])
	b.left -= n
	return n, err
}

// faultsOf returns the faults of an order in the words of a file: column returns what the file calls a field
// of an order.
func faultsOf(line int32, why error, column func(field string) string) Faults {
	var all Faults
	var several fault.Faults
	if !errors.As(why, &several) {
		f, is := fault.Of(why)
		if !is {
			return nil
		}
		several = fault.Faults{f}
	}
	for _, f := range several[:min(len(several), MostLineFaults)] {
		problem := f.Problem
		if problem == "" {
			problem = problemOf[f.Kind]
		}
		all = append(all, FileFault{line, column(f.Field), string(problem), f.Message})
	}
	return all
}

// columnsOf returns how the fields of an order are called in files of a type.
func columnsOf(t FileType, o *payments.Order) func(field string) string {
	switch t {
	case NACHA:
		return inEntry
	case Fedwire:
		return func(field string) string { return inWire(o, field) }
	}
	return columnIn
}

// problemOf is the problem of a line whose fault is about a thing, not about the form of a field.
var problemOf = map[fault.Kind]fault.Problem{
	fault.NotFound: fault.Unknown, fault.Conflict: "CONFLICT", fault.State: "STATUS", fault.Denied: "DENIED",
	fault.Invalid: fault.Malformed,
}

// columnIn returns the column of our own layouts that a field of an order is read from: receiverBankId for
// receiver.bank.bankId.
func columnIn(field string) string {
	field = strings.TrimPrefix(field, "additionalInfo.")
	side, of, sided := strings.Cut(field, ".")
	if !sided {
		return field
	}
	if side == "creditor" {
		side = "sender"
	}
	if side == "debtor" {
		side = "receiver"
	}
	of = strings.TrimPrefix(strings.TrimPrefix(of, "bank."), "address.")
	of = strings.TrimPrefix(of, "bank.address.")
	if of == "accountUID" {
		of = "accountNumber"
	}
	return side + strings.ToUpper(of[:1]) + of[1:]
}

// column fills a field of an order from a cell.
type column func(o *payments.Order, cell string) error

// columns are those of our own layouts, in the order in which a template has them (rest/CONTRACT.md, formats
// of bulk files).
var columns = []struct {
	name string
	fill column
}{
	{"externalReferenceId", into(func(o *payments.Order) *string { return &o.ExternalReferenceID })},
	{"entryType", fillEntryType},
	{"paymentAmount", into(func(o *payments.Order) *string { return &o.Amount })},
	{"paymentCurrency", into(func(o *payments.Order) *string { return &o.Currency })},
	{"paymentDate", fillDate},
	{"speed", fillSpeed},
	{"secCode", fillClass},
	{"senderAccountNumber", into(func(o *payments.Order) *string { return &o.Sender.Number })},
	{"senderBankId", into(func(o *payments.Order) *string { return &o.Sender.RoutingNumber })},
	{"receiverName", into(func(o *payments.Order) *string { return &o.Receiver.Name })},
	{"receiverAccountNumber", into(func(o *payments.Order) *string { return &o.Receiver.Number })},
	{"receiverAccountType", into(func(o *payments.Order) *string { return &o.Receiver.Type })},
	{"receiverSubAccountType", into(func(o *payments.Order) *string { return &o.Receiver.SubType })},
	{"receiverBankId", into(func(o *payments.Order) *string { return &o.Receiver.Bank.ID })},
	{"receiverAddressLine1", into(func(o *payments.Order) *string { return &o.Receiver.Address.Line1 })},
	{"receiverAddressLine2", into(func(o *payments.Order) *string { return &o.Receiver.Address.Line2 })},
	{"receiverCity", into(func(o *payments.Order) *string { return &o.Receiver.Address.City })},
	{"receiverState", into(func(o *payments.Order) *string { return &o.Receiver.Address.State })},
	{"receiverPostalCode", into(func(o *payments.Order) *string { return &o.Receiver.Address.PostalCode })},
	{"receiverCountryCode", into(func(o *payments.Order) *string { return &o.Receiver.Address.CountryCode })},
	{"paymentNotes", into(func(o *payments.Order) *string { return &o.Notes })},
	{"paymentRemittanceNotes", into(func(o *payments.Order) *string { return &o.Remittance })},
	{"originatorToBeneficiary", into(func(o *payments.Order) *string { return &o.OriginatorInfo })},
	{"referenceForBeneficiary", into(func(o *payments.Order) *string { return &o.Reference })},
	{"localInstruments", into(func(o *payments.Order) *string { return &o.LocalInstrument })},
}

// needed are the columns that every line needs; notOfRTP are those that files of instant payments lack.
var (
	needed   = []string{"externalReferenceId", "paymentAmount", "senderAccountNumber", "receiverAccountNumber"}
	notOfRTP = []string{"speed", "secCode", "entryType"}
)

func into(of func(*payments.Order) *string) column {
	return func(o *payments.Order, cell string) error {
		*of(o) = cell
		return nil
	}
}

func columnNamed(name string) (known string, fill column) {
	for _, c := range columns {
		if ident.Same(c.name, strings.TrimSpace(name)) {
			return c.name, c.fill
		}
	}
	return "", nil
}
