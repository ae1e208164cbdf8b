package html_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"rowproof/fixtures/histories"
)

// What a page of a run with 10,000 operations may take.
const (
	mostOpening = 2 * time.Second
	mostBytes   = 5 << 20
)

func TestRunInBrowser(t *testing.T) {
	b := newTab(t, 2*time.Minute)
	for _, n := range []int{1, 100, 10_000} {
		t.Run(fmt.Sprintf("OK/%d", n), func(t *testing.T) {
			b.t = t
			path := page(t, histories.Made(n))
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			if info.Size() > mostBytes {
				t.Errorf("page: got %d bytes, want at most %d", info.Size(), mostBytes)
			}
			// The best of three: other work on the machine is no fault of the page.
			took := b.open(path)
			for try := 1; took > mostOpening && try < 3; try++ {
				took = b.open(path)
			}
			if took > mostOpening {
				t.Errorf("opening: got %v, want at most %v", took, mostOpening)
			}
			t.Logf("%d operations: %d bytes, opened in %v", n, info.Size(), took)
			testLanes(t, b, n)
			testHover(t, b)
			testJump(t, b, n)
			testKeys(t, b)
			testFind(t, b, n)
			testNasty(t, b)
			b.clean()
		})
	}
}

func testLanes(t *testing.T, b *tab, n int) {
	t.Helper()
	lanes := eval[[]string](b, `[...document.querySelectorAll('#lanes li')].map(l => l.textContent)`)
	want := []string{"faults", "before range-read", "never fired: before lock: never comes", "writer-1", "in the binlog", "replica-1",
		"process", "connection 3: apply", "events to the tool"}
	if n > 8 {
		want = append(want, "writer-8")
	}
	for _, w := range want {
		if !strings.Contains("\n"+strings.Join(lanes, "\n")+"\n", "\n"+w+"\n") {
			t.Errorf("lanes %q lack %q", lanes, w)
		}
	}
	if got := eval[int](b, `timeline.data.items.length / 8`); got < 4*n {
		t.Errorf("items: got %d, want at least %d", got, 4*n)
	}
	// What is drawn is to be seen: the fault's colour is at the fault's place.
	eval[bool](b, `(document.getElementById('whole').click(), true)`)
	colours := eval[[]int](b, find(`i.kind === 'fault'`)+`; {
		const at = timeline.locate(found), r = timeline.ratio;
		[...timeline.canvas.getContext('2d').getImageData(at.x * r, at.y * r, 1, 1).data]
	}`)
	if len(colours) != 4 || colours[0] < 150 || colours[1] > 120 {
		t.Errorf("colour at the fault: got %v, want red", colours)
	}
}

// find is a script that sets found to the first item that fits.
func find(condition string) string {
	return `var found = -1; for (let n = 0; n * 8 < timeline.data.items.length && found < 0; n++) { const i = timeline.item(n); if (` + condition + `) found = n; }`
}

// point moves the pointer to the item of the last find.
func point(b *tab) {
	b.t.Helper()
	eval[bool](b, `(timeline.canvas.scrollIntoView({block: 'center'}), timeline.select(found, true), true)`)
	at := eval[[]float64](b, `(() => { const at = timeline.locate(found), box = timeline.canvas.getBoundingClientRect(); return [box.left + at.x, box.top + at.y]; })()`)
	b.do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, at[0]-30, at[1]-300), chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, at[0], at[1]))
}

func testHover(t *testing.T, b *tab) {
	t.Helper()
	eval[any](b, find(`i.kind === 'write'`)+`; null`)
	eval[bool](b, `(timeline.view(timeline.warp.place(timeline.item(found).from) - 300, timeline.warp.place(timeline.item(found).to) + 300), true)`)
	point(b)
	want := eval[string](b, `timeline.item(found).text`)
	if !strings.HasPrefix(want, "UPDATE `pair` SET") || strings.Contains(want, "bytes in all") {
		t.Errorf("statement: got %q, want it whole", want)
	}
	if tip := b.text("#tip"); !strings.Contains(tip, "UPDATE `pair` SET") || eval[bool](b, `document.getElementById('tip').hidden`) {
		t.Errorf("tip: got %q, want the statement %q", tip, want)
	}
	eval[any](b, find(`i.kind === 'fault'`)+`; null`)
	point(b)
	if tip := b.text("#tip"); !strings.Contains(tip, "the network is slow") {
		t.Errorf("tip: got %q, want the fault", tip)
	}
}

