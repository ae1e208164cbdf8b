package html

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"time"
	"unicode/utf8"

	"rowproof/reports"
	"rowproof/reports/timeline"
)

// mostData is how long a timeline's data may be, packed. With it, a page stays
// below 5 MB unless its rows and explanations hold much text.
const mostData = 4 << 20

// packedTimeline is a timeline as the script reads it. Texts are given once,
// and by their number elsewhere.
type packedTimeline struct {
	Strings []string    `json:"strings"`
	Lanes   [][2]string `json:"lanes"`
	Kinds   []string    `json:"kinds"`
	Items   []int64     `json:"items"` // eight numbers each: see add
	End     int64       `json:"end"`
	Focus   [3]int64    `json:"focus"` // from, to, item
}

// Flags of an item.
const (
	flagRow = 1 << iota
	flagTurn
	flagOpen
)

// pack encodes a timeline. Statements that are not of the row are shortened,
// as little as it takes, if all is too long.
func pack(tl timeline.Timeline, w window) (string, error) {
	for _, limit := range []int{0, 2000, 500, 120, 1} {
		text, err := packShort(tl, w, limit)
		if err != nil || len(text) <= mostData {
			return text, err
		}
	}
	return "", fmt.Errorf("write page: the timeline of %d items is too long for one page", len(tl.Items))
}

// packShort encodes a timeline with statements of at most limit characters;
// 0 is any number.
func packShort(tl timeline.Timeline, w window, limit int) (string, error) {
	p := packer{index: map[string]int64{}, kinds: map[timeline.Kind]int64{}, limit: limit}
	for _, l := range tl.Lanes {
		p.data.Lanes = append(p.data.Lanes, [2]string{l.Group, reports.Printable(l.Name)})
	}
	for _, i := range tl.Items {
		p.add(i)
	}
	p.data.End = micros(tl.End)
	p.data.Focus = [3]int64{micros(w.from), micros(w.to), int64(w.item)}
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.DefaultCompression)
	if err != nil {
		return "", fmt.Errorf("pack timeline: %w", err)
	}
	enc := json.NewEncoder(z)
	enc.SetEscapeHTML(false) // what comes out is base64
	if err := enc.Encode(p.data); err != nil {
		return "", fmt.Errorf("pack timeline: %w", err)
	}
	if err := z.Close(); err != nil {
		return "", fmt.Errorf("pack timeline: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(b.Bytes()), nil
}

type packer struct {
	data  packedTimeline
	index map[string]int64
	kinds map[timeline.Kind]int64
	limit int
}

func (p *packer) add(i timeline.Item) {
	kind, ok := p.kinds[i.Kind]
	if !ok {
		kind = int64(len(p.data.Kinds))
		p.kinds[i.Kind] = kind
		p.data.Kinds = append(p.data.Kinds, string(i.Kind))
	}
	flags := int64(0)
	for flag, set := range map[int64]bool{flagRow: i.Row, flagTurn: i.Turn, flagOpen: i.Open} {
		if set {
			flags |= flag
		}
	}
	text, note := i.Text, i.Note
	if !i.Row && !i.Turn {
		text, note = p.short(text), p.short(note)
	}
	from := micros(i.From)
	p.data.Items = append(p.data.Items, int64(i.Lane), from, micros(i.To)-from, kind, p.text(i.Label), p.text(text), p.text(note), flags)
}

// text returns the number of a text.
func (p *packer) text(s string) int64 {
	n, ok := p.index[s]
	if !ok {
		n = int64(len(p.data.Strings))
		p.index[s] = n
		p.data.Strings = append(p.data.Strings, reports.Printable(s))
	}
	return n
}

func (p *packer) short(s string) string {
	if p.limit == 0 || len(s) <= p.limit {
		return s
	}
	n := p.limit
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return fmt.Sprintf("%s… (%d bytes in all; the run directory holds them)", s[:n], len(s))
}

func micros(d time.Duration) int64 { return d.Microseconds() }
