package catalogue

import (
	"slices"
	"strings"
)

// Measures of the picture, in its own units: it is about as wide as a page.
const (
	pictureWidth = 860 // at least
	namesWidth   = 268 // of the mutants
	pitchX       = 19
	pitchY       = 16
	letterHeight = 5.2 // by which a letter of a scenario's name rises, for it leans
	leanWidth    = 100 // of the last scenario's name
	panelGap     = 24
	legendHeight = 40
)

// smallFamily is up to how many scenarios a family shares its panel with
// others.
const smallFamily = 3

// picture is what the template of the picture is filled with.
type picture struct {
	Width, Height int
	Legend        []legend
	Panels        []panel
}

type legend struct {
	X, Y        int
	Class, Text string
}

// panel is a table of the mutants that were run in the scenarios of one
// family: all scenarios beside each other are wider than a page.
type panel struct {
	Left, Top, Right, Bottom int // of the cells
	Scenarios, Mutants       []label
	Cells                    []square
}

type label struct {
	X, Y int
	Text string
}

type square struct {
	X, Y  int
	Class string
}

var fateClasses = map[fate]string{survived: "survived", found: "found", killed: "killed"}

func (c Catalogue) picture() picture {
	p := picture{Width: pictureWidth}
	for i, l := range []legend{
		{Class: "killed", Text: "the scenario finds its control"},
		{Class: "found", Text: "it finds another mutant too"},
		{Class: "survived", Text: "it was run and found nothing"},
	} {
		l.X, l.Y = 16+i*230, 18
		p.Legend = append(p.Legend, l)
	}
	y := legendHeight
	for _, family := range families(c.Scenarios) {
		panel := c.panel(family, y)
		p.Panels = append(p.Panels, panel)
		p.Width = max(p.Width, panel.Right+leanWidth)
		y = panel.Bottom + panelGap
	}
	p.Height = y
	return p
}

// families divides scenarios by the first word of their IDs; what comes in
// small numbers is together at the end.
func families(scenarios []Scenario) [][]Scenario {
	byName := map[string][]Scenario{}
	var names []string
	for _, s := range scenarios {
		name, _, _ := strings.Cut(s.ID, "-")
		if byName[name] == nil {
			names = append(names, name)
		}
		byName[name] = append(byName[name], s)
	}
	var all [][]Scenario
	var rest []Scenario
	for _, name := range names {
		if family := byName[name]; len(family) < smallFamily {
			rest = append(rest, family...)
		} else {
			all = append(all, family)
		}
	}
	if rest != nil {
		all = append(all, rest)
	}
	return all
}

// panel draws a family below y. Its mutants are in the order of the first
// scenario that finds them.
func (c Catalogue) panel(family []Scenario, y int) panel {
	longest := 0
	for _, s := range family {
		longest = max(longest, len(s.ID))
	}
	p := panel{Left: namesWidth, Top: y + int(float64(longest)*letterHeight) + pitchY}
	var mutants []string
	add := func(least fate) {
		for _, s := range family {
			for _, m := range c.mutants() {
				if c.fate(m, s) >= least && !slices.Contains(mutants, m) {
					mutants = append(mutants, m)
				}
			}
		}
	}
	add(killed)
	add(survived)
	p.Right, p.Bottom = p.Left+len(family)*pitchX, p.Top+len(mutants)*pitchY
	for i, s := range family {
		p.Scenarios = append(p.Scenarios, label{p.Left + i*pitchX + pitchX/2, p.Top - 6, s.ID})
	}
	for j, m := range mutants {
		p.Mutants = append(p.Mutants, label{p.Left - 8, p.Top + j*pitchY + pitchY/2, m})
		for i, s := range family {
			if class := fateClasses[c.fate(m, s)]; class != "" {
				p.Cells = append(p.Cells, square{p.Left + i*pitchX + pitchX/2, p.Top + j*pitchY + pitchY/2, class})
			}
		}
	}
	return p
}
