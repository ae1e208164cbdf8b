package catalogue

import (
	"fmt"
	"slices"
	"strings"

	"rowproof/harness/check"
)

// trackers are the addresses of public reports, by their short names without
// the number.
var trackers = map[string]string{
	"DM":                 "https://github.com/pingcap/tiflow/issues/%s",
	"LHM":                "https://github.com/soundcloud/lhm/issues/%s",
	"Launchpad":          "https://bugs.launchpad.net/percona-toolkit/+bug/%s",
	"OnlineSchemaChange": "https://github.com/facebookincubator/OnlineSchemaChange/commit/%s",
	"Shopify LHM":        "https://github.com/Shopify/lhm/issues/%s",
	"PT":                 "https://perconadev.atlassian.net/browse/PT-%s",
	"Vitess":             "https://github.com/vitessio/vitess/issues/%s",
	"gh-ost":             "https://github.com/github/gh-ost/issues/%s",
	"ghostferry":         "https://github.com/Shopify/ghostferry/issues/%s",
	"go-mysql":           "https://github.com/go-mysql-org/go-mysql/issues/%s",
	"spirit":             "https://github.com/block/spirit/issues/%s",
}

// ofTool are the trackers that hold reports on a tool which is a subject here.
var ofTool = map[string][]string{
	"gh-ost": {"gh-ost"},
	"pt-osc": {"PT", "Launchpad"},
	"spirit": {"spirit"},
}

// split splits a short name into tracker and number: "gh-ost 1030", "PT-1747".
func split(report string) (tracker, number string) {
	if number, ok := strings.CutPrefix(report, "PT-"); ok {
		return "PT", number
	}
	if i := strings.LastIndex(report, " "); i >= 0 {
		return report[:i], report[i+1:]
	}
	return report, ""
}

// link is a public report in Markdown. One of a tracker that is not known
// stays plain text, and an address is a link to itself.
func link(report string) string {
	if strings.Contains(report, "://") {
		return "<" + report + ">"
	}
	tracker, number := split(report)
	if address, ok := trackers[tracker]; ok {
		return fmt.Sprintf("[%s](%s)", report, fmt.Sprintf(address, number))
	}
	return report
}

// links are public reports in Markdown, or that there is none.
func links(reports []string) string {
	if len(reports) == 0 {
		return check.NoReport
	}
	var all []string
	for _, r := range reports {
		all = append(all, link(r))
	}
	return strings.Join(all, ", ")
}

// reportsOn are the public reports of a finding: its own, or else those on the
// tool that its scenario was made from, if the tool shows what they tell.
func reportsOn(f check.Finding, s Scenario) []string {
	if f.Report != "" && f.Report != check.NoReport {
		return []string{f.Report}
	}
	if f.Anomaly != s.Guards {
		return nil
	}
	tool, _, _ := strings.Cut(f.Subject, " ")
	return slices.DeleteFunc(slices.Clone(s.Reports), func(report string) bool {
		tracker, _ := split(report)
		return !slices.Contains(ofTool[tool], tracker)
	})
}
