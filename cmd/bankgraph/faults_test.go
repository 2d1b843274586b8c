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
)

var goodCode = regexp.MustCompile(`^[a-z][A-Za-z]*\.[a-z]+(_[a-z]+)*$`)

// Idempotency keys keep faults by their codes. That no two have the same one, fault.New itself sees to, when
// Every package of the program declares its faults.
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
	text, err := os.ReadFile("testdata/fault_codes.txt")
	if err != nil {
		t.Fatal(err)
	}
	known := strings.Fields(string(text))
	for _, code := range known {
		if declared[code] == 0 {
			t.Errorf("%s was the code of a fault that keys have kept, and no fault has it any more", code)
		}
		delete(declared, code)
	}
	for code := range declared {
		t.Errorf("%s is new: add it to testdata/fault_codes.txt, for good", code)
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
