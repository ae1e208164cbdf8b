package main

import (
	"fmt"
	"os"
	"slices"

	"github.com/spf13/pflag"
	"golang.org/x/term"

	"rowproof/engine"
	"rowproof/engine/mysql"
)

// complete fills in what the command line leaves open: from the defaults
// file first, then from the environment.
func (o *options) complete(flags *pflag.FlagSet) error {
	o.cfg.Server.Password = os.Getenv("MYSQL_PWD")
	given := map[string]bool{}
	flags.Visit(func(f *pflag.Flag) { given[f.Name] = true })
	if o.defaultsFile != "" {
		if err := o.readDefaults(flags, given); err != nil {
			return &engine.UsageError{Problem: err.Error()}
		}
	}
	if o.askPass {
		fmt.Fprint(o.stderr, "Password: ")
		password, err := term.ReadPassword(int(os.Stdin.Fd()))
		fmt.Fprintln(o.stderr)
		if err != nil {
			return &engine.UsageError{Problem: "--ask-pass: standard input is no terminal"}
		}
		o.cfg.Server.Password = string(password)
	}
	return nil
}

// ofClient are the options of the group [client] that mean something here;
// it belongs to all clients and may hold any others.
func ofClient() []string {
	return []string{"host", "port", "user", "password", "socket", "ssl-mode", "ssl-ca", "ssl-cert", "ssl-key"}
}

// ofCommandLine are the flags that a file must not set: the first would ask
// for another file, the second is a decision.
func ofCommandLine() []string { return []string{"defaults-file", "execute", "help"} }

// readDefaults sets the flags that the command line has not given from the
// groups [client] and [osc]. Of several settings the last one holds.
func (o *options) readDefaults(flags *pflag.FlagSet, given map[string]bool) error {
	list, err := mysql.ReadOptionFile(o.defaultsFile, "client", "osc")
	if err != nil {
		return err
	}
	host := false
	for _, option := range list {
		if option.Group == "client" && !slices.Contains(ofClient(), option.Name) {
			continue
		}
		if option.Name == "password" {
			o.password(option, given)
			continue
		}
		flag := flags.Lookup(option.Name)
		if flag == nil || slices.Contains(ofCommandLine(), option.Name) {
			return fmt.Errorf("%s: %s is no option that a file can set; see osc --help", option.Where, option.Name)
		}
		if given[option.Name] {
			continue
		}
		value := option.Value
		if !option.Set {
			value = flag.NoOptDefVal
		}
		if err := flag.Value.Set(value); err != nil {
			return fmt.Errorf("%s: %s=%s: %w", option.Where, option.Name, value, err)
		}
		host = host || option.Name == "host" && value != "localhost"
	}
	// As for mysql, the file's socket is for a server on this machine alone.
	if !given["socket"] && (host || given["host"] || given["port"]) {
		o.cfg.Server.Socket = ""
	}
	return nil
}

// password takes the file's password; one without a value is asked for.
func (o *options) password(option mysql.Option, given map[string]bool) {
	if given["ask-pass"] {
		return
	}
	o.askPass = !option.Set
	o.cfg.Server.Password = option.Value
}