func testJump(t *testing.T, b *tab, n int) {
	t.Helper()
	eval[bool](b, `(timeline.view(0, timeline.warp.end / 1000), timeline.select(-1), true)`)
	b.do(chromedp.Click("#jump"))
	focus := eval[[]float64](b, `[timeline.time(0), timeline.time(timeline.width), ...timeline.data.focus]`)
	if focus[0] > focus[2] || focus[1] < focus[3] {
		t.Errorf("view after the jump: got %v to %v, want all of %v to %v", focus[0], focus[1], focus[2], focus[3])
	}
	if detail := b.text("#detail"); !strings.Contains(detail, "of the row") || !strings.Contains(detail, fmt.Sprintf("UPDATE %d", (n-1)%1000+1)) {
		t.Errorf("detail after the jump: got %q, want the row's first event", detail)
	}
}

func testKeys(t *testing.T, b *tab) {
	t.Helper()
	b.do(chromedp.Focus("#chart"))
	selected := func() int { return eval[int](b, `timeline.selected`) }
	first := selected()
	b.do(chromedp.KeyEvent("n"))
	if got := selected(); got == first || !eval[bool](b, `(timeline.item(timeline.selected).flags & 1) === 1`) {
		t.Errorf("N: selected %d after %d, want the row's next event", got, first)
	}
	second := selected()
	b.do(chromedp.KeyEvent(kb.ArrowDown))
	if got := selected(); got == second {
		t.Errorf("arrow: the selection stays at %d", got)
	}
	length := func() float64 { return eval[float64](b, `timeline.to - timeline.from`) }
	whole := eval[float64](b, `timeline.warp.end`)
	b.do(chromedp.KeyEvent("0"))
	if got := length(); got < whole {
		t.Errorf("0: the view is %v long, want all %v", got, whole)
	}
	b.do(chromedp.KeyEvent("+"))
	if got := length(); got >= whole {
		t.Errorf("+: the view is %v long, want less than %v", got, whole)
	}
	eval[any](b, find(`i.kind === 'fault'`)+`; null`)
	point(b)
	hidden := func() bool { return eval[bool](b, `document.getElementById('tip').hidden`) }
	if hidden() || selected() < 0 {
		t.Errorf("before Escape: the tip is hidden: %v, selected: %d; want a tip and a selection", hidden(), selected())
	}
	b.do(chromedp.KeyEvent(kb.Escape))
	if !hidden() || selected() >= 0 {
		t.Errorf("Escape: the tip is hidden: %v, selected: %d; want neither tip nor selection", hidden(), selected())
	}
}

func testFind(t *testing.T, b *tab, n int) {
	t.Helper()
	b.do(chromedp.SendKeys("#find", "osc:apply"))
	if got, want := b.text("#found"), fmt.Sprint(n, " event"); !strings.HasPrefix(got, want) {
		t.Errorf("found: got %q, want %q", got, want)
	}
}

// testNasty looks for a value that would act if it were not shown as text.
func testNasty(t *testing.T, b *tab) {
	t.Helper()
	if title := eval[string](b, `document.title`); strings.Contains(title, "obeyed") {
		t.Errorf("title: got %q: a value was executed", title)
	}
	if got := eval[int](b, `document.images.length`); got != 0 {
		t.Errorf("images: got %d, want none", got)
	}
	answer := b.text("#answer")
	for _, want := range []string{"</script><script>document.title='obeyed'</script><img src=x onerror=", `\x00\x1b[31m\u202e\u2028]]>{{.}}`, "&amp;", "bytes: 61", "characters"} {
		if !strings.Contains(answer, want) {
			t.Errorf("answer lacks %q:\n%s", want, answer)
		}
	}
	if got := eval[string](b, `[...document.querySelectorAll('#answer mark')].map(m => m.textContent).join('|')`); !strings.Contains(got, "c2 a0 62") {
		t.Errorf("marked bytes: got %q, want those of the no-break space", got)
	}
}
