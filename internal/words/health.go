package words

import "github.com/fairlead/fairlead/internal/api"

// Trouble writes a finding on one line: the problem, and the next step.
func Trouble(c api.HealthCheck) string {
	text := c.Name + ": " + c.Text
	if c.Next != "" {
		text += "  ->  " + c.Next
	}
	return text
}
