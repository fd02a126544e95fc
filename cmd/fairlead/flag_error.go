package main

import (
	"errors"
	"regexp"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/fairlead/fairlead/internal/submit"
)

// parsing matches the part of an error that names the function of Go that refused a number.
var parsing = regexp.MustCompile(`strconv\.\w+: parsing ".*": `)

// goText matches the errors of Go and of pflag that do not say which values a flag takes.
var goText = regexp.MustCompile(`^(strconv|time): |invalid syntax|must be formatted as|invalid duration`)

// expectations says, by the type of a flag, which values the flag takes.
var expectations = map[string]string{
	"int": "a whole number", "uint64": "a whole number of at least 0", "intSlice": "a list of whole numbers, such as 1,2,4",
	"float64": "a number", "float64Slice": "a list of numbers, such as 1,2.5", "bool": "true or false",
	"duration":   "a duration such as 90s, 30m or 1h30m",
	"NAME=VALUE": "NAME=VALUE", "NAME=NUMBER": "NAME=NUMBER",
}

// typeNames has the names in help texts for types that pflag calls by their names in Go.
var typeNames = map[string]string{
	"stringToString": "NAME=VALUE", "stringToInt": "NAME=NUMBER", "func": "string",
}

// namedType is a flag value with another name for its type.
type namedType struct {
	pflag.Value
	name string
}

// Type implements pflag.Value.
func (n namedType) Type() string { return n.name }

// nameFlagTypes makes the flags of a command and its subcommands show types in words. It omits empty defaults.
func nameFlagTypes(c *cobra.Command) {
	submit.Decimal(c.Flags())
	c.Flags().VisitAll(func(f *pflag.Flag) {
		name, unclear := typeNames[f.Value.Type()]
		if !unclear {
			return
		}
		f.Value = namedType{f.Value, name}
		if f.DefValue == "[]" {
			f.DefValue = "" // pflag omits [] only if it knows the type
		}
	})
	for _, sub := range c.Commands() {
		nameFlagTypes(sub)
	}
}

// flagError says which flag has a wrong value, and which values it takes.
func flagError(err error) error {
	var bad *pflag.InvalidValueError
	if errors.As(err, &bad) {
		if want, known := expectations[bad.GetFlag().Value.Type()]; known && goText.MatchString(bad.Unwrap().Error()) {
			return usagef("--%s: %.80q is not %s", bad.GetFlag().Name, bad.GetValue(), want)
		}
	}
	return usageError{errors.New(parsing.ReplaceAllString(err.Error(), ""))}
}
