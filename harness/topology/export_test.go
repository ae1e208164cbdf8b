package topology

import "io"

// ToolEnd is the mark behind a tool's output.
var ToolEnd = string(toolEnd)

// NewToolLog returns what takes the marks out.
func NewToolLog(to io.Writer, ended func()) io.Writer { return &toolLog{to: to, ended: ended} }
