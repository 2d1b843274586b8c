package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"bankgraph/core/fault"
)

var goodCode = regexp.MustCompile(`^[a-z][A-Za-z]*\.[a-z]+(_[a-z]+)*$`)

// Idempotency keys keep faults by their codes. That no two have the same one, fault.New itself sees to, when
// all that this program is made of declares its faults.
func TestEveryFaultIsDeclaredWithACodeOfItsOwn(t *testing.T) {
	t.Parallel()
	declared := map[string]int{}
	err := filepath.WalkDir("../..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, 0)
		if err != nil {
			return err
		}
		for _, declaration := range file.Decls {
			_, inside := declaration.(*ast.FuncDecl)
			ast.Inspect(declaration, func(node ast.Node) bool {
				code, is := codeIn(node)
				if !is {
					return true
				}
				at := files.Position(node.Pos())
				switch {
				case inside && strings.Contains(code, "."):
					t.Errorf("%s: %s is declared in a function, each time anew", at, code)
				case !inside && !goodCode.MatchString(code):
					t.Errorf("%s: %q is no code such as account.closed", at, code)
				case !inside:
					declared[code]++
				}
				return true
			})
		}
		return nil
	})
	if err != nil || len(declared) < 70 {
		t.Fatalf("found %d faults: %v", len(declared), err)
	}
	for code, times := range declared {
		if times > 1 {
			t.Errorf("%d faults are %s", times, code)
		}
	}
	old, err := os.ReadFile("../../core/fault/sentences.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, kept := range regexp.MustCompile(`": +"(.*)",`).FindAllStringSubmatch(string(old), -1) {
		if declared[kept[1]] == 0 {
			t.Errorf("%s was the code of a fault that keys have kept, and no fault has it any more", kept[1])
		}
	}
}

// codeIn is the code in a call of fault.New.
func codeIn(node ast.Node) (string, bool) {
	call, is := node.(*ast.CallExpr)
	if !is || len(call.Args) != 3 {
		return "", false
	}
	function, is := call.Fun.(*ast.SelectorExpr)
	if !is || function.Sel.Name != "New" {
		return "", false
	}
	if from, is := function.X.(*ast.Ident); !is || from.Name != "fault" {
		return "", false
	}
	literal, is := call.Args[1].(*ast.BasicLit)
	if !is {
		return "", true
	}
	code, _ := strconv.Unquote(literal.Value)
	return code, true
}

// What idempotency keys kept before faults had codes is told again as the fault that it was.
func TestARefusalThatWasKeptByItsWordsIsStillTheSame(t *testing.T) {
	t.Parallel()
	for words, code := range map[string]string{
		"account: the account is closed for good: it cannot be changed any more":     "account.closed",
		"customer: another customer has this short name":                             "customer.short_name_taken",
		"version: somebody else has changed it in the meantime: read it again":       "version.stale",
		"feeTier: the customer has a tier of this fee for the account already":       "feeTier.taken",
		"signatory: another signatory of the customer has this e-mail address":       "signatory.taken",
		"contact: the contact is not associated with the customer":                   "contact.not_found",
		"approval: the change has been decided on already":                           "approval.decided",
		"account: another account of the bank has this account number":               "account.number_taken",
		"sweep: a sweep in both directions stands alone: remove the other one first": "sweep.beside",
		"role: another role of the customer has this name":                           "role.taken",
		"user: somebody else has this login id":                                      "user.taken",
		"limit: the customer has no limits configured":                               "limit.none_configured",
	} {
		subject, message, _ := strings.Cut(words, ": ")
		again := fault.Kept{Kind: fault.State, Subject: subject, Message: message}.Again()
		if got := again.Keep(); got.Code != code || got.Message != message {
			t.Errorf("%s: %+v", words, got)
		}
	}
}
