package throttle

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// flagFile finds a file that asks to wait. One that can't be looked at may
// be there.
func flagFile(paths []string) Reason {
	for _, path := range paths {
		_, err := os.Stat(path)
		switch {
		case err == nil:
			return Reason{"flag file", "the file " + path + " exists"}
		case !errors.Is(err, fs.ErrNotExist):
			return Reason{"flag file", fmt.Sprintf("the flag file can't be looked at: %v", err)}
		}
	}
	return Reason{}
}
