package config

import (
	"slices"
	"strings"
)

// Nearest returns the known word that was probably meant, or "" if none is close.
func Nearest(text string, known []string) string { return nearest(text, known) }

// nearest returns the known word that was probably meant, or "". It is the word that differs in the fewest letters,
// ignoring case and separators, if the difference is small. A known word that is a prefix of the text, or begins
// with the text, also counts as near; the longest such word wins.
func nearest(text string, known []string) string {
	word := fold(text)
	few := max(1, len(word)/3)
	best, least := "", few+1
	for _, k := range known {
		d := distance(word, fold(k))
		if begins(word, fold(k)) {
			d = min(d, few)
		}
		if d < least || d == least && d <= few && len(k) > len(best) {
			best, least = k, d
		}
	}
	return best
}

var separators = strings.NewReplacer("_", "", "-", "")

func fold(text string) string { return strings.ToLower(separators.Replace(text)) }

func begins(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	return len(a) >= 3 && strings.HasPrefix(b, a)
}

// maxWord bounds the words that are compared.
const maxWord = 64

// distance is the number of letters to insert, delete, replace or swap with the next
// that turn a into b.
func distance(a, b string) int {
	if len(a) > maxWord || len(b) > maxWord || len(a) > 2*len(b)+2 || len(b) > 2*len(a)+2 {
		return max(len(a), len(b))
	}
	var rows [3][maxWord + 1]int
	before, row, next := &rows[0], &rows[1], &rows[2]
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		next[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			next[j+1] = min(row[j]+cost, row[j+1]+1, next[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				next[j+1] = min(next[j+1], before[j-1]+1)
			}
		}
		before, row, next = row, next, before
	}
	return row[len(b)]
}

// unknown returns the message about an unknown word, with the nearest known one or a list of all.
func unknown(what, text string, known []string) string {
	msg := "unknown " + what + " " + clip(text)
	if meant := nearest(text, known[:min(len(known), 2000)]); meant != "" {
		msg += ` - did you mean "` + meant + `"?`
	} else if len(known) > 0 && len(known) <= 40 {
		msg += "; known: " + strings.Join(slices.Clone(known), ", ")
	}
	return msg
}
