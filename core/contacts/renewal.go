package contacts

import (
	"encoding/json"

	"bankgraph/core/seal"
)

// All regulatory entries of a contact are in one column. Those in the clear are left to Service.Seal.

// CurrentReport reports whether all values of a column of regulatory entries are under the primary keys.
func CurrentReport(keys *seal.Keys, column []byte) (bool, error) {
	entries, err := read(column)
	for _, e := range entries {
		if !keys.Current(e.Sealed, e.Hash) {
			return false, nil
		}
	}
	return true, err
}

// RenewReport returns a contact's column of regulatory entries with all values moved to the primary keys.
func (k *Contact) RenewReport(keys *seal.Keys, column []byte) ([]byte, error) {
	entries, err := read(column)
	if err != nil {
		return nil, err
	}
	for i, e := range entries {
		renewed, err := keys.Renew(seal.Value{Sealed: e.Sealed, Hash: e.Hash}, k.ReportingPlace(e.Key))
		if err != nil {
			return nil, err
		}
		entries[i].Sealed, entries[i].Hash = renewed.Sealed, renewed.Hash
	}
	return json.Marshal(entries)
}
