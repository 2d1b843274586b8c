package dbtest

import (
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"sync"

	"bankgraph/db"
)

// Unbound returns the reads, updates and deletions in a text that do not name their bank, each as the tables
// that it uses. Every SELECT, UPDATE and DELETE on rows of banks must have tenant = value, at every level: a
// subquery must repeat it. Tables that one level joins by their tenants share it. So one bank's work stays on
// the node that has its rows, however the database is distributed.
func Unbound(text string) (all []string) {
	for statement := range strings.SplitSeq(masked(text), ";") {
		tokens := words.FindAllString(statement, -1)
		read(&tokens, &all)
	}
	return all
}

// bankTables is the set of tables whose first column is the tenant, read from the migrations.
var bankTables = sync.OnceValue(func() map[string]bool {
	tables, made := map[string]bool{}, regexp.MustCompile(`CREATE TABLE (\w+) \(\s*tenant\s`)
	_ = fs.WalkDir(db.Migrations, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := fs.ReadFile(db.Migrations, path)
		for _, table := range made.FindAllStringSubmatch(string(text), -1) {
			tables[table[1]] = true
		}
		return err
	})
	return tables
})

var (
	strung = regexp.MustCompile(`'(?:[^']|'')*'`)
	remark = regexp.MustCompile(`(?s)--[^\n]*|/\*.*?\*/`)
	words  = regexp.MustCompile(`\$\d+|::|[a-z_][a-z0-9_]*|\d+|[^\s]`)
)

// masked returns a text in lower case, without the content of literals and comments and without the quotes of
// names.
func masked(text string) string {
	text = remark.ReplaceAllString(strung.ReplaceAllString(text, "'"), "")
	return strings.ReplaceAll(strings.ToLower(text), `"`, "")
}

// read reads a text up to its closing parenthesis, and judges it. Parentheses that hold no query of their own
// belong to the level around them: plain includes their content, and own leaves it out.
func read(tokens *[]string, all *[]string) (plain []string) {
	var level, own []string
	judged := false
	end := func() {
		if slices.ContainsFunc(own,
			func(w string) bool { return w == "select" || w == "update" || w == "delete" }) {
			judge(own, level, all)
			judged = true
		}
		level, own = nil, nil
	}
	for len(*tokens) > 0 {
		word := (*tokens)[0]
		*tokens = (*tokens)[1:]
		switch word {
		case ")":
			inside := level
			if end(); judged {
				return nil
			}
			return inside
		case "(":
			level, own = append(level, "("), append(own, "(")
			level = append(append(level, read(tokens, all)...), ")")
		case "union", "except", "intersect":
			end()
		default:
			level, own = append(level, word), append(own, word)
		}
	}
	end()
	return nil
}

// judge checks one level.
func judge(own, level []string, all *[]string) {
	tables := tablesOf(own)
	bound, joined := bindings(level)
	if len(tables) == 1 && bound[""] {
		return
	}
	for range tables { // a table joined with a bound one is bound
		for _, pair := range joined {
			bound[pair[0]], bound[pair[1]] = bound[pair[0]] || bound[pair[1]], bound[pair[0]] || bound[pair[1]]
		}
	}
	// Joins by name with a table of the outer level do not count, unless this level names the value.
	var loose []string
	for alias, table := range tables {
		if !bound[alias] {
			loose = append(loose, table)
		}
	}
	if len(loose) > 0 {
		slices.Sort(loose)
		*all = append(*all, strings.Join(loose, ", "))
	}
}

// tablesOf returns the tables of banks that a level uses, by their aliases.
func tablesOf(own []string) map[string]string {
	tables := map[string]string{}
	listing := false // within the list of tables after FROM
	for i := 0; i < len(own); i++ {
		switch before := at(own, i-1); {
		case own[i] == "from" && before != "distinct", own[i] == "join", own[i] == "using" && at(own, i+1) != "(",
			own[i] == "update" && before != "for" && before != "key" && before != "do", own[i] == "," && listing:
			listing = own[i] != "update"
			name, alias := at(own, i+1), at(own, i+2)
			if name == "only" || name == "lateral" {
				name, alias = at(own, i+2), at(own, i+3)
			}
			if alias == "as" {
				alias = own[slices.Index(own[i:], "as")+i+1]
			}
			if !bankTables()[name] {
				continue
			}
			if alias == "" || clauses[alias] || strings.Trim(alias, "abcdefghijklmnopqrstuvwxyz_0123456789") != "" {
				alias = name
			}
			tables[alias] = name
		case clauses[own[i]] && own[i] != "on":
			listing = false
		}
	}
	return tables
}

// clauses are the words that may follow a table without an alias.
var clauses = map[string]bool{
	"where": true, "set": true, "join": true, "left": true, "right": true, "inner": true, "cross": true,
	"full": true, "on": true, "group": true,
	"order": true, "limit": true, "for": true, "returning": true, "offset": true, "having": true, "using": true,
	"natural": true, "window": true, "values": true,
}

// bindings returns the aliases whose tenant a level compares with a value ("" for a column without an alias),
// and the pairs that it compares with each other.
func bindings(level []string) (bound map[string]bool, joined [][2]string) {
	bound = map[string]bool{}
	for i, word := range level {
		if word != "tenant" || at(level, i+1) != "=" {
			continue
		}
		alias, value := aliasAt(level, i), at(level, i+2)
		switch {
		case strings.HasPrefix(value, "$") || value == "?" || value == "-" ||
			strings.Trim(value, "0123456789") == "":
			bound[alias] = true
		case at(level, i+3) == "." && at(level, i+4) == "tenant":
			joined = append(joined, [2]string{alias, value})
		}
	}
	return bound, joined
}

// aliasAt returns the alias in front of a column.
func aliasAt(level []string, i int) string {
	if at(level, i-1) == "." {
		return at(level, i-2)
	}
	return ""
}

func at(words []string, i int) string {
	if i < 0 || i >= len(words) {
		return ""
	}
	return words[i]
}
