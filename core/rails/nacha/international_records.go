package nacha

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/moov-io/ach"

	"bankgraph/core/money"
	"bankgraph/core/rails"
)

// abroad is the header of a batch of IAT as the library has it; nil for other classes.
func (b *Batch) abroad(h *ach.BatchHeader) *ach.IATBatchHeader {
	if !b.international() {
		return nil
	}
	a := ach.NewIATBatchHeader()
	a.ServiceClassCode, a.StandardEntryClassCode = h.ServiceClassCode, h.StandardEntryClassCode
	a.OriginatorIdentification, a.CompanyEntryDescription = h.CompanyIdentification, h.CompanyEntryDescription
	a.EffectiveEntryDate, a.ODFIIdentification = h.EffectiveEntryDate, h.ODFIIdentification
	a.OriginatorStatusCode, a.BatchNumber = h.OriginatorStatusCode, h.BatchNumber
	a.ForeignExchangeIndicator, a.ForeignExchangeReference = b.Abroad.Exchange, b.Abroad.Reference
	a.ForeignExchangeReferenceIndicator = cmp.Or(b.Abroad.ReferenceKind, NoReference)
	a.ISODestinationCountryCode = b.Abroad.Country
	a.ISOOriginatingCurrencyCode = string(b.Abroad.From)
	a.ISODestinationCurrencyCode = string(b.Abroad.To)
	if b.Class == COR {
		a.IATIndicator = correcting
	}
	return a
}

// heading is the header of a batch as the library has it.
type heading struct {
	*ach.BatchHeader

	abroad *ach.IATBatchHeader // of IAT, which has another form; nil for other classes
}

func (h heading) Validate() error {
	if h.abroad != nil {
		return h.abroad.Validate()
	}
	return h.BatchHeader.Validate()
}

func (h heading) String() string {
	if h.abroad != nil {
		return h.abroad.String()
	}
	return h.BatchHeader.String()
}

// isAbroad reports whether a record is the header of a batch of IAT.
func isAbroad(header string) bool {
	return header[50:53] == ach.IAT || header[50:53] == ach.COR && trim(header[4:20]) == correcting
}

// parseAbroad reads the header of a batch of IAT.
func parseAbroad(header string) heading {
	a, h := ach.NewIATBatchHeader(), ach.NewBatchHeader()
	a.Parse(header)
	h.ServiceClassCode, h.StandardEntryClassCode = a.ServiceClassCode, a.StandardEntryClassCode
	h.CompanyIdentification, h.CompanyEntryDescription = a.OriginatorIdentification, a.CompanyEntryDescription
	h.EffectiveEntryDate, h.ODFIIdentification = a.EffectiveEntryDate, a.ODFIIdentification
	h.BatchNumber = a.BatchNumber
	if !strings.Contains(" 0123", header[22:23]) { // the library reads other characters as 0
		a.ForeignExchangeReferenceIndicator = -1
	}
	return heading{h, a}
}

// readAbroad returns what the header of a batch of IAT says of its way; nothing for other classes.
func (h heading) readAbroad() (a Abroad) {
	if h.abroad == nil {
		return Abroad{}
	}
	a = Abroad{
		Exchange: h.abroad.ForeignExchangeIndicator, ReferenceKind: h.abroad.ForeignExchangeReferenceIndicator,
		Country: h.abroad.ISODestinationCountryCode, From: money.Currency(h.abroad.ISOOriginatingCurrencyCode),
		To: money.Currency(h.abroad.ISODestinationCurrencyCode),
	}
	if a.ReferenceKind == ExchangeRate || a.ReferenceKind == ExchangeNumber {
		a.Reference = h.abroad.ForeignExchangeReference
	} else {
		a.ReferenceKind = 0
	}
	return a
}

// made is an entry as the library has it. Of IAT the second one has what other classes do not have, and the
// first one what all have.
type made struct {
	*ach.EntryDetail

	abroad *ach.IATEntryDetail
}

