package nacha

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/moov-io/ach"

	"bankgraph/core/money"
	"bankgraph/core/rails"
	"bankgraph/core/rails/plain"
)

// dates of the format have two digits for the year.
const yymmdd = "060102"

// lenient lets amounts of 0 through, whose rules are in Entry.check.
var lenient = &ach.ValidateOpts{AllowZeroEntryAmount: true}

// errClass is the error for an entry over which the library fails.
var errClass = errors.New("lacks what its class demands")

// checkEntry lets the library check an entry by the rules of its class, in a batch of its own. The library
// takes for granted that some classes have their addenda.
func checkEntry(header heading, m made) (err error) {
	defer func() {
		if panicked := recover(); panicked != nil {
			err = errClass
		}
	}()
	if header.abroad != nil {
		return m.checkAbroad(header)
	}
	alone, entry := *header.BatchHeader, m.EntryDetail
	batch, err := ach.NewBatch(&alone)
	if err != nil {
		return err
	}
	batch.SetValidation(lenient)
	batch.AddEntry(entry)
	return batch.Create()
}

// fieldAndReason takes the reason out of an error of the library, and leaves the values.
func fieldAndReason(err error) (field, reason string) {
	if of := (*ach.FieldError)(nil); errors.As(err, &of) {
		return of.FieldName, of.Err.Error()
	}
	if of := (*ach.BatchError)(nil); errors.As(err, &of) {
		if of.Err != nil {
			if inner := (*ach.FieldError)(nil); errors.As(of.Err, &inner) {
				return inner.FieldName, inner.Err.Error()
			}
			return of.FieldName, of.Err.Error()
		}
		return of.FieldName, "is wrong"
	}
	return "", err.Error()
}

// cut returns a text in ASCII, and at most so many characters of it.
func cut(text string, most int) string {
	text = strings.TrimSpace(plain.ASCII(text))
	if len(text) > most {
		text = strings.TrimSpace(text[:most])
	}
	return text
}

// wrong says what is wrong with a text that stands in a field of that length.
func wrong(text string, most int) string {
	switch {
	case strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' }):
		return "has characters that ACH does not take"
	case len(text) > most:
		return fmt.Sprintf("has more than %d characters", most)
	}
	return ""
}

// trim takes the spaces off that fill up a field.
func trim(text string) string { return strings.TrimRight(text, " ") }

func digits(text string, length int) bool {
	return len(text) == length && strings.Trim(text, "0123456789") == ""
}

// check says which field of an entry is wrong, by the rules that the library does not have.
func (e Entry) check(b *Batch) (field, reason string) {
	silent := e.Kind == Prenote || e.Kind == ZeroDollar || e.Change != nil
	about := e.Return != nil || e.Dishonour != nil || e.Contest != nil
	switch cents := e.Amount.Minor; {
	case e.Amount.Currency != "USD":
		return "Amount", "must be of US dollars"
	case cents < 0 || cents > MostCents:
		return "Amount", "must be from 0 to " + money.Of(MostCents, "USD").String()
	case b.SameDay && cents > MostSameDayCents:
		return "Amount", "must be at most " + money.Of(MostSameDayCents, "USD").String() + " on the same day"
	case silent && cents != 0:
		return "Amount", "must be 0 here"
	case !silent && !about && cents == 0:
		return "Amount", "must be more than 0"
	case e.Kind == ZeroDollar && e.Remittance == "":
		return "Remittance", "is what an entry without money is for"
	case b.Only != "" && e.Direction != b.Only:
		return "Direction", "must be that of the batch"
	case e.code(b.Description == Reversal) == 0:
		return "TransactionCode", "has no code for this account and direction"
	case !digits(e.Routing, 9):
		return "Routing", "must have nine digits"
	}
	if field, reason := e.checkAbout(b); reason != "" {
		return field, reason
	}
	if field, reason := e.checkInternational(b); reason != "" {
		return field, reason
	}
	number := 17
	if b.international() {
		number = 35
	}
	for _, text := range []struct {
		field, value string
		most         int
	}{{"Number", e.Number, number}, {"Data", e.Data, 2}, {"City", e.City, 4}, {"State", e.State, 2}} {
		if reason := wrong(text.value, text.most); reason != "" {
			return text.field, reason
		}
	}
	return "", ""
}

// checkAbout says which field is wrong of what an entry says of another one.
func (e Entry) checkAbout(b *Batch) (field, reason string) {
	kinds, traces, banks, data := 0, []string{}, []string{}, ""
	if r := e.Return; r != nil {
		kinds, traces, banks = kinds+1, append(traces, r.OriginalTrace), append(banks, r.OriginalBank)
	}
	if d := e.Dishonour; d != nil {
		kinds, banks = kinds+1, append(banks, d.OriginalBank)
		traces = append(traces, d.OriginalTrace, d.ReturnTrace)
		if d.ReturnSettled < 0 || d.ReturnSettled > 366 || !digits(strings.TrimPrefix(d.ReturnCode, "R"), 2) {
			return "Dishonour", "must have the day and the code of the return"
		}
	}
	if c := e.Change; c != nil {
		kinds, traces, banks = kinds+1, append(traces, c.OriginalTrace), append(banks, c.OriginalBank)
		data = c.Data
	}
	switch {
	case kinds > 1:
		return "Return", "must be the only thing that is said of another entry"
	case slices.ContainsFunc(traces, func(trace string) bool { return !digits(trace, 15) }):
		return "OriginalTrace", "must have 15 digits"
	case slices.ContainsFunc(banks, func(bank string) bool { return !digits(bank, 8) }):
		return "OriginalBank", "must have eight digits"
	}
	if b.international() {
		return "Change", wrong(data, mostCorrectedAbroad)
	}
	return "Change", wrong(data, mostCorrected)
}

