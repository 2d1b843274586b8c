package payments_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The package's comment leads to the file of each rule: it names every file once, and none that is not there.
func TestTheGuideNamesEveryFile(t *testing.T) {
	t.Parallel()
	guide, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile(`\b[a-z_]+\.go\b`).FindAllString(string(guide), -1)
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	files = slices.DeleteFunc(files, func(name string) bool {
		return name == "doc.go" || strings.HasSuffix(name, "_test.go")
	})
	slices.Sort(named)
	if !slices.Equal(named, files) {
		for _, name := range files {
			if !slices.Contains(named, name) {
				t.Errorf("the guide does not name %s", name)
			}
		}
		for i, name := range named {
			if !slices.Contains(files, name) || i > 0 && named[i-1] == name {
				t.Errorf("the guide names %s, which is not there or named twice", name)
			}
		}
	}
}