// addenda counts the addenda.
func (m made) addenda() int {
	n := addenda(m.EntryDetail)
	if a := m.abroad; a != nil {
		n += len(a.Addenda17) + len(a.Addenda18)
		for _, there := range []bool{
			a.Addenda10 != nil, a.Addenda11 != nil, a.Addenda12 != nil, a.Addenda13 != nil,
			a.Addenda14 != nil, a.Addenda15 != nil, a.Addenda16 != nil,
		} {
			if there {
				n++
			}
		}
	}
	return n
}

// checkAbroad lets the library check an entry of IAT, in a batch of its own. What it does not know of IAT,
// dishonours and refused notices, has been checked by itself.
func (m made) checkAbroad(header heading) error {
	alone, entry := *header.abroad, *m.abroad
	entry.Addenda98, entry.Addenda99 = m.Addenda98, m.Addenda99
	if m.Addenda98Refused != nil {
		return cmp.Or(alone.Validate(), entry.Validate())
	}
	if entry.Category = ach.CategoryForward; m.Addenda98 != nil {
		entry.Category = ach.CategoryNOC
	} else if m.Addenda99 != nil {
		entry.Category = ach.CategoryReturn
	}
	batch := ach.NewIATBatch(&alone)
	batch.AddEntry(&entry)
	return batch.Create()
}

// recordAbroad is what an entry of IAT has beside what all have.
func (e *Entry) recordAbroad(d *ach.EntryDetail) *ach.IATEntryDetail {
	a := ach.NewIATEntryDetail()
	a.TransactionCode, a.RDFIIdentification, a.CheckDigit = d.TransactionCode, d.RDFIIdentification, d.CheckDigit
	a.DFIAccountNumber, a.Amount, a.TraceNumber = d.DFIAccountNumber, d.Amount, d.TraceNumber
	if i := e.International; i != nil {
		number, _ := strconv.Atoi(e.Trace[8:])
		a.Addenda10 = &ach.Addenda10{
			TypeCode: "10", TransactionTypeCode: i.Purpose, ForeignPaymentAmount: int(i.ForeignAmount),
			ForeignTraceNumber: i.ForeignTrace, Name: cut(e.Name, 35), EntryDetailSequenceNumber: number,
		}
		a.Addenda11 = &ach.Addenda11{
			TypeCode: "11", OriginatorName: cut(i.Originator.Name, 35),
			OriginatorStreetAddress: cut(i.Originator.Street, 35), EntryDetailSequenceNumber: number,
		}
		a.Addenda12 = &ach.Addenda12{
			TypeCode: "12", OriginatorCityStateProvince: parted(i.Originator.City, i.Originator.State),
			OriginatorCountryPostalCode: parted(i.Originator.Country, i.Originator.PostalCode),
			EntryDetailSequenceNumber:   number,
		}
		a.Addenda13 = &ach.Addenda13{
			TypeCode: "13", ODFIName: cut(i.From.Name, 35), ODFIIDNumberQualifier: string(i.From.Kind),
			ODFIIdentification: i.From.ID, ODFIBranchCountryCode: i.From.Country, EntryDetailSequenceNumber: number,
		}
		a.Addenda14 = &ach.Addenda14{
			TypeCode: "14", RDFIName: cut(i.To.Name, 35), RDFIIDNumberQualifier: string(i.To.Kind),
			RDFIIdentification: i.To.ID, RDFIBranchCountryCode: i.To.Country, EntryDetailSequenceNumber: number,
		}
		a.Addenda15 = &ach.Addenda15{
			TypeCode: "15", ReceiverIDNumber: cut(e.ID, 15), ReceiverStreetAddress: cut(i.Receiver.Street, 35),
			EntryDetailSequenceNumber: number,
		}
		a.Addenda16 = &ach.Addenda16{
			TypeCode: "16", ReceiverCityStateProvince: parted(i.Receiver.City, i.Receiver.State),
			ReceiverCountryPostalCode: parted(i.Receiver.Country, i.Receiver.PostalCode),
			EntryDetailSequenceNumber: number,
		}
		e.optional(a, number)
	}
	a.AddendaRecords = made{d, a}.addenda()
	return a
}

