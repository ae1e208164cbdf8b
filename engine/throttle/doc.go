// Package throttle holds the copy back while the servers, a file or the
// operator ask for it.
//
// One goroutine looks at everything now and then (Throttle.Run); whoever
// copies asks before each chunk (Throttle.Wait, or Pacer.Wait with its rests)
// and so never costs a query of its own. What is applied from the binlog does
// not wait: a backlog would only grow. Read Throttle, then Limits for what is
// looked at, then Servers for how it is measured.
package throttle
