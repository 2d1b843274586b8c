package keysets

// Columns returns the columns of the schema that hold sealed values, and their search hashes.
func Columns() (all []string) {
	for _, t := range tables {
		for _, c := range t.columns {
			if !c.report {
				all = append(all, t.name+"."+c.sealed)
			}
			if c.hash != "" {
				all = append(all, t.name+"."+c.hash)
			}
		}
	}
	return all
}
