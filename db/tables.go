package db

// Tables lists the tables that a package's SQL may name. Each table belongs to one package, which alone
// writes it. What else depends on a table is in the Reads of other packages. cmd/bankgraph/tables_test.go
// checks all SQL against this.
type Tables struct {
	Own   []string
	Reads map[string]string // tables of others, each with why no function of its owner suffices
}
