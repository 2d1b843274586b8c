package db

// Tables are what the SQL of a package may name. Each table belongs to one package, which alone writes it:
// whoever changes it looks there for everything that depends on it, and at the Reads of others.
// cmd/bankgraph/tables_test.go holds the SQL to it.
type Tables struct {
	Own   []string
	Reads map[string]string // tables of others, each with the reason why a function of its owner will not do
}