// optional adds the addenda that not every entry has. What goes back leaves them out.
func (e *Entry) optional(a *ach.IATEntryDetail, number int) {
	if e.Return != nil || e.Dishonour != nil {
		return
	}
	for i, text := range pieces(e.Remittance, rails.IAT) {
		a.AddAddenda17(&ach.Addenda17{
			TypeCode: "17", PaymentRelatedInformation: text, SequenceNumber: i + 1, EntryDetailSequenceNumber: number,
		})
	}
	for i, c := range e.International.Correspondents {
		a.AddAddenda18(&ach.Addenda18{
			TypeCode: "18", ForeignCorrespondentBankName: cut(c.Name, 35),
			ForeignCorrespondentBankIDNumberQualifier: string(c.Kind), ForeignCorrespondentBankIDNumber: c.ID,
			ForeignCorrespondentBankBranchCountryCode: c.Country, SequenceNumber: i + 1,
			EntryDetailSequenceNumber: number,
		})
	}
}

// linesAbroad are the records of what only IAT has, without the entry.
func linesAbroad(a *ach.IATEntryDetail) (all []string) {
	if a.Addenda10 != nil {
		all = append(all, a.Addenda10.String(), a.Addenda11.String(), a.Addenda12.String(),
			a.Addenda13.String(), a.Addenda14.String(), a.Addenda15.String(), a.Addenda16.String())
	}
	for _, text := range a.Addenda17 {
		all = append(all, text.String())
	}
	for _, bank := range a.Addenda18 {
		all = append(all, bank.String())
	}
	return all
}

// attachAbroad makes an addenda of its entry of IAT; nil if it is not one that only IAT has. It is refused if
// it comes a second time, or after a later one.
func (m made) attachAbroad(record string) lineRecord {
	a := m.abroad
	if addenda(m.EntryDetail) > 0 {
		return nil
	}
	switch kind := record[1:3]; {
	case kind == "10" && m.addenda() == 0:
		a.Addenda10 = ach.NewAddenda10()
		return a.Addenda10
	case kind == "11" && m.addenda() == 1:
		a.Addenda11 = ach.NewAddenda11()
		return a.Addenda11
	case kind == "12" && m.addenda() == 2:
		a.Addenda12 = ach.NewAddenda12()
		return a.Addenda12
	case kind == "13" && m.addenda() == 3:
		a.Addenda13 = ach.NewAddenda13()
		return a.Addenda13
	case kind == "14" && m.addenda() == 4:
		a.Addenda14 = ach.NewAddenda14()
		return a.Addenda14
	case kind == "15" && m.addenda() == 5:
		a.Addenda15 = ach.NewAddenda15()
		return a.Addenda15
	case kind == "16" && m.addenda() == 6:
		a.Addenda16 = ach.NewAddenda16()
		return a.Addenda16
	case kind == "17" && a.Addenda16 != nil && len(a.Addenda17) < mostRemittances && len(a.Addenda18) == 0:
		one := ach.NewAddenda17()
		a.AddAddenda17(one)
		return one
	case kind == "18" && a.Addenda16 != nil && len(a.Addenda18) < mostCorrespondents:
		one := ach.NewAddenda18()
		a.AddAddenda18(one)
		return one
	}
	return nil
}

// unattached says why an addenda is none of its entry.
func (m made) unattached(record string) string {
	if m.abroad != nil && addenda(m.EntryDetail) == 0 && m.addenda() < mandatory {
		return fmt.Sprintf("must be %d here: an entry of IAT has 10 to 16 in their order", 10+m.addenda())
	}
	return "is not known, or one too many"
}

// mandatory is how many addenda every entry of IAT has.
const mandatory = 7

// foreignAmount is where the first addenda of IAT has an amount, or spaces.
var foreignAmount = [2]int{6, 24}

