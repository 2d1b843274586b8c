package files

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"bankgraph/core/check"
	"bankgraph/core/fault"
	"bankgraph/core/money"
	"bankgraph/core/payments"
	"bankgraph/core/postal"
)

// Wires come as tagged messages, one after the other (rest/CONTRACT.md, formats of bulk files). Each message
// begins with the tag {1500}. Its payment goes out as a message of ISO 20022, as all wires do.

// tags are the tags that a message may have.
var tags = map[string]string{
	"1500": "message disposition", "1510": "type and subtype", "1520": "input message accountability data",
	"2000": "amount", "3100": "sender", "3320": "sender reference", "3400": "receiver",
	"3600": "business function code", "4000": "intermediary", "4100": "beneficiary's bank",
	"4200": "beneficiary", "4320": "reference for beneficiary", "5000": "originator",
	"6000": "originator to beneficiary", "6500": "bank to bank",
}

// neededTags are the tags that every payment needs.
var neededTags = []string{"1510", "2000", "3320", "3400", "3600", "4200", "5000"}

// unbroken removes line ends from a text.
var unbroken = strings.NewReplacer("\r", "", "\n", "")

// readWires hands out the payments of the messages after a line. It goes on from where the last of those ends,
// unless the next one begins on the same line; open opens the text from a byte on.
func readWires(
	open func(from int64) (io.Reader, error), position int64, after int32, each func(*readPayment) error,
) error {
	var from io.Reader
	var err error
	at, before := position, after
	if at > 0 {
		var end [1]byte
		if from, err = open(at - 1); err == nil {
			_, err = io.ReadFull(from, end[:])
		}
		if end[0] != '\n' {
			at, before = 0, 0
		}
	}
	if err == nil && at == 0 {
		from, err = open(0)
	}
	if err != nil {
		return err
	}
	return readWiresFrom(from, at, before, after, each)
}

// readWiresFrom reads messages from byte at on; before is the number of lines before it.
func readWiresFrom(from io.Reader, at int64, before, after int32, each func(*readPayment) error) error {
	in := bufio.NewScanner(from)
	in.Buffer(make([]byte, 0, 4<<10), mostRecord)
	in.Split(splitWires)
	line, last, read := before+1, int32(0), at
	for in.Scan() {
		read += int64(len(in.Bytes()))
		text := strings.TrimLeft(in.Text(), " \r\n")
		blank := in.Text()[:len(in.Text())-len(text)]
		s := &readPayment{line: line + int32(strings.Count(blank, "\n"))} //nolint:gosec // bounded
		line = s.line + int32(strings.Count(text, "\n"))                  //nolint:gosec // bounded
		if text = strings.TrimSpace(text); text == "" || text == "\ufeff" {
			continue
		}
		if s.line == last { // a message is known by its line
			return broken(s.line, "", fault.Malformed, "a message must begin on a line of its own")
		}
		last = s.line + int32(strings.Count(text, "\n")) //nolint:gosec // bounded
		s.last, s.end = max(last, line-1), read          // with the empty lines before the next message
		if s.line <= after {
			continue
		}
		readWire(s, strings.TrimPrefix(text, "\ufeff"))
		if err := each(s); err != nil {
			return err
		}
	}
	if errors.Is(in.Err(), bufio.ErrTooLong) {
		return broken(line, "", fault.Max, "a message is longer than 64 KiB")
	}
	return in.Err()
}

// splitWires cuts a file before each {1500}.
func splitWires(data []byte, atEOF bool) (advance int, token []byte, err error) {
	begin := []byte("{1500}")
	if len(data) > len(begin) {
		if next := bytes.Index(data[1:], begin); next >= 0 {
			return next + 1, data[:next+1], nil
		}
	}
	if atEOF && len(data) > 0 {
		return len(data), data, nil
	}
	return 0, nil, nil
}

