package ddl

// selectExpr is what the server has to write into the shadow's column to
// convert the value as its own ALTER does. For most types that is the column
// itself, which INSERT converts field to field. But a number on its way to
// anything that isn't one goes by its text in ALTER and by its value in
// INSERT: ZEROFILL's zeros, a FLOAT's six digits, the year 0000, an ENUM's
// member or a JSON document would come out differently.
func (p Pair) selectExpr() string {
	switch p.Original.kind() {
	case kindInt, kindDecimal, kindFloat, kindYear:
	default:
		return p.Original.Quoted()
	}
	switch p.Shadow.kind() {
	case kindInt, kindYear:
		if p.Original.kind() == kindDecimal && (p.Shadow.Unsigned() || p.Shadow.kind() == kindYear) {
			return "ROUND(" + p.Original.Quoted() + ")" // -0.3 is 0, not a negative number
		}
		return p.Original.Quoted()
	case kindDecimal, kindFloat, kindBit:
		return p.Original.Quoted()
	}
	return "CONCAT(" + p.Original.Quoted() + ")"
}

// refuse refuses a conversion that the server's ALTER makes in a way of its
// own, which no INSERT repeats: it reads garbage as 0, say, where an INSERT
// stops, or it writes bytes that the type doesn't allow.
func (p Pair) refuse() error {
	o, s := p.Original.kind(), p.Shadow.kind()
	why := ""
	switch {
	case o == s:
	case o == kindTime && (s == kindDate || s == kindDatetime || s == kindTimestamp):
		why = "the server adds the day on which a row is converted"
	case s == kindYear && (p.Original.isDate() || o == kindTime):
		why = "the server takes the whole date for the year"
	case o == kindFloat && s == kindYear:
		why = "the server rounds it in another way than anywhere else"
	case s == kindBit && o != kindInt && o != kindYear:
		why = "the server takes what isn't a number for one"
	case s == kindVector && o != kindBinary:
		why = "the server stores the value's bytes, whatever they are"
	case o == kindJSON && (s == kindDate || s == kindTime || s == kindDatetime || s == kindTimestamp):
		why = "the server reads the document's text as a time"
	}
	if why == "" {
		return nil
	}
	return &Refusal{What: "column " + p.Original.Quoted() + " from " + p.Original.ColumnType + " to " + p.Shadow.ColumnType, Why: why,
		Do: "add a new column, fill it with the expression that you mean, and drop the old one"}
}

// ForbidsNullTimes tells whether the ALTER makes a column a TIMESTAMP NOT NULL
// that could hold NULL.
func (p Pair) ForbidsNullTimes() bool {
	return p.Original.Nullable && !p.Shadow.Nullable && p.Shadow.kind() == kindTimestamp
}

// StartsNumbering tells whether the ALTER makes a plain column one that the
// server numbers. It then numbers rows that hold 0 there, unless sql_mode has
// NO_AUTO_VALUE_ON_ZERO.
func (p Pair) StartsNumbering() bool {
	return p.Shadow.AutoIncrement() && !p.Original.AutoIncrement()
}

// RefuseNumbering is the refusal for a table that has such a row.
func (p Pair) RefuseNumbering() error {
	return &Refusal{What: "AUTO_INCREMENT on column " + p.Original.Quoted(),
		Why: "a row holds 0 there, and the server would give it a number that can't be foreseen",
		Do:  "give that row a number first"}
}
