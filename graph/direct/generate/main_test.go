package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/99designs/gqlgen/codegen/config"
)

// configured is how a schema would be generated from, into a folder of its own.
func configured(t *testing.T, text string) *config.Config {
	t.Helper()
	folder := t.TempDir()
	file := filepath.Join(folder, "bank.graphqls")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg := config.DefaultConfig()
	cfg.SchemaFilename = config.StringList{file}
	cfg.Exec.Filename = filepath.Join(folder, "generated.go")
	cfg.Model.Filename = filepath.Join(folder, "models.go")
	cfg.Directives["cost"] = config.DirectiveConfig{SkipRuntime: true}
	if err := config.CompleteConfig(cfg); err != nil {
		t.Fatal(err)
	}
	return cfg
}

// What no directive is carried out for must not look as if one were: a field that is hidden by @auth would be shown.
func TestGenerationRefusesDirectivesThatItCannotCarry(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"field":             `directive @auth(may: String!) on FIELD_DEFINITION  type Query { secret: String @auth(may: "x") }`,
		"field of an input": `directive @trim on INPUT_FIELD_DEFINITION  input In { name: String @trim }  type Query { find(by: In): String }`,
		"argument":          `directive @least(n: Int!) on ARGUMENT_DEFINITION  type Query { list(first: Int @least(n: 1)): String }`,
		"object":            `directive @own on OBJECT  type Query @own { secret: String }`,
		"document":          `directive @slow on FIELD | QUERY  type Query { secret: String }`,
		"extension":         `type Query { a: String }  directive @auth on FIELD_DEFINITION  extend type Query { b: String @auth }`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := configured(t, text)
			if err := generate(cfg); err == nil || !strings.Contains(err.Error(), "bank.graphqls:1: directive @") {
				t.Errorf("%v", err)
			}
			if _, err := os.Stat(cfg.Exec.Filename); err == nil {
				t.Error("code was written all the same")
			}
		})
	}
}

func TestGenerationTakesDirectivesThatOnlySaySomething(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`type Query { old: String @deprecated(reason: "use new"), new: String }`,
		`input By @oneOf { a: String, b: String }  type Query { find(by: By!): String }`,
		`directive @cost(weight: Int!) on FIELD_DEFINITION  type Query { dear: String @cost(weight: 5) }`,
	} {
		cfg := configured(t, text)
		if err := cfg.LoadSchema(); err != nil {
			t.Fatal(err)
		}
		if err := refuseDirectives(cfg); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}