// readWire makes an order of a message.
func readWire(s *readPayment, text string) {
	fail := func(tag string, problem fault.Problem, message string) {
		s.fail(FileFault{s.line, tag, string(problem), message})
	}
	said := map[string]string{}
	for rest := text; rest != ""; {
		if len(rest) < 6 || rest[0] != '{' || rest[5] != '}' {
			fail("", fault.Malformed, "must begin with a tag such as {1500}")
			return
		}
		tag := rest[1:5]
		value, _, _ := strings.Cut(rest[6:], "{")
		rest = rest[6+len(value):]
		value = strings.TrimSpace(value)
		switch {
		case tags[tag] == "":
			fail("{"+tag+"}", fault.Forbidden, "is not read: the message would lose what it says")
		case said[tag] != "":
			fail("{"+tag+"}", fault.Malformed, "is there twice")
		case !check.IsPlain(unbroken.Replace(value)):
			fail("{"+tag+"}", fault.Malformed, "must be plain text")
		}
		said[tag] = value
	}
	for _, tag := range neededTags {
		if said[tag] == "" {
			fail("{"+tag+"}", fault.Required, "the "+tags[tag]+" is missing")
		}
	}
	for _, tag := range []string{"3320", "4320"} {
		if len(partsOf(said[tag])) > 1 {
			fail("{"+tag+"}", fault.Forbidden, "has one part: the message would lose what others say")
		}
	}
	if len(partsOf(said["4200"])) > 5 {
		fail("{4200}", fault.Forbidden, "has at most three lines of address: the message would lose others")
	}
	if kind := said["1510"]; kind != "" && kind != "1000" {
		fail("{1510}", fault.Malformed, "must be 1000, a basic funds transfer")
	}
	if function := strings.TrimSuffix(said["3600"], "*"); function != "" && function != "CTR" {
		why := "must be CTR, a customer transfer"
		if strings.HasPrefix(function, "DRC") || strings.HasPrefix(function, "DRB") {
			why = "a file asks for no drawdowns: a wire must be a customer transfer, CTR"
		}
		fail("{3600}", fault.Malformed, why)
	}
	amount := strings.TrimLeft(said["2000"], "0")
	if len(said["2000"]) != 12 || strings.Trim(said["2000"], "0123456789") != "" {
		if said["2000"] != "" {
			fail("{2000}", fault.Malformed, "must have 12 digits, the last two for cents")
		}
		amount = ""
	}
	o := &payments.Order{Currency: string(inCents), Speed: string(payments.Express), Channel: payments.OfFiles}
	if amount != "" {
		var minor int64
		_, _ = fmt.Sscan(amount, &minor)
		o.Amount = money.Of(minor, inCents).String()
	} else if len(s.faults) == 0 {
		o.Amount = "0"
	}
	o.ExternalReferenceID = firstOf(said["3320"])
	o.Reference = firstOf(said["4320"])
	o.OriginatorInfo = strings.TrimSpace(strings.Join(partsOf(said["6000"]), " "))
	o.BankInfo = strings.TrimSpace(strings.Join(partsOf(said["6500"]), " "))
	if to := said["3400"]; len(to) >= 9 {
		o.Receiver.Bank.ID, o.Receiver.Bank.Name = to[:9], firstOf(to[9:])
	}
	readBanks(o, said, fail)
	payer, payee := partyOf(said["5000"]), partyOf(said["4200"])
	o.Sender.Number, o.Sender.Name = payer.number, payer.name
	o.Receiver.Number, o.Receiver.Name, o.Receiver.Address = payee.number, payee.name, payee.address
	o.Receiver.Type = "Deposit"
	s.order = o
}

