package benchmark

import (
	"bytes"
	"fmt"
	"image/color"
	"os"
	"path/filepath"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"rowproof/harness/bench/figures"
)

// Size of one chart.
const (
	chartWidth  = 14 * vg.Centimeter
	chartHeight = 8 * vg.Centimeter
	barSpace    = 5.5 * vg.Centimeter // for all bars of a chart together
)

// WritePlot draws the phases as charts side by side, in one SVG file that
// needs nothing else.
func WritePlot(path string, r figures.Report) error {
	charts, err := charts(r)
	if err != nil {
		return fmt.Errorf("draw benchmark: %w", err)
	}
	const columns = 2
	rows := (len(charts) + columns - 1) / columns
	canvas := vgsvg.New(columns*chartWidth, vg.Length(rows)*chartHeight)
	tiles := draw.Tiles{Rows: rows, Cols: columns,
		PadTop: vg.Millimeter * 3, PadBottom: vg.Millimeter * 3, PadLeft: vg.Millimeter * 3, PadRight: vg.Millimeter * 5, PadX: vg.Millimeter * 6, PadY: vg.Millimeter * 6}
	area := draw.New(canvas)
	area.FillPolygon(color.White, []vg.Point{area.Min, {X: area.Max.X, Y: area.Min.Y}, area.Max, {X: area.Min.X, Y: area.Max.Y}})
	for n, chart := range charts {
		chart.Draw(tiles.At(area, n%columns, n/columns))
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("write plot: %w", err)
	}
	var text bytes.Buffer
	if _, err := canvas.WriteTo(&text); err != nil {
		return fmt.Errorf("write plot: %w", err)
	}
	// Where this font isn't, another of the same widths serves as well.
	data := bytes.ReplaceAll(text.Bytes(), []byte("font-family:Liberation Sans;"),
		[]byte("font-family:Liberation Sans,Arial,Helvetica,sans-serif;"))
	if err := os.WriteFile(path, data, 0o644); err != nil {
		return fmt.Errorf("write plot: %w", err)
	}
	return nil
}

// charts returns one chart for each phase; under load it shows the p99.
func charts(r figures.Report) ([]*plot.Plot, error) {
	var all []*plot.Plot
	for _, phase := range r.Phases() {
		rows := slices.DeleteFunc(r.Rows(phase), func(row figures.Row) bool { return row.Runs == 0 })
		if len(rows) == 0 {
			continue
		}
		label, value, scale := "seconds", func(row figures.Row) float64 { return row.Seconds }, plot.Normalizer(plot.LinearScale{})
		switch {
		case phase == figures.Backlog:
			label, value = "rows applied each second", func(row figures.Row) float64 { return row.PerSecond }
		case rows[0].Felt != nil:
			// From a fraction of a millisecond to many seconds.
			label, value, scale = "p99, milliseconds, logarithmic", func(row figures.Row) float64 { return row.Felt.P99 }, plot.LogScale{}
		}
		chart, err := newChart(Title(r, phase), rows, value)
		if err != nil {
			return nil, err
		}
		chart.X.Label.Text = label
		if _, logarithmic := scale.(plot.LogScale); logarithmic {
			chart.X.Scale = scale
			chart.X.Tick.Marker = plot.LogTicks{Prec: -1}
			chart.X.Min = logFloor
		}
		all = append(all, chart)
	}
	return all, nil
}

// logFloor is where a logarithmic axis begins, in milliseconds.
const logFloor = 0.1

// newChart draws a bar for each row, with its value behind it.
func newChart(title string, rows []figures.Row, value func(figures.Row) float64) (*plot.Plot, error) {
	p := plot.New()
	p.Title.Text = title
	p.Title.Padding = vg.Points(6)
	for _, f := range []*font.Font{
		&p.Title.TextStyle.Font, &p.X.Label.TextStyle.Font, &p.X.Tick.Label.Font, &p.Y.Tick.Label.Font,
	} {
		f.Variant = "Sans"
	}
	slices.Reverse(rows) // the first one is drawn at the bottom
	var names []string
	labels := plotter.XYLabels{}
	for n, row := range rows {
		bar := bar{at: float64(n), value: value(row), color: colorOf(row.Contender), width: barSpace / vg.Length(len(rows)+2)}
		p.Add(bar)
		names = append(names, row.Contender)
		labels.XYs = append(labels.XYs, plotter.XY{X: bar.value, Y: bar.at})
		labels.Labels = append(labels.Labels, " "+short(bar.value))
		p.X.Max = max(p.X.Max, bar.value*1.15)
	}
	p.X.Min = 0
	texts, err := plotter.NewLabels(labels)
	if err != nil {
		return nil, err
	}
	for n := range texts.TextStyle {
		texts.TextStyle[n].YAlign = draw.YCenter
		texts.TextStyle[n].Font.Variant = "Sans"
	}
	p.Add(texts)
	p.NominalY(names...)
	p.Y.Min, p.Y.Max = -0.6, float64(len(rows))-0.4
	return p, nil
}

// bar is one horizontal bar. plotter.BarChart begins its bars at 0, which a
// logarithmic axis doesn't have.
type bar struct {
	at, value float64
	color     color.Color
	width     vg.Length
}

// Plot draws the bar from where the axis begins.
func (b bar) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	left, right, middle := x(p.X.Min), x(max(b.value, p.X.Min)), y(b.at)
	c.FillPolygon(b.color, []vg.Point{
		{X: left, Y: middle - b.width/2}, {X: right, Y: middle - b.width/2},
		{X: right, Y: middle + b.width/2}, {X: left, Y: middle + b.width/2},
	})
}

// colorOf tells our engine, the server, other tools and calm apart; the
// colours can be told apart by the colour-blind too.
func colorOf(contender string) color.Color {
	switch contender {
	case "osc", "osc-noverify", "osc-inline":
		return color.RGBA{R: 0, G: 114, B: 178, A: 255}
	case "COPY", "INPLACE":
		return color.RGBA{R: 153, G: 153, B: 153, A: 255}
	case figures.None:
		return color.RGBA{R: 0, G: 158, B: 115, A: 255}
	}
	return color.RGBA{R: 230, G: 159, B: 0, A: 255}
}

// short writes a value with as many digits as say something.
func short(v float64) string {
	switch {
	case v < 10:
		return fmt.Sprintf("%.2f", v)
	case v < 1000:
		return fmt.Sprintf("%.1f", v)
	}
	return thousands(int64(v + 0.5))
}
