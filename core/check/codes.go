package check

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"bankgraph/core/fault"
	"bankgraph/core/ident"
)

// AccountNumber demands letters and digits, at most 35, not all zeros (rest/CONTRACT.md, account numbers).
//
// Zeros in front are part of a number, so two accounts of a bank may differ by them alone: networks carry
// numbers as text (NACHA's field of 17 characters, Othr/Id of ISO 20022), nothing here drops or adds zeros,
// and a number leads to the account that has exactly it, by its hash. Whoever leaves zeros out names another
// account, as with any other slip. To refuse the second number would take from banks the schemes in which a
// loan's number is a deposit's with zeros in front.
func (c *Fields) AccountNumber(field, value string) {
	c.demand(!strings.Contains(value, "**"), field, value, fault.Malformed,
		"an account number is given as a whole, not masked")
	c.demand(len(value) <= 35, field, value, fault.Max, "an account number has at most 35 characters")
	c.demand(alphanumeric(value), field, value, fault.Malformed, "an account number is letters and digits")
	c.demand(strings.Trim(value, "0") != "", field, value, fault.AllZero,
		"an account number is not all zeros")
}

// foreign is how account numbers of other banks are published.
var foreign = regexp.MustCompile(`^[A-Za-z0-9.()/'+=:?_#@%,&-]+(?: +[A-Za-z0-9.()/'+=:?_#@%,&-]+)*$`)

// AccountNumberElsewhere demands an account number as other banks have them: with hyphens, spaces and other
// signs, too (rest/CONTRACT.md, credit requests).
func (c *Fields) AccountNumberElsewhere(field, value string) {
	c.demand(len(value) <= 35, field, value, fault.Max, "an account number has at most 35 characters")
	c.Pattern(field, value, foreign,
		"an account number is letters, digits, spaces between them, and the signs . ( ) / ' + = : "+
			"? _ # @ % , & -")
	says := strings.ContainsFunc(value, func(r rune) bool {
		return r != '0' && (unicode.IsDigit(r) ||
			unicode.IsLetter(r))
	})
	c.demand(says, field, value, fault.AllZero, "an account number is not all zeros")
}

var taxID = regexp.MustCompile(`^[A-Za-z0-9]+(?:-[A-Za-z0-9]+)*$`)

// TaxID demands letters and digits with hyphens between them, at most this many characters. No stricter rule
// is published (rest/CONTRACT.md, taxId), as tax ids of all countries are accepted.
func (c *Fields) TaxID(field, value string, most int) {
	c.AtMost(field, value, most)
	c.Pattern(field, value, taxID, "must be made of letters, digits and hyphens between them")
	c.demand(strings.Trim(value, "0-") != "", field, value, fault.AllZero, "must not be all zeros")
}

// ACHCompanyID demands the 10 digits that identify an originator in ACH (rest/CONTRACT.md, sizes). Not for
// accounts, whose ACH company id is at most 10 letters and digits.
func (c *Fields) ACHCompanyID(field, value string) {
	c.Digits(field, value)
	c.demand(len(value) == 10, field, value, fault.Exact, "must have exactly 10 digits")
	c.NotAllZeros(field, value)
}

var lei = regexp.MustCompile(`^[A-Z0-9]{4}00[A-Z0-9]{12}[0-9]{2}$`)

// LEI demands a legal entity identifier: the published pattern (rest/CONTRACT.md, lei), in upper case, with
// correct check digits (ISO 17442).
func (c *Fields) LEI(field, value string) {
	c.Pattern(field, value, lei,
		"must be a legal entity identifier: 20 capital letters and digits, of them 00 in the fifth "+
			"and sixth place")
	c.demand(mod97(value) == 1, field, value, fault.Malformed,
		"must be a legal entity identifier with right check digits")
}

// Routing demands an ABA routing number: 9 digits within the assigned ranges, the last one the check digit.
func (c *Fields) Routing(field, value string) {
	c.Digits(field, value)
	c.demand(len(value) == 9, field, value, fault.Exact, "must have exactly 9 digits")
	c.NotAllZeros(field, value)
	c.demand(isRouting(value), field, value, fault.Malformed,
		"must be a routing number with a right check digit")
}

func isRouting(text string) bool {
	if len(text) != 9 || !allDigits(text) {
		return false
	}
	switch prefix := text[:2]; {
	case prefix <= "12": // the Federal Reserve's districts, and 00 for the government
	case prefix >= "21" && prefix <= "32": // thrift institutions
	case prefix >= "61" && prefix <= "72": // electronic transactions
	case prefix == "80": // traveller's cheques
	default:
		return false
	}
	sum := 0
	for i, digit := range []byte(text) {
		sum += int(digit-'0') * [...]int{3, 7, 1}[i%3]
	}
	return sum%10 == 0
}

var bic = regexp.MustCompile(`^[A-Z0-9]{4}([A-Z]{2})[A-Z0-9]{2}(?:[A-Z0-9]{3})?$`)

// BIC reads a business identifier code of 8 or 11 characters with an existing country (ISO 9362). It returns
// the code in upper case.
func (c *Fields) BIC(field, value string) string {
	code := ident.Upper(value)
	part := bic.FindStringSubmatch(code)
	c.demand(part != nil && isCountry(part[1]), field, value, fault.Malformed,
		"must be a BIC of 8 or 11 characters")
	return right(c, field, code)
}

// secCodes are the standard entry classes of ACH (Nacha operating rules, appendix three).
var secCodes = strings.Fields(
	`ACK ADV ARC ATX BOC CCD CIE COR CTX DNE ENR IAT MTE POP POS PPD RCK SHR TEL TRC TRX WEB XCK`)

// SECCode reads a standard entry class of ACH in any letter case. It returns the class in upper case.
func (c *Fields) SECCode(field, value string) string {
	code, _ := ident.Word(value, secCodes...)
	c.demand(code != "", field, value, fault.Malformed,
		"must be a standard entry class of ACH, such as CCD or PPD")
	return right(c, field, code)
}

// SECCodes reads a list of entry classes; each is returned once.
func (c *Fields) SECCodes(field string, values []string) (codes []string) {
	for i, value := range values {
		at := field + "[" + strconv.Itoa(i) + "]"
		c.Required(at, value)
		if code := c.SECCode(at, value); !slices.Contains(codes, code) {
			codes = append(codes, code)
		}
	}
	if codes == nil && values != nil {
		return []string{} // given as an empty list
	}
	return codes
}

// mod97 reads letters as 10 to 35 and returns the remainder modulo 97 (ISO 7064), which is 1 if the check
// digits are correct. It returns -1 for any text that is not upper-case letters and digits.
func mod97(text string) int {
	rest := 0
	for _, b := range []byte(text) {
		switch {
		case b >= '0' && b <= '9':
			rest = (rest*10 + int(b-'0')) % 97
		case b >= 'A' && b <= 'Z':
			rest = (rest*100 + int(b-'A') + 10) % 97
		default:
			return -1
		}
	}
	return rest
}
