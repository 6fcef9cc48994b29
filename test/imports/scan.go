package imports

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
)

// Scan reads the import lines of every Go file below root, the folder of go.mod.
// Folders with a go.mod of their own, hidden ones and testdata are other worlds.
func Scan(root string) ([]Import, error) {
	var list []Import
	err := filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := entry.Name()
		if entry.IsDir() {
			if file != root && (strings.HasPrefix(name, ".") || name == "testdata" || hasModule(file)) {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") {
			return nil
		}
		found, err := scanFile(root, file)
		list = append(list, found...)
		return err
	})
	return list, err
}

func hasModule(folder string) bool {
	_, err := os.Stat(filepath.Join(folder, "go.mod"))
	return err == nil
}

func scanFile(root, file string) ([]Import, error) {
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
	if err != nil {
		return nil, fmt.Errorf("read imports: %w", err)
	}
	rel, err := filepath.Rel(root, file)
	if err != nil {
		return nil, fmt.Errorf("read imports: %w", err)
	}
	rel = filepath.ToSlash(rel)
	var list []Import
	for _, spec := range parsed.Imports {
		to, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return nil, fmt.Errorf("read imports: %s: %s: %w", rel, spec.Path.Value, err)
		}
		list = append(list, Import{From: path.Dir(rel), To: to, File: rel, Test: strings.HasSuffix(rel, "_test.go")})
	}
	return list, nil
}
