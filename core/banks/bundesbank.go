package banks

import "bankgraph/core/postal"

// parseBundesbank reads a line of the Bankleitzahlendatei. Only lines with the mark 1 are banks: the others
// are branches under the same number. What is marked as deleted (D) is in the file for the last time.
var parseBundesbank = parser{168, func(w wide) (*Entry, error) {
	if w.at(9, 9) != "1" || w.at(159, 159) == "D" {
		return nil, nil
	}
	e := &Entry{
		Country: "DE", NationalIDType: "BLZ", NationalID: w.at(1, 8), Name: w.at(10, 67), Code: w.at(140, 150),
		Address: postal.Address{PostalCode: w.at(68, 72), City: w.at(73, 107)},
	}
	if successor := w.at(161, 168); successor != "00000000" {
		e.Successor = successor
	}
	return e, nil
}}
