// Command osc stands in for the engine: it says how it was called and how
// careful it is.
package main

import (
	"fmt"
	"os"

	"rowproof/engine"
)

func main() {
	fmt.Println("args", os.Args[1:])
	fmt.Println("password", len(os.Getenv("MYSQL_PWD")), "characters")
	fmt.Println("careful", engine.Careful())
}
