package web

import (
	"embed"
	"html/template"
)

//go:embed templates/*.html
var templates embed.FS

// parse reads the template of a page with the layout around it.
func parse(name string) *template.Template {
	t := template.New(name).Funcs(funcs).Funcs(columnFuncs)
	return template.Must(t.ParseFS(templates, "templates/layout.html", "templates/common.html", "templates/"+name+".html"))
}
