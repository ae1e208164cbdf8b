//go:build !linux

package topology

import (
	"context"
	"errors"
)

// Traceable says why this process can't freeze a thread of the server.
func (*Server) Traceable(context.Context) error {
	return errors.New("the server's processes can't be seen from here: this is not Linux")
}
