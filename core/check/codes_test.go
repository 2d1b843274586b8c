package check_test

import (
	"testing"

	"bankgraph/core/check"
	"bankgraph/core/fault"
)

func TestAnAccountNumberIsUpTo35LettersAndDigits(t *testing.T) {
	t.Parallel()
	expect(t, (*check.Fields).AccountNumber,
		[]string{"4027182818", "GB29NWBK60161331926819", "0001", "ABCDEFGHIJKLMNOPQRSTUVWXYZ012345678"},
		map[string]fault.Problem{
			"12-34": fault.Malformed, "12 34": fault.Malformed, "١٢٣": fault.Malformed, "000": fault.AllZero,
			"ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789": fault.Max,
		})
}

func TestATaxIDIsUpTo10LettersDigitsAndHyphens(t *testing.T) {
	t.Parallel()
	expect(t, (*check.Fields).TaxID, []string{"071234567", "07-1234567", "AB12345678"}, map[string]fault.Problem{
		"123-45-6789": fault.Max, "-12345": fault.Malformed, "12--3": fault.Malformed, "12 345": fault.Malformed, "000000000": fault.AllZero,
		"00-0000000": fault.AllZero,
	})
}

func TestAnACHCompanyIDHasTenDigits(t *testing.T) {
	t.Parallel()
	expect(t, (*check.Fields).ACHCompanyID, []string{"1071234567"}, map[string]fault.Problem{
		"107123456": fault.Exact, "10712345678": fault.Exact, "107123456X": fault.Number, "0000000000": fault.AllZero,
	})
}

// The first is GLEIF's own.
func TestALEIHasRightCheckDigits(t *testing.T) {
	t.Parallel()
	expect(t, (*check.Fields).LEI, []string{"506700GE1G29325QX363", "5493001KJTIIGC8Y1R12", "529900T8BM49AURSDO55"},
		map[string]fault.Problem{
			"506700GE1G29325QX364": fault.Malformed, "506700GE1G29325QX36": fault.Malformed, "506700ge1g29325qx363": fault.Malformed,
			"506711GE1G29325QX370": fault.Malformed, // true to ISO 17442, but its fifth and sixth place are not 00
		})
}

func TestARoutingNumberHasItsCheckDigit(t *testing.T) {
	t.Parallel()
	expect(t, (*check.Fields).Routing, []string{"021000021", "011000015", "122000247", "322271627", "611090001", "611590103"},
		map[string]fault.Problem{
			"021000022": fault.Malformed, "12000021": fault.Exact, "0210000210": fault.Exact, "02100002X": fault.Number, "000000000": fault.AllZero,
			"131000021": fault.Malformed, "411000010": fault.Malformed, "991000019": fault.Malformed, "٠٢١٠٠٠٠٢١": fault.Number,
		})
}

func TestABICHasACountry(t *testing.T) {
	t.Parallel()
	expect(t, func(c *check.Fields, field, value string) { c.BIC(field, value) },
		[]string{"DEUTDEFF", "deutdeff500", "SNDBUS30", "NCBVXKPR", "RHNUDEF0"},
		map[string]fault.Problem{
			"DEUTDEF": fault.Malformed, "DEUTDEFF50": fault.Malformed, "DEUTZZFF": fault.Malformed, "DEUT DEFF": fault.Malformed, "DEUTDEFF5000": fault.Malformed,
		})
	if got := check.Of("thing").BIC("field", "deutdeff500"); got != "DEUTDEFF500" {
		t.Error(got)
	}
}

// Examples of the registry and of national banks.
func TestAnIBANHasItsCountrysFormAndRightCheckDigits(t *testing.T) {
	t.Parallel()
	expect(t, func(c *check.Fields, field, value string) { c.IBAN(field, value) }, []string{
		"GB29 NWBK 6016 1331 9268 19", "de89370400440532013000", "FR1420041010050500013M02606", "BE68539007547034",
		"NL91ABNA0417164300", "CH9300762011623852957", "MT84MALT011000012345MTLCAST001S", "NO9386011117947",
		"XK051212012345678906", "SC18SSCB11010000000000001497USD", "BR1800360305000010009795493C1", "TR330006100519786457841326",
		"LC55HEMM000100010012001200023015", "AL47212110090000000235698741",
	}, map[string]fault.Problem{
		"GB29NWBK60161331926818": fault.Malformed, "GB29NWBK6016133192681": fault.Malformed, "GB29NWBK601613319268199": fault.Malformed,
		"ZZ29NWBK60161331926819": fault.Malformed, "DE8937040044053201300X": fault.Malformed, "GB": fault.Malformed, "US00": fault.Malformed,
		"GB29-NWBK-6016-1331-9268-19": fault.Malformed,
	})
	if got := check.Of("thing").IBAN("field", "gb29 NWBK 6016 1331 9268 19"); got != "GB29NWBK60161331926819" {
		t.Error(got)
	}
}

func TestEntryClassesAreThoseOfACH(t *testing.T) {
	t.Parallel()
	expect(t, func(c *check.Fields, field, value string) { c.SECCode(field, value) }, []string{"ccd", "PPD", "XCK", "IAT"},
		map[string]fault.Problem{"ABC": fault.Malformed, "CC": fault.Malformed, "CCDD": fault.Malformed})
	if got := check.Of("thing").SECCode("field", "ccd"); got != "CCD" {
		t.Error(got)
	}
}

func TestACountryIsReadByEitherCode(t *testing.T) {
	t.Parallel()
	for written, want := range map[string]string{"US": "US", "usa": "US", "GBR": "GB", "XK": "XK", "deu": "DE"} {
		c := check.Of("thing")
		if got := c.Country("field", written); got != want || c.Err() != nil {
			t.Errorf("%s: %q %v", written, got, c.Err())
		}
	}
	expect(t, func(c *check.Fields, field, value string) { c.Country(field, value) }, nil,
		map[string]fault.Problem{"UK": fault.Malformed, "U": fault.Malformed, "Germany": fault.Malformed, "ZZZ": fault.Malformed})
}

func TestACountryIsReadByItsName(t *testing.T) {
	t.Parallel()
	for written, want := range map[string]string{
		"United States": "US", "united states of america": "US", "USA": "US", "Great Britain": "GB", "Germany": "DE",
		"Côte d'Ivoire": "CI", "South Korea": "KR", "Korea, Republic of": "KR", "Turkey": "TR", "Kosovo": "XK",
	} {
		c := check.Of("thing")
		if got := c.CountryName("field", written); got.Code != want || got.Name == "" || c.Err() != nil {
			t.Errorf("%s: %+v %v", written, got, c.Err())
		}
	}
	expect(t, func(c *check.Fields, field, value string) { c.CountryName(field, value) }, nil,
		map[string]fault.Problem{"Atlantis": fault.Malformed})
}