// How long what is right is in a notice of change. That of IAT is read, and written like others.
const (
	mostCorrected       = 29
	mostCorrectedAbroad = 35
)

// counts are the classes that say in the field of the name, before it, how many addenda an entry has.
var counts = map[rails.SECCode]bool{rails.CTX: true, ach.TRX: true}

// record is an entry as the library has it.
func (e Entry) record(b *Batch) made {
	d := ach.NewEntryDetail()
	d.TransactionCode = e.code(b.Description == Reversal)
	d.SetRDFI(e.Routing)
	d.DFIAccountNumber, d.Amount, d.DiscretionaryData = e.Number, int(e.Amount.Minor), e.Data
	d.IdentificationNumber, d.IndividualName = cut(e.ID, 15), cut(e.Name, 22)
	d.TraceNumber, d.Category = e.Trace, ach.CategoryForward
	d.SetSECCode(string(b.Class))
	if b.international() {
		e.about(d)
		if d.Addenda99 != nil { // the amount comes before the information
			d.Addenda99.AddendaInformation = fmt.Sprintf("%010d", e.Amount.Minor) +
				cut(e.Return.Information, 34)
		}
		return made{d, e.recordAbroad(d)}
	}
	for i, text := range pieces(e.Remittance, b.Class) {
		a := ach.NewAddenda05()
		a.PaymentRelatedInformation, a.SequenceNumber = text, i+1
		a.EntryDetailSequenceNumber, _ = strconv.Atoi(e.Trace[8:])
		d.AddAddenda05(a)
		d.AddendaRecordIndicator = 1
	}
	e.about(d)
	if b.Class == rails.POP {
		d.SetPOPCheckSerialNumber(cut(e.ID, 9))
		d.SetPOPTerminalCity(e.City)
		d.SetPOPTerminalState(e.State)
	}
	if counts[b.Class] {
		addenda := len(d.Addenda05)
		if d.Addenda99 != nil && b.Class == rails.CTX { // TRX counts its own alone
			addenda++
		}
		d.IndividualName = fmt.Sprintf("%04d%-16s", addenda, cut(e.Name, 16))
	}
	return made{EntryDetail: d}
}

// about adds what an entry says of another one.
func (e Entry) about(d *ach.EntryDetail) {
	switch {
	case e.Return != nil:
		a := ach.NewAddenda99()
		a.ReturnCode, a.OriginalTrace, a.OriginalDFI = e.Return.Code, e.Return.OriginalTrace, e.Return.OriginalBank
		a.AddendaInformation, a.TraceNumber = cut(e.Return.Information, 44), e.Trace
		if !e.Return.DateOfDeath.IsZero() {
			a.DateOfDeath = e.Return.DateOfDeath.Format(yymmdd)
		}
		d.Addenda99, d.Category = a, ach.CategoryReturn
	case e.Dishonour != nil:
		a := ach.NewAddenda99Dishonored()
		a.DishonoredReturnReasonCode, a.OriginalEntryTraceNumber = e.Dishonour.Code, e.Dishonour.OriginalTrace
		a.OriginalReceivingDFIIdentification = e.Dishonour.OriginalBank
		a.ReturnTraceNumber = e.Dishonour.ReturnTrace
		a.ReturnSettlementDate = fmt.Sprintf("%03d", e.Dishonour.ReturnSettled)
		a.ReturnReasonCode = strings.TrimPrefix(e.Dishonour.ReturnCode, "R")
		a.AddendaInformation, a.TraceNumber = cut(e.Dishonour.Information, 21), e.Trace
		d.Addenda99Dishonored, d.Category = a, ach.CategoryDishonoredReturn
	case e.Change != nil:
		a := ach.NewAddenda98()
		a.ChangeCode, a.OriginalTrace, a.OriginalDFI = e.Change.Code, e.Change.OriginalTrace, e.Change.OriginalBank
		a.CorrectedData, a.TraceNumber = e.Change.Data, e.Trace
		d.Addenda98, d.Category = a, ach.CategoryNOC
	default:
		return
	}
	d.AddendaRecordIndicator = 1
}

// mostPieces is how many lines are made of a remittance, for the classes that have several. Of CTX and ENR
// that is one more than there may be, as one that is too long is refused.
var mostPieces = map[rails.SECCode]int{rails.CTX: 10_000, rails.ENR: 10_000, rails.IAT: mostRemittances}

