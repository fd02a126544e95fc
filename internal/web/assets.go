package web

import (
	"crypto/sha256"
	"embed"
	"fmt"
	"net/http"
	"path"

	"github.com/fairlead/fairlead/internal/plot"
)

//go:embed assets
var files embed.FS

// asset is a file that pages load.
type asset struct {
	kind string
	text []byte
	tag  string
}

// assets holds all files by name. The colors are those of the pictures.
var assets = func() map[string]asset {
	kinds := map[string]string{".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8",
		".svg": "image/svg+xml"}
	out := map[string]asset{}
	entries, err := files.ReadDir("assets")
	if err != nil {
		panic(err)
	}
	add := func(name string, text []byte) {
		out[name] = asset{kinds[path.Ext(name)], text, fmt.Sprintf("%.6x", sha256.Sum256(text))}
	}
	for _, e := range entries {
		text, err := files.ReadFile("assets/" + e.Name())
		if err != nil {
			panic(err)
		}
		add(e.Name(), text)
	}
	add("plot.css", []byte(plot.Theme+plot.CSS+plot.Print))
	add("plot.js", []byte(plot.Script))
	return out
}()

// assetPath returns the address of a file. The tag changes with the file, so that browsers may cache it.
func assetPath(name string) string { return "assets/" + name + "?" + assets[name].tag }

func serveAsset(w http.ResponseWriter, r *http.Request) {
	a, known := assets[r.PathValue("name")]
	if !known {
		http.NotFound(w, r)
		return
	}
	if r.URL.RawQuery == a.tag {
		w.Header().Set("Cache-Control", "max-age=31536000, immutable")
	}
	w.Header().Set("Content-Type", a.kind)
	w.Write(a.text)
}
