package main_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Comments cite documents of this repository, such as (core/README.md, P2; promises: why): the file by its
// path from the root, and after a comma the headings or the first cells of table rows. Readers then find what
// a comment rests on within seconds.

// root is the root of the repository, from this folder.
const root = "../.."

var (
	cited = regexp.MustCompile(`\(([\w./-]+\.md), ([^()]+)\)`)
	named = regexp.MustCompile(`[\w./-]*\w\.md\b`)
	// nowhere matches citations of texts that are not in the repository.
	nowhere = regexp.MustCompile(`(?i)\((?:contract|reliability|design|performance)\b[,:)]|\bsections? \d`)
	ofRFC   = regexp.MustCompile(`RFC \d+, sections? [\d.]+`)
)

func TestEveryCitationLeadsSomewhere(t *testing.T) {
	t.Parallel()
	all, documents := 0, documents{}
	for _, c := range comments(t) {
		all += len(cited.FindAllString(c.text, -1))
		for _, wrong := range documents.wrong(c.file, c.text) {
			t.Errorf("%s:%d: %s", c.file, c.line, wrong)
		}
	}
	if all < 100 {
		t.Errorf("found only %d citations", all)
	}
}

func TestACitationOfNothingIsFound(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"It is law (rest/CONTRACT.md, account rules).":      "",
		"It is law (rest/CONTRACT.md, PG1; Account Rules).": "",
		"It is law (rest/CONTRACT.md, sizes: 255).":         "",
		"It stands in README.md, which all know.":           "",
		"As RFC 6749, section 5.1 has it.":                  "",
		"It is law (rest/CONTRACT.md, account laws).":       "rest/CONTRACT.md has no account laws",
		"It is law (rest/CONTRACT.md, PG1; account laws).":  "rest/CONTRACT.md has no account laws",
		"It is law (rest/CONTRACT.md, customerUID).":        "rest/CONTRACT.md has several customerUID",
		"It is law (rest/LAW.md).":                          "there is no document rest/LAW.md",
		"It is law (core.md, account rules).": "there is no document core.md; core.md is no " +
			"path from the root",
		"It is law (../rest/CONTRACT.md, account laws).": "../rest/CONTRACT.md is no path from the root",
		"See design.md.":                                     "there is no document design.md",
		"It is law (contract, accounts 7).":                  "cites a text that is not here: (contract,",
		"It is law (contract: accountUID).":                  "cites a text that is not here: (contract:",
		"Promise P3 (reliability, section 1).":               "cites a text that is not here: (reliability,",
		"The table of the contract, section 3, is complete.": "cites a text that is not here: section 3",
	} {
		if got := strings.Join(documents{}.wrong("core/core.go", text), "; "); got != want {
			t.Errorf("%s: %q", text, got)
		}
	}
}

func TestEveryLinkOfADocumentLeadsSomewhere(t *testing.T) {
	t.Parallel()
	link := regexp.MustCompile(`\]\(([^)\s#]*)(?:#([^)\s]*))?\)`)
	all := 0
	for path, text := range texts(t, ".md") {
		for _, found := range link.FindAllStringSubmatch(text, -1) {
			if strings.Contains(found[1], "://") {
				continue
			}
			all++
			target := filepath.Join(root, filepath.Dir(path), found[1])
			if found[1] == "" {
				target = filepath.Join(root, path)
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s: %s leads nowhere", path, found[0])
			} else if found[2] != "" && !slices.Contains(anchors(read(t, target)), found[2]) {
				t.Errorf("%s: %s has no heading of its target", path, found[0])
			}
		}
	}
	if all < 50 {
		t.Errorf("found only %d links", all)
	}
}

// Documents lead to code as in "`Tx.Record` in [changes.go](core/changes/changes.go)", or
// "[db.AtCommit](db/atcommit.go)". A service may be named as core does: `Accounts.FindWith` is a method of
// accounts.Service.
func TestEveryNameThatADocumentLinksIsDeclaredThere(t *testing.T) {
	t.Parallel()
	before := regexp.MustCompile("`([A-Za-z][\\w.]*)` (?:in |of )?\\(?\\[[^\\]]*\\]\\(([^)#\\s]+\\.go)\\)")
	inside := regexp.MustCompile("\\[`?((?:[a-z]+\\.)?[A-Z]\\w*)`?\\]\\(([^)#\\s]+\\.go)\\)")
	all := 0
	for path, text := range texts(t, ".md") {
		text = strings.Join(strings.Fields(text), " ")
		for _, found := range append(before.FindAllStringSubmatch(text, -1),
			inside.FindAllStringSubmatch(text, -1)...) {
			all++
			if !slices.Contains(declared(t, filepath.Join(root, filepath.Dir(path), found[2])), found[1]) {
				t.Errorf("%s: %s does not declare %s", path, found[2], found[1])
			}
		}
	}
	if all < 12 {
		t.Errorf("found only %d names", all)
	}
}

// declared returns the functions, methods and types of a Go file, by their names and with what these belong
// to: a package or a type.
func declared(t *testing.T, file string) (all []string) {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	add := func(of, name string) { all = append(all, name, of+"."+name) }
	pkg := parsed.Name.Name
	for _, declaration := range parsed.Decls {
		switch d := declaration.(type) {
		case *ast.FuncDecl:
			of := pkg
			if d.Recv != nil {
				of, _, _ = strings.Cut(strings.TrimLeft(types.ExprString(d.Recv.List[0].Type), "*"), "[")
			}
			if of == "Service" {
				of = strings.ToUpper(pkg[:1]) + pkg[1:]
			}
			add(of, d.Name.Name)
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if named, is := spec.(*ast.TypeSpec); is {
					add(pkg, named.Name.Name)
				}
			}
		}
	}
	return all
}

