package script

import "rowproof/harness/check"

// kind is an anomaly and its name in Go.
type kind struct {
	check.Kind
	goName string
}

// kinds are the anomalies that guards can name.
func kinds() []kind {
	return []kind{
		{check.LostRow, "LostRow"},
		{check.ResurrectedRow, "ResurrectedRow"},
		{check.DuplicateRow, "DuplicateRow"},
		{check.StaleRow, "StaleRow"},
		{check.AlteredValue, "AlteredValue"},
		{check.MissingTable, "MissingTable"},
		{check.TornCutover, "TornCutover"},
		{check.OrphanTable, "OrphanTable"},
		{check.SchemaDifference, "SchemaDifference"},
		{check.ReplicaDifference, "ReplicaDifference"},
		{check.LostWrite, "LostWrite"},
		{check.RefusedWrite, "RefusedWrite"},
		{check.UnexpectedOutcome, "UnexpectedOutcome"},
	}
}

func kindTexts() []string {
	var texts []string
	for _, k := range kinds() {
		texts = append(texts, string(k.Kind))
	}
	return texts
}
