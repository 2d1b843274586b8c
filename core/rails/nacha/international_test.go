package nacha_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"bankgraph/core/money"
	"bankgraph/core/rails"
	"bankgraph/core/rails/nacha"
)

// abroad is a batch of IAT.
func abroad() nacha.Batch {
	b := payroll()
	b.Class, b.CompanyName = rails.IAT, ""
	b.Abroad = nacha.Abroad{Exchange: nacha.FixedToVariable, Country: "DE", From: "USD", To: "EUR"}
	return b
}

// remitted is an entry of IAT with all that one can have.
func remitted() nacha.Entry {
	return nacha.Entry{
		Account: rails.Checking, Direction: rails.Credit, Kind: nacha.Live, Amount: money.Of(1_234_56, "USD"),
		Routing: "121182904", Number: "DE89370400440532013000", Name: "Gerda Musterfrau and Sons of Berlin",
		ID: "E-17", Remittance: "Invoice 4711" + strings.Repeat(" ", 70) + "and 4712",
		International: &nacha.International{
			Purpose: "BUS", ForeignAmount: 1_100_00, ForeignTrace: "F-1",
			Originator: nacha.Side{
				Name: "Northwind Traders", Street: "1 Main Street", City: "New York", State: "NY", Country: "US",
				PostalCode: "10036",
			},
			Receiver: nacha.Side{Street: "Unter den Linden 1", City: "Berlin", Country: "DE", PostalCode: "10117"},
			From:     nacha.Agent{Name: "First Bank", Kind: nacha.National, ID: "021040078", Country: "US"},
			To:       nacha.Agent{Name: "Commerzbank", Kind: nacha.BIC, ID: "COBADEFFXXX", Country: "DE"},
			Correspondents: []nacha.Agent{
				{Name: "Bank of Paris", Kind: nacha.BIC, ID: "BNPAFRPP", Country: "FR"},
				{Name: "Bank of Rome", Kind: nacha.IBAN, ID: "IT60X0542811101000000123456", Country: "IT"},
			},
		},
	}
}

// without is an entry of IAT with only what is mandatory.
func without() nacha.Entry {
	e := remitted()
	e.Remittance, e.International.Correspondents = "", nil
	return e
}