// Operators look up the invariants that bankgraph proof names.
func TestEveryInvariantThatIsProvenIsExplained(t *testing.T) {
	t.Parallel()
	proven := regexp.MustCompile(`\{\s*"(I\d+)",\s+"`).
		FindAllStringSubmatch(read(t, root+"/core/ledger/prove.go"),
			-1)
	if len(proven) < 7 {
		t.Errorf("found only %d invariants", len(proven))
	}
	for _, invariant := range proven {
		if why := (documents{}).of("core/README.md").lack(invariant[1]); why != "" {
			t.Errorf("core/README.md%s", why)
		}
	}
}

// documents are the cited documents by their paths, with what can be cited of them.
type documents map[string]*places

// places count a document's headings and the first cells of its rows, in lower case.
type places struct{ headings, rows map[string]int }

// wrong returns what is wrong with the citations in a text of the file.
func (d documents) wrong(file, text string) (all []string) {
	text = strings.Join(strings.Fields(text), " ")
	for _, found := range nowhere.FindAllString(ofRFC.ReplaceAllString(text, ""), 1) {
		all = append(all, "cites a text that is not here: "+found)
	}
	for _, document := range named.FindAllString(text, -1) {
		if d.of(document) == nil && d.of(filepath.Join(filepath.Dir(file), document)) == nil {
			all = append(all, "there is no document "+document)
		}
	}
	for _, found := range cited.FindAllStringSubmatch(text, -1) {
		document := d.of(found[1])
		if document == nil {
			all = append(all, found[1]+" is no path from the root")
			continue
		}
		names, _, _ := strings.Cut(found[2], ":")
		for name := range strings.SplitSeq(names, ";") {
			if why := document.lack(strings.TrimSpace(name)); why != "" {
				all = append(all, found[1]+why)
			}
		}
	}
	return all
}

// of returns what can be cited of a document, or nil if there is no such document.
func (d documents) of(path string) *places {
	if known, ok := d[path]; ok {
		return known
	}
	text, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		d[path] = nil
		return nil
	}
	p := &places{map[string]int{}, map[string]int{}}
	lines := prose(string(text))
	for i, line := range lines {
		if heading, is := headingOf(line); is {
			p.headings[plain(heading)]++
			continue
		}
		titles := i+1 < len(lines) && strings.HasPrefix(lines[i+1], "|--")
		if row, is := strings.CutPrefix(line, "| "); is && !titles {
			cell, _, _ := strings.Cut(row, " |")
			p.rows[plain(cell)]++
		}
	}
	d[path] = p
	return p
}

// lack says why a name is not the name of exactly one place.
func (p *places) lack(name string) string {
	headings, rows := p.headings[plain(name)], p.rows[plain(name)]
	switch {
	case headings == 1 || headings == 0 && rows == 1:
		return ""
	case headings+rows > 0:
		return " has several " + name
	}
	return " has no " + name
}

// plain is a name in lower case and without marks.
func plain(name string) string { return strings.ToLower(strings.ReplaceAll(name, "`", "")) }

func headingOf(line string) (string, bool) {
	text := strings.TrimLeft(line, "#")
	return strings.TrimSpace(text), text != line && strings.HasPrefix(text, " ")
}

// prose returns the lines of a document that are not code.
func prose(text string) (lines []string) {
	code := false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if strings.HasPrefix(line, "```") {
			code = !code
		} else if !code {
			lines = append(lines, line)
		}
	}
	return lines
}

// anchors are the link targets of a document's headings.
func anchors(text string) (all []string) {
	marks := regexp.MustCompile(`[^\p{L}\p{N} _-]`)
	for _, line := range prose(text) {
		if heading, is := headingOf(line); is {
			all = append(all, strings.ReplaceAll(marks.ReplaceAllString(strings.ToLower(heading), ""), " ", "-"))
		}
	}
	return all
}

// comment is a comment of a Go file, or the whole text of another file.
type comment struct {
	file string
	line int
	text string
}

func comments(t *testing.T) (all []comment) {
	t.Helper()
	for file, text := range texts(t, ".sql", ".graphqls", ".md") {
		var lines []string
		for line := range strings.Lines(text) {
			lines = append(lines, strings.TrimLeft(line, " \t-#"))
		}
		all = append(all, comment{file, 1, strings.Join(lines, "")})
	}
	for file, text := range texts(t, ".go") {
		files := token.NewFileSet()
		parsed, err := parser.ParseFile(files, file, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, group := range parsed.Comments {
			all = append(all, comment{file, files.Position(group.Pos()).Line, group.Text()})
		}
	}
	return all
}

// texts returns the files with these endings, by their paths from the root.
func texts(t *testing.T, endings ...string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && slices.Contains([]string{".git", ".cache", "node_modules", "testdata"}, entry.Name()) {
			return filepath.SkipDir
		}
		if entry.IsDir() || !slices.Contains(endings, filepath.Ext(path)) {
			return nil
		}
		name, err := filepath.Rel(root, path)
		all[filepath.ToSlash(name)] = read(t, path)
		return err
	})
	if err != nil || len(all) == 0 {
		t.Fatalf("found %d files: %v", len(all), err)
	}
	return all
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
