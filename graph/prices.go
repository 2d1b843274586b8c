package graph

// These tables hold what the guard multiplies: the lengths of lists without pages, and the work of the
// database beyond reading rows. Each domain's file adds its own.

// listSizes are the lengths of plain lists; any other list counts as ten.
var listSizes = map[string]int{"Viewer.permissions": 20, "Viewer.limits": 2}

// prices are the prices of fields of objects and of inputs.
var prices = map[string]int64{}

// pricesInOrder are those of fields of inputs where a list is asked for in another order than its own.
var pricesInOrder = map[string]int64{}

// The work of the database, as a number of objects read: about 50 are read in a millisecond.
const (
	countOne  = 2    // a count in the index, for one customer
	countMany = 20   // up to model.MostCounted rows
	history   = 5    // a look into the bank's longest table
	bisected  = 5    // some twenty looks into an index, from one end of an account's postings to the other
	sorted    = 20   // an index finds the rows, but not in the order of the list
	tried     = 100  // a payment that is tried some fifty times in memory
	search    = 450  // every word of a name with this beginning
	proven    = 2500 // all postings of the bank, though at most once a minute
	scan      = 500  // no index: the list is walked until a page is full
)
