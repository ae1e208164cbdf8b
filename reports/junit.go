package reports

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"rowproof/harness/check"
)

// JUnitFile is the suite's results as JUnit XML, in the suite's directory.
const JUnitFile = "junit.xml"

// The elements and attributes are those that both the Jenkins and the
// surefire schema know.
type junitSuites struct {
	XMLName xml.Name `xml:"testsuites"`
	Name    string   `xml:"name,attr"`
	junitCounts
	Suites []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name      string `xml:"name,attr"`
	Timestamp string `xml:"timestamp,attr"`
	Skipped   int    `xml:"skipped,attr"`
	junitCounts
	Properties []junitProperty `xml:"properties>property"`
	Cases      []junitCase     `xml:"testcase"`
}

type junitCounts struct {
	Tests    int       `xml:"tests,attr"`
	Failures int       `xml:"failures,attr"`
	Errors   int       `xml:"errors,attr"`
	Time     junitTime `xml:"time,attr"`
}

// junitTime is in seconds. The schemas allow three decimals.
type junitTime float64

// MarshalText implements encoding.TextMarshaler.
func (t junitTime) MarshalText() ([]byte, error) {
	return strconv.AppendFloat(nil, float64(t), 'f', 3, 64), nil
}

type junitProperty struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

type junitCase struct {
	Name      string       `xml:"name,attr"`
	Classname string       `xml:"classname,attr"`
	Time      junitTime    `xml:"time,attr"`
	Failure   *junitDetail `xml:"failure"`
	Error     *junitDetail `xml:"error"`
	Skipped   *junitReason `xml:"skipped"`
	Out       junitText    `xml:"system-out"`
}

type junitReason struct {
	Message string `xml:"message,attr"`
}

type junitDetail struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr"`
	junitText
}

// junitText is text that stays readable in the file. It must be Printable:
// CDATA can't hold what XML has no character for.
type junitText struct {
	Text string `xml:",cdata"`
}

// WriteJUnit writes runs as JUnit XML: a test suite per scenario, a test case
// per run. A run that is not as expected is a failure, or an error if its
// verdict is Unknown.
func WriteJUnit(w io.Writer, runs []Run) error {
	suites := junitSuites{Name: "rowproof"}
	for _, r := range runs {
		n := len(suites.Suites)
		if n == 0 || suites.Suites[n-1].Name != r.Record.Scenario {
			suites.Suites = append(suites.Suites, newJUnitSuite(r))
			n++
		}
		c := newJUnitCase(r)
		suites.Suites[n-1].add(c)
		suites.count(c)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return fmt.Errorf("write JUnit XML: %w", err)
	}
	enc := xml.NewEncoder(w)
	enc.Indent("", "  ")
	if err := enc.Encode(suites); err != nil {
		return fmt.Errorf("write JUnit XML: %w", err)
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func writeJUnitFile(path string, runs []Run) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("write JUnit XML: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return WriteJUnit(f, runs)
}

func newJUnitSuite(first Run) junitSuite {
	r := first.Record
	return junitSuite{
		Name: r.Scenario,
		// Without a zone, as the schemas want it: UTC.
		Timestamp: r.Started.UTC().Format("2006-01-02T15:04:05"),
		Properties: []junitProperty{
			{"bug", BugLine(r.Bug)},
			{"guards", r.Guards},
			{"expect", r.Expect},
			{"alter", r.Table.Alter},
		},
	}
}

func (s *junitSuite) add(c junitCase) {
	s.Cases = append(s.Cases, c)
	if c.Skipped != nil {
		s.Skipped++
	}
	s.count(c)
}

func (n *junitCounts) count(c junitCase) {
	n.Tests++
	n.Time += c.Time
	if c.Failure != nil {
		n.Failures++
	}
	if c.Error != nil {
		n.Errors++
	}
}

func newJUnitCase(r Run) junitCase {
	c := junitCase{
		Name:      r.SubjectName(),
		Classname: "rowproof." + r.Record.Scenario,
		Time:      junitTime(r.Conclusion.Seconds),
		Out: junitText{Printable(fmt.Sprintf("verdict: %s\nseed: %d\nrepeat: %s\nrun: %s\n",
			r.VerdictText(), r.Record.Seed, r.Record.Repeat, r.Dir))},
	}
	if n := r.number(); n > 1 {
		c.Name += fmt.Sprintf(" #%d", n)
	}
	if r.notApplicable() {
		c.Skipped = &junitReason{Printable("not applicable: " + strings.Join(r.Conclusion.Judgement.Reasons(), "; "))}
	}
	if r.Conclusion.Expected {
		return c
	}
	d := &junitDetail{Message: Printable(r.Conclusion.Reason), Type: r.Anomaly(), junitText: junitText{Printable(evidence(r))}}
	if d.Type == "" {
		d.Type = string(r.Conclusion.Judgement.Verdict)
	}
	if r.Conclusion.Judgement.Verdict == check.Unknown {
		c.Error = d
	} else {
		c.Failure = d
	}
	return c
}

// evidence is all that was found wrong, or could not be told.
func evidence(r Run) string {
	var b strings.Builder
	for _, a := range r.Anomalies() {
		fmt.Fprintf(&b, "\n%s: %s\n", a.Kind, a.Text)
		if a.Explanation != "" {
			fmt.Fprintf(&b, "%s\n", a.Explanation)
		}
	}
	for _, reason := range r.Conclusion.Judgement.Reasons() {
		fmt.Fprintf(&b, "\nunknown: %s\n", reason)
	}
	return b.String()
}
