package web

import (
	"html/template"
	"slices"
	"strings"
)

// askedOrder reads the requested order, and makes the links of the column heads. It ignores a column that the list
// lacks.
func (q *Queue) askedOrder(r *Request, waits bool) {
	name, down := strings.CutPrefix(r.Word("sort"), "-")
	q.heads = map[string]sortHead{}
	var here []*listOrder
	for i := range listOrders {
		o := &listOrders[i]
		if len(o.in) > 0 && !slices.Contains(o.in, q.Columns) {
			continue
		}
		if here = append(here, o); o.name == name {
			q.order, q.Sort = &sorter{listOrder: o, down: down, now: q.Now}, r.Word("sort")
		}
	}
	for _, o := range here {
		down, present := q.newestFirst(), !waits && o.name == "job" // the order of a list without a request
		if q.order != nil {
			down, present = q.order.down, q.order.listOrder == o
		}
		head := sortHead{link: r.With("sort", o.name)}
		if present {
			head.says = "ascending"
			if down != o.backwards {
				head.says = "descending"
			}
			if !down {
				head.link = r.With("sort", "-"+o.name)
			}
		}
		q.heads[o.name] = head
	}
	if waits {
		rank := sortHead{link: r.With("sort", "")}
		if q.order == nil {
			rank.says = "ascending"
		}
		q.heads["rank"] = rank
	}
}

// column writes the head of a column: its classes, and its name in files if that differs from the label.
func column(q *Queue, name, label, class, file string) template.HTML {
	var b strings.Builder
	attribute := func(name, value string) {
		if value != "" {
			b.WriteString(` ` + name + `="` + template.HTMLEscapeString(value) + `"`)
		}
	}
	b.WriteString(`<th scope="col"`)
	attribute("class", class)
	attribute(csvNames, file)
	head, sorts := q.heads[name]
	attribute("aria-sort", head.says)
	b.WriteString(`>`)
	if sorts {
		b.WriteString(`<a`)
		attribute("href", head.link)
		b.WriteString(`>` + template.HTMLEscapeString(label) + `</a>`)
	} else {
		b.WriteString(template.HTMLEscapeString(label))
	}
	b.WriteString(`</th>`)
	return template.HTML(b.String())
}