// checkAddenda says what is wrong with an addenda that only IAT has and that was just attached, which the
// library does not see.
func (m made) checkAddenda(record string) (field, reason string) {
	amount := record[foreignAmount[0]:foreignAmount[1]]
	switch kind := record[1:3]; {
	case kind > "18":
		return "", ""
	case record[87:] != m.TraceNumber[8:]:
		return "EntryDetailSequenceNumber", "does not follow the entry"
	case kind == "10" && !digits(amount, len(amount)) && trim(amount) != "":
		return "ForeignPaymentAmount", "has other characters than digits"
	case kind == "17" && record[83:87] != fmt.Sprintf("%04d", len(m.abroad.Addenda17)),
		kind == "18" && record[83:87] != fmt.Sprintf("%04d", len(m.abroad.Addenda18)):
		return "SequenceNumber", "does not follow the entry"
	}
	return "", ""
}

// readAbroad adds to an entry what only IAT says.
func (m made) readAbroad(e *Entry) {
	a := m.abroad
	e.Number, e.Name, e.ID, e.Data, e.Remittance = trim(a.DFIAccountNumber), "", "", "", ""
	if r := e.Return; r != nil && len(r.Information) >= 10 && digits(r.Information[:10], 10) {
		r.Information = strings.TrimSpace(r.Information[10:]) // the amount comes before it
	}
	if was := e.Change; was != nil && m.Addenda98 != nil { // it has room for six characters more
		e.Change = Corrected(was.Code, trim(m.Addenda98.IATCorrectedDataField()))
		e.Change.OriginalTrace, e.Change.OriginalBank = was.OriginalTrace, was.OriginalBank
	}
	if a.Addenda16 == nil { // a notice of change has none
		return
	}
	e.Name, e.ID = a.Addenda10.Name, trim(a.Addenda15.ReceiverIDNumber)
	i := &International{
		Purpose:       strings.ToUpper(a.Addenda10.TransactionTypeCode),
		ForeignAmount: int64(a.Addenda10.ForeignPaymentAmount), ForeignTrace: a.Addenda10.ForeignTraceNumber,
		Originator: Side{Name: a.Addenda11.OriginatorName, Street: a.Addenda11.OriginatorStreetAddress},
		Receiver:   Side{Street: a.Addenda15.ReceiverStreetAddress},
		From: Agent{
			a.Addenda13.ODFIName, AgentKind(a.Addenda13.ODFIIDNumberQualifier),
			a.Addenda13.ODFIIdentification, a.Addenda13.ODFIBranchCountryCode,
		},
		To: Agent{
			a.Addenda14.RDFIName, AgentKind(a.Addenda14.RDFIIDNumberQualifier),
			a.Addenda14.RDFIIdentification, a.Addenda14.RDFIBranchCountryCode,
		},
	}
	i.Originator.City, i.Originator.State = parts(a.Addenda12.OriginatorCityStateProvince)
	i.Originator.Country, i.Originator.PostalCode = parts(a.Addenda12.OriginatorCountryPostalCode)
	i.Receiver.City, i.Receiver.State = parts(a.Addenda16.ReceiverCityStateProvince)
	i.Receiver.Country, i.Receiver.PostalCode = parts(a.Addenda16.ReceiverCountryPostalCode)
	var text strings.Builder
	for n, line := range a.Addenda17 {
		text.WriteString(strings.Repeat(" ", max(0, 80*n-text.Len())))
		text.WriteString(line.PaymentRelatedInformation)
	}
	e.Remittance = text.String()
	for _, c := range a.Addenda18 {
		i.Correspondents = append(i.Correspondents, Agent{
			c.ForeignCorrespondentBankName, AgentKind(c.ForeignCorrespondentBankIDNumberQualifier),
			c.ForeignCorrespondentBankIDNumber, c.ForeignCorrespondentBankBranchCountryCode,
		})
	}
	e.International = i
}