// readBanks reads the banks that a wire goes over. The bank that gets the message is the correspondent,
// unless it is the next one anyway. Of the beneficiary's bank D says the account that it has with the bank
// that gets the message; others are named by B, a BIC, or F, a routing number.
func readBanks(
	o *payments.Order, said map[string]string, fail func(tag string, problem fault.Problem, message string),
) {
	first, last := o.Receiver.Bank.ID, said["4100"]
	switch {
	case last == "" && said["4000"] != "":
		fail("{4100}", fault.Required, "the "+tags["4100"]+" is missing")
	case strings.HasPrefix(last, "D"):
		o.Receiver.Bank.Account = firstOf(last[1:])
	case last != "":
		o.Receiver.Bank = bankOf("{4100}", last, fail)
	}
	next := o.Receiver.Bank
	if said["4000"] != "" {
		next = bankOf("{4000}", said["4000"], fail)
		o.Receiver.Between = next
	}
	if first != next.ID {
		o.Correspondent = first
	}
}

// bankOf reads B or F, what it says, and the bank's name.
func bankOf(
	tag, text string, fail func(tag string, problem fault.Problem, message string),
) (bank payments.ReceiverBank) {
	parts := partsOf(text)
	if len(parts) > 1 {
		bank.Name = parts[1]
	}
	switch text[0] {
	case 'B':
		bank.BIC = parts[0][1:]
	case 'F':
		bank.ID = parts[0][1:]
	default:
		fail(tag, fault.Malformed, "must name the bank by B and its BIC, or by F and its routing number")
	}
	return bank
}

// wireParty is an originator or a beneficiary: a code, its account, its name and up to three lines of
// address.
type wireParty struct {
	number, name string
	address      postal.Address
}

// partyOf reads D123456789*NAME*LINE*CITY, ST 12345*. The last line of the address has city, state and postal
// code.
func partyOf(text string) (p wireParty) {
	lines := partsOf(text)
	if len(lines) == 0 {
		return p
	}
	if id := lines[0]; id != "" && id[0] == 'D' { // the account's number
		p.number = id[1:]
	}
	if len(lines) > 1 {
		p.name = lines[1]
	}
	address := lines[min(2, len(lines)):]
	if len(address) < 2 {
		if len(address) == 1 {
			p.address.Line1 = address[0]
		}
		return p
	}
	p.address.Line1 = address[0]
	if len(address) > 2 {
		p.address.Line2 = address[1]
	}
	city, rest, _ := strings.Cut(address[len(address)-1], ",")
	p.address.City, p.address.CountryCode = strings.TrimSpace(city), "US"
	words := strings.Fields(rest)
	if len(words) > 0 {
		p.address.State = words[0]
	}
	if len(words) > 1 {
		p.address.PostalCode = words[1]
	}
	return p
}

func partsOf(text string) []string {
	parts := strings.Split(unbroken.Replace(text), "*")
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	for len(parts) > 0 && parts[len(parts)-1] == "" {
		parts = parts[:len(parts)-1]
	}
	return slices.Clip(parts)
}

func firstOf(text string) string {
	if parts := partsOf(text); len(parts) > 0 {
		return parts[0]
	}
	return ""
}

// inWire returns the tag of a message that a field of its order is read from.
func inWire(o *payments.Order, field string) string {
	if known := wireFields[field]; known != "" {
		return known
	}
	over := o.Correspondent != "" || o.Receiver.Between != payments.ReceiverBank{}
	switch side, of, _ := strings.Cut(field, "."); {
	case strings.HasPrefix(of, "intermediaryBank"):
		return "{4000}"
	case of == "bank.bankId" && !over:
		return "{3400}"
	case strings.HasPrefix(of, "bank."):
		return "{4100}"
	case side == "receiver":
		return "{4200}"
	case side == "sender":
		return "{5000}"
	}
	return columnIn(field)
}

var wireFields = map[string]string{
	"paymentAmount": "{2000}", "externalReferenceId": "{3320}", "sender.correspondentBankId": "{3400}",
	"speed": "{3600}", "additionalInfo.referenceForBeneficiary": "{4320}",
	"additionalInfo.originatorToBeneficiary": "{6000}", "additionalInfo.senderToReceiverNotes": "{6500}",
}
