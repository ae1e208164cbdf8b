package scenarios_test

import (
	"strconv"
	"testing"

	"rowproof/fixtures"
	"rowproof/harness"
	"rowproof/harness/check"
	"rowproof/harness/fault"
	"rowproof/harness/history"
	"rowproof/harness/step"
	"rowproof/harness/workload"
)

// widenBalance is an ALTER that no server can do in place.
const widenBalance = "MODIFY balance DECIMAL(20,0) NOT NULL"

func TestCopyInflightChunk(t *testing.T) {
	table := fixtures.Accounts(30)
	suite.Run(t, harness.Scenario{
		ID: "copy-inflight-chunk",
		Bug: "A row that was deleted during the migration is back, and one that was updated has its old " +
			"value. The tool leaves out changes of rows that it will still copy. The chunk with these rows " +
			"was under way, written but not yet counted as done, so their changes were left out too.",
		Reports: []string{"spirit 961", "spirit 808"},
		Table:   table,
		Alter:   widenBalance,
		Room:    above,
		Chunk:   10,
		Threads: 1,

		Faults: fault.Plan{
			fault.AfterNth(2, step.CopyWrite, fault.WriteAndPass(
				owned("1", "marker"),
				workload.Delete(table, "14"),
				owned("15", "changed"))),
		},

		Expect:  harness.Completed,
		Guards:  check.ResurrectedRow,
		Control: "changes-ahead-of-finished-chunks-dropped",
	})
}

func TestCopyWatermarkComposite(t *testing.T) {
	table := fixtures.Tenants()
	suite.Run(t, harness.Scenario{
		ID: "copy-watermark-composite",
		Bug: "All rows belong to one big tenant, and those that changed or went during the migration are as " +
			"they were before. The tool leaves out changes of rows that it will still copy; to see which " +
			"these are it compares the first column of the key alone, which is the same in every row.",
		Reports: []string{"spirit 918"},
		Table:   table,
		Alter:   widen,
		Room:    workload.Room{Alone: "its key has two columns, and random writers write tables with one"},
		Chunk:   10,
		Threads: 1,

		Faults: fault.Plan{
			fault.First(fault.Write(bigTenant(table, 29)...)),
			fault.BeforeNth(3, step.CopyWrite, fault.WriteAndPass(
				workload.Update(table, "1,1", history.Row{"val": history.Text("-1")}),
				workload.Update(table, "2,1", history.Row{"val": history.Text("99")}),
				workload.Delete(table, "2,2"))),
		},

		Expect:  harness.Completed,
		Guards:  check.ResurrectedRow,
		Control: "watermark-of-the-first-column",
	})
}

// bigTenant are the row of one tenant, and n rows of another.
func bigTenant(table fixtures.Table, n int) []workload.Write {
	writes := []workload.Write{workload.Insert(table, tenantRow(1, 1))}
	for id := range n {
		writes = append(writes, workload.Insert(table, tenantRow(2, id+1)))
	}
	return writes
}

func tenantRow(tenant, id int) history.Row {
	return history.Row{
		"tenant": history.Text(strconv.Itoa(tenant)), "id": history.Text(strconv.Itoa(id)), "val": history.Text("10"),
	}
}
