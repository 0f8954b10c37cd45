// Writes the documentation of a Go package as Markdown, from its comments: godoc FOLDER
package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/build"
	"go/doc"
	"go/doc/comment"
	"go/format"
	"go/parser"
	"go/token"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// load reads the files that are built here, and those of examples.
func load(folder string) (*token.FileSet, *doc.Package, error) {
	found, err := build.ImportDir(folder, 0)
	if err != nil {
		return nil, nil, err
	}
	set := token.NewFileSet()
	var files []*ast.File
	for _, names := range [][]string{found.GoFiles, found.CgoFiles, found.XTestGoFiles} {
		for _, name := range names {
			file, err := parser.ParseFile(set, filepath.Join(folder, name), nil, parser.ParseComments)
			if err != nil {
				return nil, nil, err
			}
			files = append(files, file)
		}
	}
	pkg, err := doc.NewFromFiles(set, files, found.ImportPath)
	return set, pkg, err
}

// source is a declaration or a program as gofmt has it.
func source(set *token.FileSet, node any) string {
	var text bytes.Buffer
	if err := format.Node(&text, set, node); err != nil {
		log.Fatal(err)
	}
	return "```go\n" + text.String() + "\n```\n"
}

type page struct {
	set *token.FileSet
	pkg *doc.Package
}

func (p page) text(text string) {
	printer := p.pkg.Printer()
	printer.HeadingLevel = 2
	printer.HeadingID = func(*comment.Heading) string { return "" }
	printer.DocLinkURL = p.address
	fmt.Printf("%s\n", printer.Markdown(p.pkg.Parser().Parse(text)))
}

// address returns the address of another package's page, or of a heading of this page. The text of the heading
// determines its address. A declaration without a heading is documented below its type, or below the heading of all
// constants and variables.
func (p page) address(link *comment.DocLink) string {
	if link.ImportPath != "" {
		return link.DefaultURL("https://pkg.go.dev")
	}
	heading := link.Recv + link.Name
	for _, each := range p.pkg.Types {
		if declares(each.Consts, link.Name) || declares(each.Vars, link.Name) {
			heading = each.Name
		}
	}
	if declares(p.pkg.Consts, link.Name) || declares(p.pkg.Vars, link.Name) {
		heading = "constants-and-variables"
	}
	return "#" + strings.ToLower(heading)
}

func declares(groups []*doc.Value, name string) bool {
	return slices.ContainsFunc(groups, func(each *doc.Value) bool { return slices.Contains(each.Names, name) })
}

func (p page) values(groups []*doc.Value) {
	for _, each := range groups {
		fmt.Println(source(p.set, each.Decl))
		p.text(each.Doc)
	}
}

func (p page) functions(level, receiver string, functions []*doc.Func) {
	for _, each := range functions {
		fmt.Printf("%s %s%s\n\n", level, receiver, each.Name)
		each.Decl.Body = nil
		fmt.Println(source(p.set, each.Decl))
		p.text(each.Doc)
		p.examples(each.Examples)
	}
}

func (p page) examples(examples []*doc.Example) {
	for _, each := range examples {
		code := source(p.set, each.Code)
		if block, is := each.Code.(*ast.BlockStmt); is { // without the braces
			var lines strings.Builder
			for _, statement := range block.List {
				lines.WriteString(strings.TrimSuffix(strings.TrimPrefix(source(p.set, statement), "```go\n"), "```\n"))
			}
			code = "```go\n" + lines.String() + "```\n"
		}
		fmt.Println(code)
		if each.Output != "" {
			fmt.Printf("```text\n%s```\n\n", each.Output)
		}
	}
}

func (p page) types(types []*doc.Type) {
	for _, each := range types {
		fmt.Printf("## %s\n\n%s\n", each.Name, source(p.set, each.Decl))
		p.text(each.Doc)
		p.examples(each.Examples)
		p.values(each.Consts)
		p.values(each.Vars)
		p.functions("###", "", each.Funcs)
		p.functions("###", each.Name+".", each.Methods)
	}
}

func main() {
	set, pkg, err := load(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	p := page{set, pkg}
	fmt.Printf("# Go: package %s\n\n", pkg.Name)
	p.text(pkg.Doc)
	p.examples(pkg.Examples)
	if len(pkg.Consts)+len(pkg.Vars) > 0 {
		fmt.Print("## Constants and variables\n\n")
		p.values(pkg.Consts)
		p.values(pkg.Vars)
	}
	if len(pkg.Funcs) > 0 {
		fmt.Print("## Functions\n\n")
		p.functions("###", "", pkg.Funcs)
	}
	p.types(pkg.Types)
}
