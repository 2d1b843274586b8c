package check

import (
	"fmt"
	"strconv"
	"strings"

	"bankgraph/core/fault"
	"bankgraph/core/ident"
)

// IBAN reads an international bank account number (ISO 13616): a country of the registry, that country's
// length and form, and correct check digits. Spaces are allowed; it returns the number without them, in upper
// case.
func (c *Fields) IBAN(field, value string) string {
	number := ident.Upper(strings.ReplaceAll(value, " ", ""))
	c.demand(isIBAN(number), field, value, fault.Malformed, "must be an IBAN")
	return right(c, field, number)
}

// BankOfIBAN returns the country of an IBAN and the code in it that names the bank in this country, such as
// the sort code in the United Kingdom. ok is false where the text is no IBAN.
func BankOfIBAN(text string) (country, code string, ok bool) {
	number := ident.Upper(strings.ReplaceAll(text, " ", ""))
	if !IsPlain(text) || !isIBAN(number) {
		return "", "", false
	}
	country, inside := number[:2], number[4:]
	from, to := bankCodes[country].from, bankCodes[country].to
	return country, inside[from:to], true
}

// AccountNumberAt reads an account number at a bank in a country, given by its two letters. A number that
// begins with two letters must be an IBAN if the country has them; any other is up to 35 letters and digits.
func (c *Fields) AccountNumberAt(country, field, value string) string {
	number := ident.Upper(strings.TrimSpace(value))
	if _, known := ibanForms[country]; known && len(number) > 1 &&
		strings.Trim(number[:2], "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == "" {
		return c.IBAN(field, value)
	}
	c.AccountNumber(field, value)
	return right(c, field, value)
}

func isIBAN(text string) bool {
	if len(text) < 5 {
		return false
	}
	form, known := ibanForms[text[:2]]
	return known && allDigits(text[2:4]) && form.fits(text[4:]) && mod97(text[4:]+text[:4]) == 1
}

// ibanForm is the form of the part after country and check digits: runs of characters of one kind.
type ibanForm []struct {
	length int
	kind   byte // n for digits, a for upper-case letters, c for both
}

func (f ibanForm) fits(text string) bool {
	for _, part := range f {
		if len(text) < part.length {
			return false
		}
		for _, b := range []byte(text[:part.length]) {
			digit, letter := b >= '0' && b <= '9', b >= 'A' && b <= 'Z'
			if fits := digit && part.kind != 'a' || letter && part.kind != 'n'; !fits {
				return false
			}
		}
		text = text[part.length:]
	}
	return text == ""
}

var ibanForms = func() map[string]ibanForm {
	forms := map[string]ibanForm{}
	for line := range strings.Lines(ibanTable) {
		words := strings.Fields(line)
		var form ibanForm
		for _, part := range strings.Split(words[0], "-") {
			length, err := strconv.Atoi(part[:len(part)-1])
			if err != nil {
				panic("check: IBAN form " + words[0])
			}
			form = append(form, struct {
				length int
				kind   byte
			}{length, part[len(part)-1]})
		}
		for _, country := range words[1:] {
			forms[country] = form
		}
	}
	return forms
}()

// ibanTable is the IBAN registry of SWIFT: a form, then the countries that use it. The territories of France
// in the last line share its form. Countries outside the registry with similar numbers, such as Morocco, are
// not listed.
const ibanTable = `11n NO
12n BE
14n DK FI FO GL SD
15n SI
16n AT BA EE LT MN XK
17n HR
18n CR DE ME RS VA
19n AE IL SO TL
20n CZ ES SE SK TN
21n LY PT ST
22n IS
23n BI DJ MR
24n HU PL
25n EG
2n-18c SA
3n-10c-2n MK
3n-13c KZ LU
3n-16c OM
4n-20c LB
5n-12c CH LI
6n-16c TR
6n-19c UA
7n-16c GR
8n-12c AD
8n-16c AL CY
14n-15c RU
23n-1a-1c BR
1a-10n-12c IT SM
2a-12n FK
2a-16n GE
4a-10n NL
4a-13c LV
4a-14c BH
4a-14n GB IE
4a-15c GI
4a-15n IQ
4a-16c PK RO
4a-16n VG
4a-19n-3a MU
4a-20c AZ
4a-20n HN NI SV
4a-20n-3a SC
4a-21c PS QA
4a-22c KW
4a-24c LC
4a-4n-18c JO YE
4a-5n-18c MT
4a-6n-8c BG
4c-20n DO
4c-4n-16c BY
20c MD
24c GT
10n-11c-2n FR MC BL GF GP MF MQ NC PF PM RE TF WF YT
`

// bankCode is where the code of the bank stands behind country and check digits.
type bankCode struct{ from, to int }

// bankCodes are the places of the bank identifiers of the registry. In the United Kingdom and Ireland it is
// the sort code instead, which says more than the four letters before it.
var bankCodes = func() map[string]bankCode {
	codes := map[string]bankCode{}
	for line := range strings.Lines(bankCodeTable) {
		words := strings.Fields(line)
		var at bankCode
		if _, err := fmt.Sscanf(words[0], "%d-%d", &at.from, &at.to); err != nil {
			panic("check: place of a bank code " + words[0])
		}
		at.from-- // the registry counts from 1
		for _, country := range words[1:] {
			codes[country] = at
		}
	}
	return codes
}()

const bankCodeTable = `1-2 EE FK GE MD SA SD TN XK
1-3 AE BA BE CY FI GR HU IL KZ LU LY ME MK OM RS TL VA
1-4 AD AZ BG BH BY CR CZ DK DO EG ES FO GI GL GT HN IQ IS JO KW LB LC LV MN MT NI NL NO PK PS PT QA RO SE SK SO ST SV VG YE
1-5 AT BI CH DJ FR LI LT MC MR SI TR BL GF GP MF MQ NC PF PM RE TF WF YT
1-6 MU SC UA
1-7 HR
1-8 AL BR DE PL
1-9 RU
2-6 IT SM
5-10 GB IE
`
