package check_test

import (
	"fmt"
	"slices"
	"strings"
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

func TestATaxIDIsSoManyLettersDigitsAndHyphens(t *testing.T) {
	t.Parallel()
	expect(t, func(c *check.Fields, field, value string) { c.TaxID(field, value, 10) },
		[]string{"071234567", "07-1234567", "AB12345678"}, map[string]fault.Problem{
			"123-45-6789": fault.Max, "-12345": fault.Malformed, "12--3": fault.Malformed, "12 345": fault.Malformed,
			"000000000":  fault.AllZero,
			"00-0000000": fault.AllZero,
		})
}

func TestAnACHCompanyIDHasTenDigits(t *testing.T) {
	t.Parallel()
	expect(t, (*check.Fields).ACHCompanyID, []string{"1071234567"}, map[string]fault.Problem{
		"107123456": fault.Exact, "10712345678": fault.Exact, "107123456X": fault.Number,
		"0000000000": fault.AllZero,
	})
}

// The first is GLEIF's own.
func TestALEIHasRightCheckDigits(t *testing.T) {
	t.Parallel()
	expect(t, (*check.Fields).LEI,
		[]string{"506700GE1G29325QX363", "5493001KJTIIGC8Y1R12", "529900T8BM49AURSDO55"},
		map[string]fault.Problem{
			"506700GE1G29325QX364": fault.Malformed, "506700GE1G29325QX36": fault.Malformed,
			"506700ge1g29325qx363": fault.Malformed,
			// valid by ISO 17442, but the fifth and sixth characters are not 00
			"506711GE1G29325QX370": fault.Malformed,
		})
}

func TestARoutingNumberHasItsCheckDigit(t *testing.T) {
	t.Parallel()
	expect(t, (*check.Fields).Routing,
		[]string{"021000021", "011000015", "122000247", "322271627", "611090001", "611590103"},
		map[string]fault.Problem{
			"021000022": fault.Malformed, "12000021": fault.Exact, "0210000210": fault.Exact,
			"02100002X": fault.Number, "000000000": fault.AllZero,
			"131000021": fault.Malformed, "411000010": fault.Malformed, "991000019": fault.Malformed,
			"٠٢١٠٠٠٠٢١": fault.Number,
		})
}

func TestABICHasACountry(t *testing.T) {
	t.Parallel()
	expect(t, func(c *check.Fields, field, value string) { c.BIC(field, value) },
		[]string{"DEUTDEFF", "deutdeff500", "SNDBUS30", "NCBVXKPR", "RHNUDEF0"},
		map[string]fault.Problem{
			"DEUTDEF": fault.Malformed, "DEUTDEFF50": fault.Malformed, "DEUTZZFF": fault.Malformed,
			"DEUT DEFF": fault.Malformed, "DEUTDEFF5000": fault.Malformed,
			"\u017fndbus30": fault.Malformed, // a long s
		})
	if got := check.Of("thing").BIC("field", "deutdeff500"); got != "DEUTDEFF500" {
		t.Error(got)
	}
}

// Examples of the registry and of national banks.
func TestAnIBANHasItsCountrysFormAndRightCheckDigits(t *testing.T) {
	t.Parallel()
	expect(t, func(c *check.Fields, field, value string) { c.IBAN(field, value) }, []string{
		"GB29 NWBK 6016 1331 9268 19", "de89370400440532013000",
		"FR1420041010050500013M02606", "BE68539007547034",
		"NL91ABNA0417164300", "CH9300762011623852957", "MT84MALT011000012345MTLCAST001S", "NO9386011117947",
		"XK051212012345678906", "SC18SSCB11010000000000001497USD", "BR1800360305000010009795493C1",
		"TR330006100519786457841326",
		"LC55HEMM000100010012001200023015", "AL47212110090000000235698741",
	}, map[string]fault.Problem{
		"GB29NWBK60161331926818": fault.Malformed, "GB29NWBK6016133192681": fault.Malformed,
		"GB29NWBK601613319268199": fault.Malformed,
		"ZZ29NWBK60161331926819":  fault.Malformed, "DE8937040044053201300X": fault.Malformed,
		"GB": fault.Malformed, "US00": fault.Malformed,
		"GB29-NWBK-6016-1331-9268-19": fault.Malformed,
	})
	if got := check.Of("thing").IBAN("field", "gb29 NWBK 6016 1331 9268 19"); got != "GB29NWBK60161331926819" {
		t.Error(got)
	}
}

// examplesOfIBANs are those of the registry, one of each country in it.
var examplesOfIBANs = strings.Fields(`
	AD1200012030200359100100 AE070331234567890123456 AL47212110090000000235698741 AT611904300234573201
	AZ21NABZ00000000137010001944 BA391290079401028494 BE68539007547034 BG80BNBG96611020345678
	BH67BMAG00001299123456 BI4210000100010000332045181 BR1800360305000010009795493C1 CH9300762011623852957
	CR05015202001026284066 CY17002001280000001200527600 CZ6508000000192000145399 DE89370400440532013000
	DJ2100010000000154000100186 DK5000400440116243 DO28BAGR00000001212453611324 EE382200221020145685
	EG380019000500000000263180002 ES9121000418450200051332 FI2112345600000785 FK88SC123456789012
	FO6264600001631634 FR1420041010050500013M02606 GB29NWBK60161331926819 GE29NB0000000101904917
	GI75NWBK000000007099453 GL8964710001000206 GR1601101250000000012300695 GT82TRAJ01020000001210029690
	HN88CABF00000000000250005469 HR1210010051863000160 HU42117730161111101800000000 IE29AIBK93115212345678
	IL620108000000099999999 IQ98NBIQ850123456789012 IS140159260076545510730339 IT60X0542811101000000123456
	JO94CBJO0010000000000131000302 KW81CBKU0000000000001234560101 KZ86125KZT5004100100
	LB62099900000001001901229114 LC55HEMM000100010012001200023015 LI21088100002324013AA LT121000011101001000
	LU280019400644750000 LV80BANK0000435195001 LY83002048000020100120361 MC5811222000010123456789030
	MD24AG000225100013104168 ME25505000012345678951 MK07250120000058984 MN121234123456789123
	MR1300020001010000123456753 MT84MALT011000012345MTLCAST001S MU17BOMM0101101030300200000MUR
	NI45BAPR00000013000003558124 NL91ABNA0417164300 NO9386011117947 OM810180000001299123456
	PK36SCBL0000001123456702 PL61109010140000071219812874 PS92PALS000000000400123456702 PT50000201231234567890154
	QA58DOHB00001234567890ABCDEFG RO49AAAA1B31007593840000 RS35260005601001611379
	RU0304452522540817810538091310419 SA0380000000608010167519 SC18SSCB11010000000000001497USD SD8811123456789012
	SE4550000000058398257466 SI56263300012039086 SK3112000000198742637541 SM86U0322509800000000270100
	SO211000001001000100141 ST23000100010051845310146 SV62CENR00000000000000700025 TL380080012345678910157
	TN5910006035183598478831 TR330006100519786457841326 UA213223130000026007233566001 VA59001123000012345678
	VG96VPVG0000012345678901 XK051212012345678906 YE15CBYE0001018861234567891234 BY13NBRB3600900000002Z00AB00`)

func TestAnIBANOfEveryCountryIsTaken(t *testing.T) {
	t.Parallel()
	examples := examplesOfIBANs
	if len(examples) != 89 {
		t.Errorf("%d examples", len(examples))
	}
	expect(t, func(c *check.Fields, field, value string) { c.IBAN(field, value) }, examples, nil)
	for _, e := range examples { // two digits of the account removed, with correct check digits for the rest
		short := e[:len(e)-2]
		short = short[:2] + fmt.Sprintf("%02d", 98-remainder97(short[4:]+short[:2]+"00")) + short[4:]
		if passes(func(c *check.Fields, field, value string) { c.IBAN(field, value) }, short) {
			t.Errorf("%s is too short for its country", short)
		}
	}
}

func TestEntryClassesAreThoseOfACH(t *testing.T) {
	t.Parallel()
	expect(t, func(c *check.Fields, field, value string) { c.SECCode(field, value) },
		[]string{"ccd", "PPD", "XCK", "IAT"},
		map[string]fault.Problem{"ABC": fault.Malformed, "CC": fault.Malformed, "CCDD": fault.Malformed})
	if got := check.Of("thing").SECCode("field", "ccd"); got != "CCD" {
		t.Error(got)
	}
}

func TestAListHasEachEntryClassOnce(t *testing.T) {
	t.Parallel()
	c := check.Of("thing")
	if got := c.SECCodes("field",
		[]string{"ccd", "PPD", "CCD", "ppd"}); !slices.Equal(got, []string{"CCD", "PPD"}) || c.Err() != nil {
		t.Errorf("%v %v", got, c.Err())
	}
	if c.SECCodes("field", nil) != nil || c.SECCodes("field", []string{}) == nil {
		t.Error("a list that was not given is an empty one, or the other way round")
	}
	for _, wrong := range []string{"", " ", "ZZZ"} {
		c := check.Of("thing")
		if c.SECCodes("field", []string{"CCD", wrong}); c.Err() == nil {
			t.Errorf("%q passes", wrong)
		}
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
		map[string]fault.Problem{
			"UK": fault.Malformed, "U": fault.Malformed, "Germany": fault.Malformed, "ZZZ": fault.Malformed,
		})
}

// ISO 3166-1 lists 249 countries; Kosovo makes 250.
func TestEveryCountryHasTwoCodesAndAName(t *testing.T) {
	t.Parallel()
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	two, three := 0, 0
	for _, a := range letters {
		for _, b := range letters {
			if country, ok := check.CountryOf(string(a) + string(b)); ok {
				two++
				if byName, _ := check.CountryOf(strings.ToUpper(country.Name)); byName != country {
					t.Errorf("%+v has the name of %+v", country, byName)
				}
				if byCode, _ := check.CountryOf(country.Alpha3); byCode != country {
					t.Errorf("%+v has the code of %+v", country, byCode)
				}
			}
			for _, c := range letters {
				if country, ok := check.CountryOf(string(a) + string(b) + string(c)); ok &&
					country.Alpha3 == string(a)+string(b)+string(c) {
					three++
				}
			}
		}
	}
	if two != 250 || three != 250 {
		t.Errorf("%d codes of two letters, %d of three", two, three)
	}
}

func TestACountryIsReadByItsName(t *testing.T) {
	t.Parallel()
	for _, alike := range []string{"\u0130ndia", "Denmar\u212a", "\u212aw", "u\u017f"} {
		if country, ok := check.CountryOf(alike); ok {
			t.Errorf("%+q is %s", alike, country.Code)
		}
	}
	for written, want := range map[string]string{
		"United States": "US", "united states of america": "US", "USA": "US", "Great Britain": "GB",
		"Germany":       "DE",
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

// The bank identifiers of the registry's examples, and of sort codes.
func TestAnIBANNamesItsBank(t *testing.T) {
	t.Parallel()
	for iban, want := range map[string]string{
		"GB29NWBK60161331926819": "GB 601613", "IE29AIBK93115212345678": "IE 931152",
		"de89 3704 0044 0532 0130 00": "DE 37040044", "FR1420041010050500013M02606": "FR 20041",
		"IT60X0542811101000000123456": "IT 05428", "NL91ABNA0417164300": "NL ABNA",
		"CH9300762011623852957": "CH 00762", "ES9121000418450200051332": "ES 2100", "BE68539007547034": "BE 539",
		"PL61109010140000071219812874": "PL 10901014", "SE4550000000058398257466": "SE 5000",
		"SC18SSCB11010000000000001497USD": "SC SSCB11", "RU0304452522540817810538091310419": "RU 044525225",
		"HR1210010051863000160": "HR 1001005", "UA213223130000026007233566001": "UA 322313",
	} {
		if country, code, ok := check.BankOfIBAN(iban); !ok || country+" "+code != want {
			t.Errorf("%s: %s %s, want %s", iban, country, code, want)
		}
	}
	for _, none := range []string{
		"", "GB", "GB29NWBK60161331926818", "US021000021", "GB29NWBK6016133192681\x00",
	} {
		if _, _, ok := check.BankOfIBAN(none); ok {
			t.Errorf("%q is no IBAN", none)
		}
	}
}

// Every country of the table of forms has a place of its bank's code within the form.
func TestEveryCountrysIBANHasAPlaceForTheBank(t *testing.T) {
	t.Parallel()
	for _, e := range examplesOfIBANs {
		if _, code, ok := check.BankOfIBAN(e); !ok || code == "" {
			t.Errorf("%s has no bank code", e)
		}
	}
}
