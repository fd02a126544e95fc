package main

import (
	"context"

	"github.com/fairlead/fairlead/internal/api"
	"github.com/fairlead/fairlead/internal/table"
	"github.com/fairlead/fairlead/internal/words"
)

// checkCompare refuses what does not go with two pools.
func (s *shares) checkCompare(pools []string) error {
	switch {
	case !s.compare && len(pools) > 1:
		return usagef("more than one pool: to see two beside each other, say --compare")
	case s.compare && len(pools) != 2:
		return usagef("--compare takes two pools: fairlead shares --compare physics biology")
	case s.compare && (s.past.on || s.summary || s.user != ""):
		return usagef("--compare goes without --history, --summary and --user")
	}
	return nil
}

// showCompared shows the numbers of two pools beside each other.
func (s *shares) showCompared(ctx context.Context, client *api.Client, pools []string) error {
	doc, err := client.Shares(ctx, pools[0])
	if err != nil {
		return err
	}
	other, err := client.Shares(ctx, pools[1])
	if err != nil {
		return err
	}
	doc.Pools = append(doc.Pools[:1:1], other.Pools[0])
	if s.json {
		return s.printJSON(doc)
	}
	a, b := &doc.Pools[0], &doc.Pools[1]
	t := table.New(table.Column{Name: "NUMBER"}, table.Column{Name: a.Path, Right: true}, table.Column{Name: b.Path, Right: true})
	for _, row := range words.Compare(doc, a, b) {
		t.Row(row.Name, dash(row.Of[0]), dash(row.Of[1]))
	}
	return s.print(&s.listing, t)
}
