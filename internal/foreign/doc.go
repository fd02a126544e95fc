// Package foreign converts the shares of other systems to a configuration: the allocation file of Hadoop's
// fair scheduler, of both generations, and the accounts that sacctmgr dump of Slurm prints. It reports each
// setting of the source with its line: taken over, taken over with a difference, not needed here, or left
// out, with the reason and the alternative.
//
// Package config, which this package does not import, checks whether the result is valid; [Features] says
// what this version of Fairlead offers.
package foreign