func TestEntriesOfIATAreReadAgainAndByOthers(t *testing.T) {
	t.Parallel()
	debit, prenote, returned, changed := remitted(), without(), without(), without()
	debit.Direction, debit.Account = rails.Debit, rails.Savings
	prenote.Kind, prenote.Amount.Minor = nacha.Prenote, 0
	returned.Return = &nacha.Return{
		Code: "R80", OriginalTrace: "021040070000001", OriginalBank: "12118290", Information: "as told",
	}
	changed.Name, changed.ID, changed.International, changed.Amount.Minor = "", "", nil, 0
	changed.Change = &nacha.Change{
		Code: "C01", OriginalTrace: "021040070000001", OriginalBank: "12118290", Data: "DE89370400440532013001",
		Account: "DE89370400440532013001",
	}
	for name, c := range map[string]struct {
		change  func(*nacha.Batch)
		entries []nacha.Entry
	}{
		"live": {func(*nacha.Batch) {}, []nacha.Entry{remitted(), without(), debit, prenote}},
		"fixed to fixed": {
			func(b *nacha.Batch) { b.Abroad.Exchange, b.Abroad.To = nacha.FixedToFixed, "USD" },
			[]nacha.Entry{remitted()},
		},
		"variable to fixed, at a rate": {func(b *nacha.Batch) {
			b.Abroad.Exchange, b.Abroad.ReferenceKind = nacha.VariableToFixed, nacha.ExchangeRate
			b.Abroad.Reference = "0.9112"
		}, []nacha.Entry{remitted()}},
		"reversal": {
			func(b *nacha.Batch) { b.Description = nacha.Reversal },
			[]nacha.Entry{without().Reversed()},
		},
		"return":  {func(*nacha.Batch) {}, []nacha.Entry{returned}},
		"changes": {func(b *nacha.Batch) { b.Class = nacha.COR }, []nacha.Entry{changed}},
	} {
		b := abroad()
		c.change(&b)
		text := file(t, b, c.entries...)
		f := understood(t, text)
		if len(f.IATBatches) != 1 || len(f.IATBatches[0].Entries) != len(c.entries) {
			t.Errorf("%s: others read %+v", name, f.IATBatches)
		}
		got, err := reading(text)
		if err != nil {
			t.Errorf("%s: %v in\n%s", name, err, text)
			continue
		}
		if diff := cmp.Diff(c.entries, got.entries, ignored); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		b.Bank, b.Number, b.Line = b.Bank[:8], 1, 2
		if diff := cmp.Diff([]nacha.Batch{b}, got.batches); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestOthersReadInAnEntryOfIATWhatWasWritten(t *testing.T) {
	t.Parallel()
	batch := understood(t, file(t, abroad(), remitted())).IATBatches[0]
	h, e := batch.Header, batch.Entries[0]
	for what, is := range map[string][2]string{
		"exchange": {h.ForeignExchangeIndicator, "FV"}, "country": {h.ISODestinationCountryCode, "DE"},
		"currencies": {h.ISOOriginatingCurrencyCode + h.ISODestinationCurrencyCode, "USDEUR"},
		"company":    {h.OriginatorIdentification, "1234567890"},
		"gateway":    {e.RDFIIdentification + e.CheckDigit, "121182904"},
		"number":     {e.DFIAccountNumber, "DE89370400440532013000"},
		"purpose":    {e.Addenda10.TransactionTypeCode, "BUS"},
		"amount":     {fmt.Sprint(e.Addenda10.ForeignPaymentAmount), "110000"},
		"receiver":   {e.Addenda10.Name, "Gerda Musterfrau and Sons of Berlin"},
		"originator": {e.Addenda11.OriginatorName, "Northwind Traders"},
		"city":       {e.Addenda12.OriginatorCityStateProvince, `New York*NY\`},
		"land":       {e.Addenda12.OriginatorCountryPostalCode, `US*10036\`},
		"bank":       {e.Addenda13.ODFIIDNumberQualifier + e.Addenda13.ODFIIdentification, "01021040078"},
		"other bank": {e.Addenda14.RDFIIDNumberQualifier + e.Addenda14.RDFIIdentification, "02COBADEFFXXX"},
		"id":         {e.Addenda15.ReceiverIDNumber, "E-17"},
		"its city":   {e.Addenda16.ReceiverCityStateProvince, `Berlin\`},
		"remittance": {e.Addenda17[1].PaymentRelatedInformation, "and 4712"},
		"between":    {e.Addenda18[1].ForeignCorrespondentBankName, "Bank of Rome"},
		"records":    {fmt.Sprint(e.AddendaRecords), "11"},
	} {
		if is[0] != is[1] {
			t.Errorf("%s is %q, not %q", what, is[0], is[1])
		}
	}
}

func TestWhatIATWouldRefuseIsNotWritten(t *testing.T) {
	t.Parallel()
	for field, change := range map[string]func(*nacha.Batch, *nacha.Entry){
		"SameDay": func(b *nacha.Batch, _ *nacha.Entry) { b.SameDay = true },
		"Offset": func(b *nacha.Batch, _ *nacha.Entry) {
			b.Offset = &nacha.Offset{Account: rails.GL, Routing: "021040078", Number: "1", Name: "x"}
		},
		"ForeignExchangeIndicator": func(b *nacha.Batch, _ *nacha.Entry) { b.Abroad.Exchange = "XX" },
		"ForeignExchangeReference": func(b *nacha.Batch, _ *nacha.Entry) { b.Abroad.Reference = "7" },
		"ForeignExchangeReferenceIndicator": func(b *nacha.Batch, _ *nacha.Entry) {
			b.Abroad.ReferenceKind = 4
		},
		"ISODestinationCountryCode":  func(b *nacha.Batch, _ *nacha.Entry) { b.Abroad.Country = "ZZ" },
		"ISOOriginatingCurrencyCode": func(b *nacha.Batch, _ *nacha.Entry) { b.Abroad.From = "" },
		"ISODestinationCurrencyCode": func(b *nacha.Batch, _ *nacha.Entry) { b.Abroad.To = "ZZZ" },
		"International":              func(_ *nacha.Batch, e *nacha.Entry) { e.International = nil },
		"International of PPD":       func(b *nacha.Batch, _ *nacha.Entry) { *b = payroll() },
		"TransactionTypeCode":        func(_ *nacha.Batch, e *nacha.Entry) { e.International.Purpose = "XXX" },
		"ForeignPaymentAmount": func(_ *nacha.Batch,
			e *nacha.Entry,
		) {
			e.International.ForeignAmount = 1e18
		},
		"ForeignPaymentAmount below": func(_ *nacha.Batch, e *nacha.Entry) { e.International.ForeignAmount = -1 },
		"ForeignTraceNumber": func(_ *nacha.Batch,
			e *nacha.Entry,
		) {
			e.International.ForeignTrace = tooLong
		},
		"Name":         func(_ *nacha.Batch, e *nacha.Entry) { e.Name = "" },
		"Name letters": func(_ *nacha.Batch, e *nacha.Entry) { e.Name = "日本" },
		"Number":       func(_ *nacha.Batch, e *nacha.Entry) { e.Number = tooLong },
		"OriginatorName": func(_ *nacha.Batch,
			e *nacha.Entry,
		) {
			e.International.Originator.Name = ""
		},
		"OriginatorStreetAddress": func(_ *nacha.Batch,
			e *nacha.Entry,
		) {
			e.International.Originator.Street = ""
		},
		"OriginatorCityStateProvince": func(_ *nacha.Batch,
			e *nacha.Entry,
		) {
			e.International.Originator.City = tooLong
		},
		"Address": func(_ *nacha.Batch,
			e *nacha.Entry,
		) {
			e.International.Receiver.City = "a*b"
		},
		"ReceiverStreetAddress": func(_ *nacha.Batch,
			e *nacha.Entry,
		) {
			e.International.Receiver.Street = ""
		},
		"ReceiverCountryPostalCode": func(_ *nacha.Batch, e *nacha.Entry) {
			e.International.Receiver.PostalCode = tooLong
		},
		"RDFIName":              func(_ *nacha.Batch, e *nacha.Entry) { e.International.To.Name = "" },
		"RDFIIDNumberQualifier": func(_ *nacha.Batch, e *nacha.Entry) { e.International.To.Kind = "04" },
		"RDFIIdentification":    func(_ *nacha.Batch, e *nacha.Entry) { e.International.To.ID = "" },
		"ODFIBranchCountryCode": func(_ *nacha.Batch, e *nacha.Entry) { e.International.From.Country = "" },
		"Agent":                 func(_ *nacha.Batch, e *nacha.Entry) { e.International.To.ID = tooLong },
		"Correspondents": func(_ *nacha.Batch, e *nacha.Entry) {
			e.International.Correspondents = make([]nacha.Agent, 6)
		},
		"Amount": func(_ *nacha.Batch, e *nacha.Entry) { e.Amount.Minor = 0 },
	} {
		b, e := abroad(), remitted()
		change(&b, &e)
		w, err := nacha.NewWriter(io.Discard, header())
		if err != nil {
			t.Fatal(err)
		}
		var wrong nacha.Fault
		if err = w.Batch(b); err == nil {
			_, err = w.Entry(e)
		}
		if !errors.As(err, &wrong) || wrong.Field != strings.Fields(field)[0] {
			t.Errorf("%s: %v", field, err)
		} else if strings.Contains(err.Error(), tooLong) || strings.Contains(err.Error(), "DE89") {
			t.Errorf("%s: the error quotes: %v", field, err)
		}
	}
}

const tooLong = "0123456789012345678901234567890123456789"

func TestTextsOfIATAreCut(t *testing.T) {
	t.Parallel()
	e := remitted()
	e.Name, e.International.Originator.Name = "é"+tooLong, "Ø"+tooLong
	e.International.Receiver.Street, e.International.To.Name = tooLong, tooLong
	e.Remittance = strings.Repeat("x", 200)
	got, err := reading(file(t, abroad(), e))
	if err != nil {
		t.Fatal(err)
	}
	if e, i := got.entries[0], got.entries[0].International; e.Name != "e"+tooLong[:34] ||
		len(e.Remittance) != 160 ||
		i.Originator.Name != "O"+tooLong[:34] || i.Receiver.Street != tooLong[:35] ||
		i.To.Name != tooLong[:35] {
		t.Errorf("%+v %+v", e, i)
	}
}

func TestFaultsOfIATAreNamedAndTheOthersAreRead(t *testing.T) {
	t.Parallel()
	// the file header, the batch header, an entry with eleven addenda and one with seven, and the controls
	lines := func() []string {
		return strings.Split(strings.TrimSuffix(file(t, abroad(), remitted(), without()), "\n"), "\n")
	}
	const second = 14
	for name, c := range map[string]struct {
		change  func([]string)
		faults  string
		entries int
	}{
		"none":                 {func([]string) {}, "", 2},
		"no exchange":          {func(l []string) { l[1] = put(l[1], 20, "XX") }, "2 batch header", 0},
		"no kind of reference": {func(l []string) { l[1] = put(l[1], 22, "x") }, "2 batch header", 0},
		"no country":           {func(l []string) { l[1] = put(l[1], 38, "ZZ") }, "2 batch header", 0},
		"no currency":          {func(l []string) { l[1] = put(l[1], 63, "ZZZ") }, "2 batch header", 0},
		"another class":        {func(l []string) { l[1] = put(l[1], 50, "PPD") }, "2 batch header", 0},
		"a wrong count":        {func(l []string) { l[2] = put(l[2], 12, "0010") }, "3 entry", 1},
		"letters in a count":   {func(l []string) { l[2] = put(l[2], 12, "001x") }, "3 entry", 1},
		"no addenda":           {func(l []string) { l[2] = put(l[2], 78, "0") }, "3 entry", 1},
		"one is missing":       {func(l []string) { l[7] = "" }, "9 addenda", 1},
		"the last is missing": {
			func(l []string) { l[second+7] = "" },
			"15 entry,23 batch control,24 file control", 1,
		},
		"one comes twice":       {func(l []string) { l[4] = l[3] }, "5 addenda", 1},
		"they are out of order": {func(l []string) { l[3], l[4] = l[4], l[3] }, "4 addenda", 1},
		"one of other classes":  {func(l []string) { l[9] = put(l[9], 1, "05") }, "10 addenda", 1},
		"three remittances":     {func(l []string) { l[11] += "\n" + l[11] }, "13 addenda", 1},
		"a remittance later":    {func(l []string) { l[11], l[12] = l[12], l[11] }, "13 addenda", 1},
		"six correspondents":    {func(l []string) { l[13] += strings.Repeat("\n"+l[13], 4) }, "15 addenda", 1},
		"of another entry":      {func(l []string) { l[5] = put(l[5], 87, "0000009") }, "6 addenda", 1},
		"letters in a sequence": {func(l []string) { l[12] = put(l[12], 83, "000x") }, "13 addenda", 1},
		"letters in an amount":  {func(l []string) { l[3] = put(l[3], 20, "x") }, "4 addenda", 1},
		"no purpose":            {func(l []string) { l[3] = put(l[3], 3, "XXX") }, "4 addenda", 1},
		"no name": {
			func(l []string) { l[3] = put(l[3], 46, strings.Repeat(" ", 35)) }, "4 addenda",
			1,
		},
		"no street": {
			func(l []string) { l[4] = put(l[4], 38, strings.Repeat(" ", 35)) }, "5 addenda",
			1,
		},
		"no kind of bank":     {func(l []string) { l[7] = put(l[7], 38, "07") }, "8 addenda", 1},
		"no number":           {func(l []string) { l[2] = put(l[2], 39, strings.Repeat(" ", 35)) }, "3 entry", 1},
		"a wrong check digit": {func(l []string) { l[2] = put(l[2], 11, "5") }, "3 entry", 1},
		"an amount of 0": {
			func(l []string) { l[2] = put(l[2], 29, "0000000000") },
			"3 entry,23 batch control,24 file control", 1,
		},
		"a notice of change": {
			func(l []string) { l[second] = put(l[second], 1, "21"); l[second+1] = put(l[second+1], 1, "98C01") },
			"17 addenda", 1,
		},
	} {
		l := lines()
		c.change(l)
		got, err := reading(strings.Join(l, "\n") + "\n")
		var faults nacha.Faults
		if !errors.As(err, &faults) && err != nil {
			t.Errorf("%s: %v", name, err)
		}
		var told []string
		for _, f := range faults {
			if text := fmt.Sprint(f.Line, " ", f.Record); len(told) == 0 || told[len(told)-1] != text {
				told = append(told, text)
			}
			if strings.Contains(f.Error(), "DE89") || strings.Contains(f.Error(), "Gerda") {
				t.Errorf("%s: the fault quotes: %v", name, f)
			}
		}
		if text := strings.Join(told, ","); !strings.HasPrefix(text, c.faults) ||
			text == "" != (c.faults == "") ||
			len(got.entries) != c.entries {
			t.Errorf("%s: %d entries, %q: %v", name, len(got.entries), text, err)
		}
	}
}

// An entry without one of its addenda is told once which one, and not once for each that follows.
func TestAnEntryOfIATIsToldWhichOfItsAddendaIsMissing(t *testing.T) {
	t.Parallel()
	lines := strings.Split(file(t, abroad(), remitted()), "\n")
	at := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, "713") })
	_, err := reading(strings.Join(slices.Delete(lines, at, at+1), "\n"))
	var faults nacha.Faults
	if !errors.As(err, &faults) {
		t.Fatal(err)
	}
	if faults = slices.DeleteFunc(faults,
		func(f nacha.Fault) bool { return f.Record != "addenda" }); len(faults) != 1 ||
		faults[0].Reason != "must be 13 here: an entry of IAT has 10 to 16 in their order" {
		t.Errorf("%+v", faults)
	}
}

func TestANoticeOfIATHasRoomForSixCharactersMore(t *testing.T) {
	t.Parallel()
	e := without()
	e.International, e.Amount.Minor = nil, 0
	e.Change = &nacha.Change{Code: "C01", OriginalTrace: "021040070000001", OriginalBank: "12118290", Data: "1"}
	b := abroad()
	b.Class = nacha.COR
	text := strings.Split(file(t, b, e), "\n")
	text[3] = put(text[3], 35, "MT84MALT011000012345MTLCAST001S0012")
	got, err := reading(strings.Join(text, "\n"))
	if err != nil || got.entries[0].Change.Account != "MT84MALT011000012345MTLCAST001S0012" ||
		got.entries[0].Change.OriginalTrace != "021040070000001" {
		t.Errorf("%+v (%v)", got.entries, err)
	}
}

func TestAmountsAbroadMayBeBlank(t *testing.T) {
	t.Parallel()
	text := strings.Split(file(t, abroad(), without()), "\n")
	text[3] = put(text[3], 6, strings.Repeat(" ", 18))
	got, err := reading(strings.Join(text, "\n"))
	if err != nil || got.entries[0].International.ForeignAmount != 0 {
		t.Errorf("%+v (%v)", got.entries, err)
	}
}

func TestDishonoursOfReturnsOfIATAreReadAgain(t *testing.T) {
	t.Parallel()
	e := without()
	e.Dishonour = &nacha.Dishonour{
		Code: "R68", OriginalTrace: "021040070000001", OriginalBank: "12118290", ReturnTrace: "121182900000009",
		ReturnSettled: 329, ReturnCode: "R03", Information: "late",
	}
	got, err := reading(file(t, abroad(), e))
	if diff := cmp.Diff([]nacha.Entry{e}, got.entries, ignored); diff != "" || err != nil {
		t.Errorf("%s (%v)", diff, err)
	}
}

func TestBatchesOfIATStandBesideOthers(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	w, err := nacha.NewWriter(&out, header())
	if err != nil {
		t.Fatal(err)
	}
	for _, of := range []struct {
		batch nacha.Batch
		entry nacha.Entry
	}{{payroll(), wage()}, {abroad(), remitted()}, {payroll(), wage()}} {
		if err := w.Batch(of.batch); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Entry(of.entry); err != nil {
			t.Fatal(err)
		}
	}
	totals, err := w.Close()
	if err != nil || totals.Addenda != 11 {
		t.Fatalf("%+v (%v)", totals, err)
	}
	if f := understood(t, out.String()); len(f.Batches) != 2 || len(f.IATBatches) != 1 {
		t.Errorf("others read %d and %d batches", len(f.Batches), len(f.IATBatches))
	}
	if got, err := reading(out.String()); err != nil || len(got.entries) != 3 || got.totals != totals {
		t.Errorf("%+v (%v)", got, err)
	}
}
