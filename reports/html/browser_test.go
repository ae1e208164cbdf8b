package html_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// browserEnv names a browser to test with; "off" leaves these tests out.
const browserEnv = "ROWPROOF_BROWSER"

// browserPath finds a browser, or fails the test with what to do.
func browserPath(t *testing.T) string {
	t.Helper()
	switch path := os.Getenv(browserEnv); path {
	case "":
	case "off":
		t.Skip(browserEnv + "=off")
	default:
		return path
	}
	for _, name := range []string{
		"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome",
		"/Applications/Google Chrome.app/Contents/MacOS/Google Chrome", "/Applications/Chromium.app/Contents/MacOS/Chromium",
	} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Fatalf("no browser found: install Chromium (Debian: apt-get install chromium), or set %s to the path of one, or to off", browserEnv)
	return ""
}

// tab is a page in a real browser. It keeps what went wrong on the page.
type tab struct {
	t   *testing.T
	ctx context.Context

	mu     sync.Mutex
	errors []string
}

// newTab starts a browser. It ends with the test, or at the limit.
func newTab(t *testing.T, limit time.Duration) *tab {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(browserPath(t)), chromedp.WindowSize(1280, 900), chromedp.Flag("force-color-profile", "srgb"))
	if os.Geteuid() == 0 { // Chromium's sandbox refuses root
		options = append(options, chromedp.NoSandbox)
	}
	limited, cancelLimit := context.WithTimeout(context.WithoutCancel(t.Context()), limit) // it must outlive the test
	allocator, cancelAllocator := chromedp.NewExecAllocator(limited, options...)
	ctx, cancel := chromedp.NewContext(allocator)
	b := &tab{t: t, ctx: ctx}
	t.Cleanup(func() {
		if err := chromedp.Cancel(ctx); err != nil {
			t.Errorf("end browser: %v", err)
		}
		cancel()
		cancelAllocator()
		cancelLimit()
	})
	if err := chromedp.Listen(ctx, b.listen); err != nil {
		t.Fatal(err)
	}
	if _, err := chromedp.Call(ctx, network.Enable, network.EnableParams{}); err != nil {
		t.Fatal(err)
	}
	if _, err := chromedp.Call(ctx, log.Enable, cdp.Empty{}); err != nil {
		t.Fatal(err)
	}
	return b
}

func (b *tab) listen(event any) {
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		b.note("exception: %v", e.ExceptionDetails.Exception.Description)
	case *runtime.EventConsoleAPICalled:
		b.note("console: %v", e.Args)
	case *log.EventEntryAdded:
		b.note("log: %s", e.Entry.Text)
	case *network.EventRequestWillBeSent:
		if !strings.HasPrefix(e.Request.URL, "file:") && !strings.HasPrefix(e.Request.URL, "blob:") {
			b.note("request: %s", e.Request.URL)
		}
	}
}

func (b *tab) note(format string, args ...any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.errors = append(b.errors, fmt.Sprintf(format, args...))
}

func (b *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, actions...); err != nil {
		b.t.Fatal(err)
	}
}

// open loads a page, waits until it has set data-ready on its root, and
// returns how long that took.
func (b *tab) open(path string) time.Duration {
	b.t.Helper()
	b.do(chromedp.Navigate("file://"+path), chromedp.WaitReady(`html[data-ready]`))
	return time.Duration(eval[float64](b, `Number(document.documentElement.dataset.ready)`) * float64(time.Millisecond))
}

// eval returns what an expression is on the page.
func eval[T any](b *tab, expression string) T {
	b.t.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
	return v
}

// text is the visible text of an element.
func (b *tab) text(selector string) string {
	b.t.Helper()
	return eval[string](b, fmt.Sprintf("document.querySelector(%q).innerText", selector))
}

// clean fails the test if anything went wrong on the page.
func (b *tab) clean() {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, e := range b.errors {
		b.t.Error(e)
	}
	b.errors = nil
}
