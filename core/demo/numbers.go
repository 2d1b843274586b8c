package demo

import (
	"fmt"
	"math/big"
	"strings"
)

// dice makes the random choices of one row. They depend only on the row's number, so the row is the same in
// every demo bank.
type dice uint64

func roll(topic uint64, row int64) *dice {
	d := dice(uint64(row)*0x9e3779b97f4a7c15 ^ topic*0xd1b54a32d192ed03)
	d.next()
	return &d
}

// next returns the next random number (splitmix64).
func (d *dice) next() uint64 {
	*d += 0x9e3779b97f4a7c15
	x := uint64(*d)
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// below returns a number from 0 to n-1.
func (d *dice) below(n int) int { return int(d.next() % uint64(n)) }

// in returns a number from low to high, both included.
func (d *dice) in(low, high int64) int64 { return low + int64(d.next()%uint64(high-low+1)) }

// chance returns true with a probability in percent.
func (d *dice) chance(percent int) bool { return d.below(100) < percent }

func pick[T any](d *dice, from []T) T { return from[d.below(len(from))] }

// digits returns n random decimal digits.
func (d *dice) digits(n int) string {
	text := make([]byte, n)
	for i := range text {
		text[i] = '0' + byte(d.below(10))
	}
	return string(text)
}

// scatter maps the numbers 0, 1, 2 … one to one to spread-out numbers of up to ten decimal digits.
func scatter(n int64, digits int) string {
	space := int64(1)
	for range digits {
		space *= 10
	}
	// A factor near the golden ratio of the space puts neighbours far apart. Its last digit is 9, so it has
	// no divisor in common with a power of ten and the map is one to one.
	factor := 6_180_339_887/(10_000_000_000/space)/10*10 + 9
	spread := new(big.Int).Mul(big.NewInt(n), big.NewInt(factor))
	spread.Add(spread, big.NewInt(2_718_281_828%space)).Mod(spread, big.NewInt(space))
	return fmt.Sprintf("%0*d", digits, spread.Int64())
}

// routingNumber adds the ABA check digit: the digits times 3, 7, 1 in turn sum to a multiple of ten.
func routingNumber(first8 string) string {
	sum := 0
	for i, digit := range first8 {
		sum += int(digit-'0') * []int{3, 7, 1}[i%3]
	}
	return first8 + string(rune('0'+(10-sum%10)%10))
}

// usRouting returns the routing number of one of usBanks.
func usRouting(bank int) string { return routingNumber(fmt.Sprintf("61%02d9010", bank+10)) }

// homeRouting is the demo bank's own routing number.
var homeRouting = routingNumber("61109000")

// mod97 reads letters as 10 to 35 and returns the remainder modulo 97 (ISO 7064).
func mod97(text string) int {
	rest := 0
	for _, r := range text {
		if r >= 'A' {
			rest = (rest*100 + int(r-'A') + 10) % 97
		} else {
			rest = (rest*10 + int(r-'0')) % 97
		}
	}
	return rest
}

// lei makes a legal entity identifier (ISO 17442) of an issuer that does not exist.
func lei(n int64) string {
	base := "DEMO00" + fmt.Sprintf("BNKG%08d", n)
	return base + fmt.Sprintf("%02d", 98-mod97(base+"00"))
}

// iban adds the check digits of ISO 13616.
func iban(country, rest string) string {
	return country + fmt.Sprintf("%02d", 98-mod97(rest+country+"00")) + rest
}

// foreignAccount makes an account number in the form of the bank's country: an IBAN, with the code of the
// bank, if it has them.
func foreignAccount(d *dice, bank foreignBank) string {
	switch bank.code {
	case "DE": // 8 digits of the bank, 10 of the account
		return iban("DE", bank.national+d.digits(16)[6:])
	case "GB": // bank, 6 digits of sort code, 8 of the account
		return iban("GB", bank.bic[:4]+bank.national+d.digits(12)[4:])
	case "FR": // 5 digits of the bank, 5 of the branch, 11 of the account, and a key of two
		d.digits(3)
		code, branch, account := bank.national, d.digits(5), d.digits(11)
		return iban("FR", code+branch+account+fmt.Sprintf("%02d", 97-mod97(code+branch+account+"00")))
	case "NL":
		return iban("NL", bank.bic[:4]+"0"+d.digits(9))
	case "BE": // 3 digits of the bank, 7 of the account, and their remainder by 97
		base := bank.national + d.digits(8)[1:]
		check := mod97(base)
		if check == 0 {
			check = 97
		}
		return iban("BE", base+fmt.Sprintf("%02d", check))
	case "CH":
		return iban("CH", bank.national+d.digits(15)[3:])
	default:
		return "1" + d.digits(9)
	}
}

// unassigned lists prefixes that no employer identification number has.
var unassigned = words("07 08 09 17 18 19 28 29 49 69")

// taxID makes nine digits: for companies like an employer's number, for people like a social security number
// from 900 up, a range that is not assigned.
func taxID(n int64, person bool) string {
	if person {
		return "9" + scatter(n, 8)
	}
	return unassigned[n%10] + scatter(n, 7)
}

// phone makes a number in E.164 form, of a range that is reserved for fiction.
func phone(d *dice, area string) string { return fmt.Sprintf("+1%s55501%02d", area, d.below(100)) }

// slug keeps the letters and digits of a text, in lower case.
func slug(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'A' && r <= 'Z':
			return r - 'A' + 'a'
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		}
		return -1
	}, text)
}
