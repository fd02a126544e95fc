// Package foreign reads what other systems keep about shares, and writes it as a
// configuration: the allocation file of Hadoop's fair scheduler, of both generations,
// and the accounts that sacctmgr dump of Slurm prints. Each setting of the source is
// accounted for with its line: taken over, taken over with a difference, not needed
// here, or left out with the reason and what to do instead.
//
// Whether the result can be used is checked by package config, which this one does not
// know; what this version of fairlead offers is told by [Features].
package foreign
