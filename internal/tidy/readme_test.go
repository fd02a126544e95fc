package tidy

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"regexp"
	"strings"
	"testing"
)

// around is a file for the statements of the README: they leave out imports, the types of the reader's program, and
// what it does with results and errors.
const around = `package readme

import (
	"context"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/store/sqlite"
)

type Thumbnail struct{ Image string }

func (Thumbnail) Kind() string { return "thumbnail" }

func draw(context.Context, Thumbnail) error { return nil }

func statements(ctx context.Context, customer, url string) ([]int64, error) {
	STATEMENTS
	return ids, err
}
`

var goBlock = regexp.MustCompile("(?ms)^```go\n(.*?)^```$")

// TestReadmeCompiles checks that the Go code of the README compiles.
func TestReadmeCompiles(t *testing.T) {
	blocks := goBlock.FindAllStringSubmatch(read(t, "README.md"), -1)
	if len(blocks) == 0 {
		t.Fatal("README.md has no Go code")
	}
	listed, err := list()
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range blocks {
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, "README.md", strings.Replace(around, "STATEMENTS", b[1], 1), 0)
		if err != nil {
			t.Fatalf("%v in\n%s", err, b[1])
		}
		if _, err := (&types.Config{Importer: compiled(set, listed)}).Check("readme", set, []*ast.File{f}, nil); err != nil {
			t.Errorf("%v in\n%s", err, b[1])
		}
	}
}
