package html

import (
	"fmt"
	"math"
	"slices"
	"time"

	"rowproof/reports/timeline"
)

// story is the history of the row and the turning points of the run, few
// enough for one still picture and a list.
type story struct {
	Lanes  []storyLane
	Ticks  []storyTick
	Marks  []storyMark
	Events []storyEvent
	Left   int // items that have no place in it
	Width  float64
	Height float64
	Bottom float64 // of the lanes
}

type storyLane struct {
	Name   string
	Title  string
	Y      float64
	Middle float64
}

type storyTick struct {
	X    float64
	Text string
	Turn string // the transform that turns the text
}

// storyMark is an item in the picture.
type storyMark struct {
	Number  int
	Kind    string
	Row     bool
	X, Y    float64
	Width   float64 // 0 is a moment
	Label   string  // if there is room for it
	LabelX  float64
	Tooltip string
}

// storyEvent is an item in the list.
type storyEvent struct {
	Item   int // its number in the timeline
	Number int
	From   time.Duration
	For    string
	Where  string
	Row    bool
	Label  string
	Text   string
	Cut    string // how long the text is, if Text is a part of it
	Note   string
}

const (
	mostStory   = 28
	storyLeft   = 250.0
	storyRight  = 1150.0
	laneHeight  = 30.0
	storyTop    = 8.0
	axisHeight  = 64.0
	nameLength  = 40
	charWidth   = 5.6
	storyText   = 600 // characters of a statement in the list
	badgeRadius = 7.5
)

// newStory draws the history of the row. Times are not to scale: a
// microsecond that decides and a second of waiting must both be seen.
func newStory(tl timeline.Timeline) story {
	chosen, left := choose(tl)
	s := story{Left: left, Width: storyRight + 30}
	if len(chosen) == 0 {
		return s
	}
	x := scale(tl, chosen)
	lanes := map[int]int{}
	var used []int
	for _, n := range chosen {
		if !slices.Contains(used, tl.Items[n].Lane) {
			used = append(used, tl.Items[n].Lane)
		}
	}
	slices.Sort(used)
	for row, lane := range used {
		lanes[lane] = row
		y := storyTop + float64(row)*laneHeight
		name := tl.Lanes[lane].String()
		s.Lanes = append(s.Lanes, storyLane{Name: clip(name, nameLength), Title: name, Y: y, Middle: y + laneHeight/2})
	}
	s.Bottom = storyTop + float64(len(used))*laneHeight
	s.Height = s.Bottom + axisHeight
	for at, place := range x {
		text := milliseconds(at)
		s.Ticks = append(s.Ticks, storyTick{X: place, Text: text, Turn: fmt.Sprintf("rotate(-50 %.1f %.1f)", place, s.Bottom+14)})
	}
	slices.SortFunc(s.Ticks, func(a, b storyTick) int { return int(math.Copysign(1, a.X-b.X)) })
	for i, n := range chosen {
		item := tl.Items[n]
		s.Events = append(s.Events, newEvent(tl, n, i+1))
		m := storyMark{Number: i + 1, Kind: string(item.Kind), Row: item.Row, X: x[item.From], Width: x[item.To] - x[item.From]}
		m.Y = s.Lanes[lanes[item.Lane]].Middle
		m.Tooltip = milliseconds(item.From) + ": " + item.Label
		s.Marks = append(s.Marks, m)
	}
	s.label(tl, chosen)
	return s
}

// choose returns the items of the story, the last ones if there are too many:
// the last write to a row is the one that matters.
func choose(tl timeline.Timeline) (chosen []int, left int) {
	chosen = tl.History()
	if !slices.ContainsFunc(chosen, func(n int) bool { return tl.Items[n].Row }) && len(chosen) > mostStory {
		return chosen[:mostStory], len(chosen) - mostStory
	}
	for len(chosen) > mostStory {
		// The earliest item goes; of the row's own, as long as there are more
		// of them than of the others.
		row, turn := -1, -1
		rows := 0
		for i, n := range chosen {
			if tl.Items[n].Row {
				if rows++; row < 0 {
					row = i
				}
			} else if turn < 0 {
				turn = i
			}
		}
		drop := row
		if turn >= 0 && rows <= mostStory/2 {
			drop = turn
		}
		chosen = slices.Delete(chosen, drop, drop+1)
		left++
	}
	return chosen, left
}

// scale gives each time of the items a place: the longer the time since the
// one before, the further away, but by its logarithm.
func scale(tl timeline.Timeline, chosen []int) map[time.Duration]float64 {
	var times []time.Duration
	for _, n := range chosen {
		times = append(times, tl.Items[n].From, tl.Items[n].To)
	}
	slices.Sort(times)
	times = slices.Compact(times)
	places := []float64{0}
	for i := 1; i < len(times); i++ {
		gap := float64(times[i]-times[i-1]) / float64(time.Microsecond)
		places = append(places, places[i-1]+18+14*math.Log10(1+gap/50))
	}
	width := storyRight - storyLeft - 30
	stretch := 1.0
	if last := places[len(places)-1]; last > 0 {
		stretch = min(width/last, 3)
	}
	x := map[time.Duration]float64{}
	for i, t := range times {
		x[t] = storyLeft + 16 + places[i]*stretch
	}
	return x
}

// label gives each mark its words where there is room for them.
func (s *story) label(tl timeline.Timeline, chosen []int) {
	for i := range s.Marks {
		m := &s.Marks[i]
		from := m.X + m.Width + badgeRadius + 4
		if m.Width > 60 {
			from = m.X + badgeRadius + 5
		}
		until := storyRight + 20
		for j, other := range s.Marks {
			if j != i && other.Y == m.Y && other.X >= m.X && (other.X > m.X || j > i) {
				until = min(until, other.X-badgeRadius-2)
			}
		}
		room := int((until - from) / charWidth)
		if label := tl.Items[chosen[i]].Label; room >= 6 {
			m.Label, m.LabelX = clip(label, room), from
		}
	}
}

func newEvent(tl timeline.Timeline, n, number int) storyEvent {
	i := tl.Items[n]
	e := storyEvent{
		Item: n, Number: number, From: i.From, Where: tl.Lanes[i.Lane].Place(), Row: i.Row,
		Label: i.Label, Text: i.Text, Note: clip(i.Note, storyText),
	}
	if i.To > i.From {
		e.For = "for " + milliseconds(i.To-i.From)
		if i.Open {
			e.For = "and never ended"
		}
	}
	if short := clip(e.Text, storyText); short != e.Text {
		e.Text, e.Cut = short, fmt.Sprintf("%d characters in all: the timeline holds them", len([]rune(i.Text)))
	}
	return e
}

func clip(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:max(n-1, 0)]) + "…"
	}
	return s
}
