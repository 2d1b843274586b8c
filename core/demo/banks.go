package demo

import (
	"context"
	"encoding/csv"
	"fmt"
	"strconv"
	"strings"

	"bankgraph/core"
	"bankgraph/core/banks"
)

// source is what the demo bank's directory of banks is called.
const source = "demo"

// Directory reads the demo bank's directory in: itself, the banks of its customers' contacts, and
// the agency of benefits. It does nothing where this was done. It is for operators.
func Directory(ctx context.Context, c *core.Core) error {
	all, err := c.Banks.Sources(ctx)
	if err != nil {
		return err
	}
	for _, known := range all {
		if known.Name == source && known.Banks > 0 {
			return nil
		}
	}
	_, err = c.Banks.Import(ctx, banks.Import{
		Format: banks.CSVFile, Source: source, File: "made up", From: strings.NewReader(directory()),
	})
	if err != nil {
		return fmt.Errorf("fill the demo bank's directory: %w", err)
	}
	return nil
}

// directory is the directory as a file of our own. All banks in the United States take ACH; which other rails
// reach them follows from their place in the list. The last one was taken over, so nothing reaches it any
// more.
func directory() string {
	var text strings.Builder
	w := csv.NewWriter(&text)
	write := func(row ...string) { _ = w.Write(row) } // a strings.Builder does not fail
	write("countryCode", "nationalIdType", "nationalId", "bic", "name", "addressLine1", "city",
		"state", "postalCode", "recordType", "successor", "ach", "fedwireTransfer", "fedwireSecurities",
		"rtpParticipant", "rtpServices", "rtpReceivingConnection",
		"rtpSignOnStatus", "rtpActivatedOn", "rtpStatus",
		"rtpConnectionStatus", "fedNowServices", "fedNowStatus", "fedNowConnectionStatus")
	domestic := func(number, bic, name string, at city, record, successor string, wire, rtp, fedNow bool) {
		row := []string{
			"US", "ABA", number, bic, name, "100 Main St",
			at.name, at.state, at.zip + "01", record, successor,
			strconv.FormatBool(record == "SEND"), strconv.FormatBool(wire), strconv.FormatBool(wire),
		}
		if rtp {
			row = append(row, number+"A1", "CRDT RFI ACK", "NODE1", "SignedOn", "2024-03-01", "Active", "Connected")
		} else {
			row = append(row, make([]string, 7)...)
		}
		if fedNow {
			row = append(row, "CRDT RFI ACK", "Active", "Connected")
		} else {
			row = append(row, make([]string, 3)...)
		}
		write(row...)
	}
	domestic(homeRouting, "SNDBUS30", "Sandbox Bank", cities[0], "SEND", "", true, true, true)
	for i, name := range usBanks {
		domestic(usRouting(i), "", name, cities[i], "SEND", "", i%4 != 3, i%3 == 0, i%2 == 0)
	}
	domestic(usRouting(len(usBanks)), "", "Cinder Creek Savings", cities[5], "NEW", usRouting(5),
		false, false, false)
	// takes enrolments (rest/CONTRACT.md, enrolments for benefits)
	domestic("655060042", "", "Social Security Administration", cities[5], "SEND", "", false, false, false)
	for _, b := range foreignBanks {
		row := append([]string{
			b.code, b.nationalType, b.national, b.bic, b.name, b.street, b.city, "", b.postal,
		}, make([]string, 15)...)
		write(row...)
	}
	w.Flush()
	return text.String()
}
