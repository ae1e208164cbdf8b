package ddl

import "vitess.io/vitess/go/vt/sqlparser"

// refuseOption refuses the clauses that a copy of the rows can't stand for.
func refuseOption(option sqlparser.AlterOption) error {
	switch o := option.(type) {
	case *sqlparser.RenameTableName:
		return &Refusal{What: "RENAME TO " + o.Table.Name.String(), Why: "the shadow takes the original's name",
			Do: "run RENAME TABLE on its own, it doesn't touch a row"}
	case *sqlparser.OrderByOption:
		return &Refusal{What: "ORDER BY", Why: "InnoDB keeps rows in the order of the primary key",
			Do: "leave the clause out"}
	case *sqlparser.TablespaceOperation:
		what := "DISCARD TABLESPACE"
		if o.Import {
			what = "IMPORT TABLESPACE"
		}
		return &Refusal{What: what, Why: "it replaces the table's rows behind its back", Do: "run it by hand"}
	case *sqlparser.AddConstraintDefinition:
		if _, ok := o.ConstraintDefinition.Details.(*sqlparser.ForeignKeyDefinition); ok {
			return refuseForeignKey("ADD FOREIGN KEY")
		}
	case *sqlparser.DropKey:
		if o.Type == sqlparser.ForeignKeyType {
			return &Refusal{What: "DROP FOREIGN KEY " + o.Name.String(), Why: "the shadow has no foreign keys",
				Do: "run it on its own, it doesn't touch a row"}
		}
	case *sqlparser.AddColumns:
		for _, c := range o.Columns {
			if err := refuseReference(c); err != nil {
				return err
			}
		}
	case *sqlparser.ChangeColumn:
		return refuseReference(o.NewColDefinition)
	case *sqlparser.ModifyColumn:
		return refuseReference(o.NewColDefinition)
	}
	return nil
}

func refuseReference(c *sqlparser.ColumnDefinition) error {
	if c.Type.Options != nil && c.Type.Options.Reference != nil {
		return refuseForeignKey("REFERENCES on column " + QuoteIdent(c.Name.String()))
	}
	return nil
}

func refuseForeignKey(what string) error {
	return &Refusal{What: what, Why: "rows of a table with foreign keys can't be copied and swapped safely",
		Do: "add the foreign key by hand after the migration"}
}

// refusePartition refuses the partition operations that throw rows away or
// have nothing to do on a copy.
func refusePartition(spec *sqlparser.PartitionSpec) error {
	if spec == nil {
		return nil
	}
	switch spec.Action {
	case sqlparser.DropAction, sqlparser.TruncateAction:
		return &Refusal{What: partitionClause(spec), Why: "its rows would be copied to other partitions or lost",
			Do: "run it by hand, it doesn't copy a row"}
	case sqlparser.ExchangeAction, sqlparser.DiscardAction, sqlparser.ImportAction:
		return &Refusal{What: partitionClause(spec), Why: "it replaces rows behind the table's back", Do: "run it by hand"}
	case sqlparser.AnalyzeAction, sqlparser.CheckAction, sqlparser.OptimizeAction, sqlparser.RebuildAction,
		sqlparser.RepairAction, sqlparser.UpgradeAction:
		return &Refusal{What: partitionClause(spec), Why: "it doesn't change the table's definition",
			Do: "run it by hand, or say FORCE to rebuild the whole table"}
	}
	return nil
}

func partitionClause(spec *sqlparser.PartitionSpec) string {
	return sqlparser.String(spec)
}