// pieces are a remittance in lines of 80 characters: one, or as many as the class takes.
func pieces(remittance string, class rails.SECCode) (all []string) {
	text := strings.TrimSpace(plain.ASCII(remittance))
	for text != "" {
		piece := text[:min(80, len(text))]
		all, text = append(all, piece), text[len(piece):]
		if len(all) >= cmp.Or(mostPieces[class], 1) {
			break
		}
	}
	return all
}

// read makes an entry of the library's; what is right with it was checked before.
func read(m made, b *Batch) (Entry, bool) {
	d := m.EntryDetail
	e := Entry{
		Amount: money.Of(int64(d.Amount), "USD"), Routing: d.RDFIIdentification + d.CheckDigit,
		Number: trim(d.DFIAccountNumber), Name: trim(d.IndividualName), ID: trim(d.IdentificationNumber),
		Data:  trim(d.DiscretionaryData),
		Trace: d.TraceNumber, Line: d.LineNumber,
	}
	var text strings.Builder
	for i, a := range d.Addenda05 {
		if i > 0 { // spaces at the end of a line are text in the middle of a remittance
			text.WriteString(strings.Repeat(" ", 80*i-text.Len()))
		}
		text.WriteString(trim(a.PaymentRelatedInformation))
	}
	e.Remittance = text.String()
	if b.Class == rails.POP {
		e.ID, e.City, e.State = d.POPCheckSerialNumberField(), d.POPTerminalCityField(), d.POPTerminalStateField()
	}
	if counts[b.Class] && len(e.Name) > 4 {
		e.Name = trim(e.Name[4:])
	}
	switch {
	case d.Addenda99 != nil:
		a := d.Addenda99
		e.Return = &Return{
			Code: a.ReturnCode, OriginalTrace: a.OriginalTrace, OriginalBank: a.OriginalDFI,
			Information: trim(a.AddendaInformation),
		}
		e.Return.DateOfDeath, _ = time.Parse(yymmdd, a.DateOfDeath) // it is often left out
	case d.Addenda99Dishonored != nil:
		a := d.Addenda99Dishonored
		e.Dishonour = &Dishonour{
			Code: a.DishonoredReturnReasonCode, OriginalTrace: a.OriginalEntryTraceNumber,
			OriginalBank: a.OriginalReceivingDFIIdentification, ReturnTrace: a.ReturnTraceNumber,
			ReturnCode: "R" + a.ReturnReasonCode, Information: trim(a.AddendaInformation),
		}
		e.Dishonour.ReturnSettled, _ = strconv.Atoi(a.ReturnSettlementDate) // banks leave it out, too
	case d.Addenda99Contested != nil:
		a := d.Addenda99Contested
		e.Contest = &Contest{
			Code: a.ContestedReturnCode, OriginalTrace: a.OriginalEntryTraceNumber,
			ReturnTrace: a.ReturnTraceNumber, DishonourTrace: a.DishonoredReturnTraceNumber,
		}
	case d.Addenda98Refused != nil:
		a := d.Addenda98Refused
		e.Change = &Change{
			Code: a.RefusedChangeCode, OriginalTrace: a.OriginalTrace, OriginalBank: a.OriginalDFI,
			Data: trim(a.CorrectedData),
		}
	case d.Addenda98 != nil:
		e.Change = change(d.Addenda98)
	}
	if m.abroad != nil {
		m.readAbroad(&e)
	}
	return e, e.decode(d.TransactionCode)
}

func change(a *ach.Addenda98) *Change {
	c := Corrected(a.ChangeCode, trim(a.CorrectedData))
	c.OriginalTrace, c.OriginalBank = a.OriginalTrace, a.OriginalDFI
	return c
}

// Corrected returns what the data of a notice of change with this code mean.
func Corrected(code, data string) *Change {
	c := &Change{Code: code, Data: data}
	if right := (&ach.Addenda98{ChangeCode: code, CorrectedData: data}).ParseCorrectedData(); right != nil {
		c.Account, c.Routing = right.AccountNumber, right.RoutingNumber
		c.Name, c.ID = right.Name, right.Identification
		var of Entry
		if right.TransactionCode != 0 && of.decode(right.TransactionCode) {
			c.AccountType, c.Direction = of.Account, of.Direction
		}
	}
	if code == "C01" && len(data) > 17 && !strings.Contains(data, " ") {
		c.Account = data // of IAT; the library takes 17 characters of it
	}
	return c
}

// Written returns what is right as a notice of change with this code carries it.
func (c *Change) Written() string {
	return trim(ach.WriteCorrectionData(c.Code, &ach.CorrectedData{
		AccountNumber: c.Account, RoutingNumber: c.Routing, Name: c.Name, Identification: c.ID,
		TransactionCode: TransactionCode(c.AccountType, c.Direction),
	}))
}

// Routing completes a routing number of which files of ACH have eight digits.
func Routing(eight string) string { return eight + strconv.Itoa(ach.CalculateCheckDigit(eight)) }
