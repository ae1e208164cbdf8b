package check

import (
	"fmt"
	"time"

	"rowproof/harness/history"
)

func ms(d time.Duration) string { return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond)) }

func Explain(r *history.Record, a Anomaly) string { return "" }
