package config

import (
	"os"
	"slices"
	"time"

	"github.com/fairlead/fairlead/allocation"
	"github.com/fairlead/fairlead/internal/access"
	"github.com/fairlead/fairlead/policy"
	"github.com/fairlead/fairlead/sched"
	"github.com/fairlead/fairlead/share"
)

// init sets the tables, because the table of pools refers to itself.
var fileTable, serverTable, tlsTable, shortlistTable, userLimitsTable *table

// allTables returns the tables of the whole file, in the order of the reference.
func allTables() []*table {
	return []*table{
		fileTable, poolTable, ruleTable, rateTable, starterTable, newJobTable, rebalanceTable, decayTable, multifactorTable,
		factorWeightsTable, siteTable, reclaimTable, starvingTable, shortlistTable, userLimitsTable,
		accessTable, operatorTable, accessPoolTable, serverTable, tlsTable,
	}
}

func init() {
	tables = allTables
	shortlistTable = &table{name: "shortlist", doc: "How many jobs a step of the policy lottery draws.",
		fields: shortlistFields()}
	userLimitsTable = &table{name: "user_limits",
		doc: "The maximum that one user may have at a time. A submission that would exceed it is refused as a whole; " +
			"administrators are not limited. The limit `running` refuses nothing: further tasks wait, also those of " +
			"administrators.", fields: userLimitFields()}
	accessTable = &table{name: "access",
		doc: "The rights of users. Root, and the user under whom the server runs, may do everything. " +
			"[Who may do what](../how-to/who-may-do-what.md) says more.", fields: accessFields()}
	operatorTable = &table{name: "operator", doc: "One operator of `access`.", fields: operatorFields()}
	accessPoolTable = &table{name: "pool_access", doc: "The rights to one pool, in `pools` of `access`.",
		fields: accessPoolFields()}
	serverTable = &table{name: "server", doc: "Settings of the server. A change takes effect at its next start.",
		fields: serverFields()}
	tlsTable = &table{name: "server_tls",
		doc: "The field `tls` of the server: how it serves nodes on other machines.", fields: tlsFields()}
	rebalanceTable = &table{name: "rebalance",
		doc: "When the policy `load` stops the newest tasks of pools above their load. Default: never.", fields: rebalanceFields()}
	decayTable = &table{name: "decay", doc: "How the policy `decay` counts past use.", fields: decayFields()}
	reclaimTable = &table{name: "reclaim", doc: "When running tasks are stopped for pools below their entitlement, and which tasks. The values for pools apply to all pools that set no others.", fields: reclaimFields()}
	starvingTable = &table{name: "pool_reclaim", doc: "The field `reclaim` of a pool.",
		fields: starvingFields(func(x *share.Reclaim) *share.Reclaim { return x })}
	rateTable = &table{name: "rate", doc: "One rate of `rates` with more fields than the rate alone: `linkedin: {rate: 5/s, burst: 10}`.", fields: rateFields()}
	ruleTable = &table{name: "rule", doc: "One rule of `placement`. A job goes to its pool if all its expressions match;" +
		" a rule without expressions takes every job.", fields: ruleFields()}
	poolTable = &table{name: "pool", doc: "One pool of `pools`. A field that is left out is inherited or not limited.",
		fields: poolFields()}
	fileTable = &table{doc: "The top level of the file. All fields are optional.", fields: fileFields()}
}

func fileFields() []field {
	return slices.Concat([]field{
		// The unit comes first, because limits of pools depend on it.
		then(of("unit", "cpu", "The resource in which shares are counted. Each task takes at least one unit, even if it does not ask for it. If a file changes the unit, the whole file takes effect at the next start of the server.",
			line("name of a resource", share.MaxSegment,
				checkResource), func(c *Config) *string { return &c.Shares.Sched.Unit }),
			func(r *reader, to any) { r.unit = to.(*Config).Shares.Sched.Unit }),
	}, chargeFields(), []field{
		of("policy", "fair",
			"How the root divides the cluster among its pools. Pools below it that set no policy use the same policy.",
			policyName(), func(c *Config) *string { return &c.Shares.Sched.Root.Policy }),
	}, optionFields(func(c *Config) *share.Options { return &c.Shares.Sched.Root.Options }), []field{
		reclaimField(),
		of("half_life", "7d", "The time after which past use counts half. 0 or none: it counts forever.",
			span(time.Second, "none"), func(c *Config) *time.Duration { return &c.Shares.Sched.HalfLife }),
		unless("none", of("new_job_boost", "", "A higher weight for new jobs within their pool.",
			left(sub[sched.NewJobs](&newJobTable)), func(c *Config) *sched.NewJobs { return &c.Shares.Sched.NewJobs })),
		starter(func(c *Config) *share.Starter { return &c.Shares.Sched.Root.Starter }),
		of("backfill", "easy", "What happens when the job that goes first does not fit. easy keeps room for it and starts jobs that do not delay it. conservative starts jobs that delay no other job. fcfs starts no other job. first-fit starts the next job that fits, so wide jobs may wait forever.",
			backfills, func(c *Config) *sched.Backfill { return &c.Shares.Sched.Backfill }),
		of("backfill_depth", "1000", "For easy, the number of jobs to examine behind the first that does not fit; for conservative, the number of jobs to keep room for. 0 is no limit.",
			whole(0, maxTasks), func(c *Config) *int { return &c.Shares.Sched.Depth }),
		unless("no limit", of("backfill_window", "",
			"How far ahead easy and conservative keep room. They keep no room for a job that would start later, so other jobs may delay it.",
			span(time.Second, "none"), func(c *Config) *time.Duration { return &c.Shares.Sched.Window })),
		unless("from the running tasks", of("backfill_patience", "",
			"How long easy (and conservative, unless jobs go in order of arrival) starts other jobs by predicted run times while room is kept for a job. After that, nodes are held for the job, and nothing starts there that needs its room. Default: until the first planned start of the job, plus a margin. The margin is the longest time for which a task without a limit had run, or was expected to run, when the start was planned.",
			left(span(time.Second, "none")), func(c *Config) *time.Duration { return &c.Shares.Sched.Patience })),
		unless("none", of("time", "", "The time limit of jobs that name none. Default: max_time, or no limit.",
			standardTime(), func(c *Config) *time.Duration { return &c.Shares.Sched.Root.Time })),
		unless("no limit", of("max_time", "", "The largest time limit that a job may have. A job that asks for more, or for no limit (-t unlimited), is refused.",
			largestTime(), func(c *Config) *time.Duration { return &c.Shares.Sched.Root.MaxTime })),
		of("task_time", "1m", "The assumed run time of tasks in a pool in which no task has ended yet.",
			seconds(span(time.Millisecond, "")), func(c *Config) *float64 { return &c.Shares.Sched.TaskSeconds }),
		of("shortlist", "{}", "How many jobs a step of the policy lottery draws.",
			sub[Shortlist](&shortlistTable), func(c *Config) *Shortlist { return &c.Shortlist }),
		multifactorField(),
		of("priorities", "{very_high: 4, high: 2, normal: 1, low: 0.5, very_low: 0.25}",
			"The priorities that jobs may have, with their weights. The larger the weight, the higher the priority.",
			priorities, func(c *Config) *[]sched.Priority { return &c.Shares.Sched.Priorities }),
		of("priorities_as", "order", "The meaning of priorities in a pool: order (the higher priority goes first) or weights (waiting priority classes divide the pool by them). Under fifo they are an order, and under multifactor qualities of service.",
			prioritiesAs, func(c *Config) *bool { return &c.Shares.Sched.PriorityWeights }),
		of("pools", "", "The tree of pools.", pools, func(c *Config) *[]share.Pool { return &c.Shares.Sched.Root.Pools }),
		unless("true without pools, else false",
			of("pools_on_demand", "", "Jobs may name pools that the tree does not have. Such pools have the weight 1. If this is false and there are no placement rules, jobs of users without a pool in the tree go to the pool default, or are refused if there is none.",
				not(boolean), func(c *Config) *bool { return &c.Shares.Closed })),
		unless("the pool of the user's name", of("placement", "",
			"The pools of jobs that name none: the first rule that matches decides. If no rule matches, the job goes to the pool default or, under the root policy load, to the pool with the smallest load.",
			rules, func(c *Config) *[]share.Rule { return &c.Rules })),
		of("licenses", "", "Licenses that jobs may ask for, with their numbers. A task holds its licenses while it runs.",
			licenses, func(c *Config) *map[string]int64 { return &c.Licenses }),
		of("rates", "", "Limits of starts per time, such as 5/s, or with more fields as below. All jobs that name a rate share its limit.",
			ratesKind(), func(c *Config) *map[string]Rate { return &c.Rates }),
		of("user_limits", "{}", "The maximum that one user may have at a time.",
			unlessIs(standardUserLimits, sub[allocation.UserLimits](&userLimitsTable)), func(c *Config) *allocation.UserLimits { return &c.Shares.Users }),
		unless("one's own pool", of("access", "", "The rights of users.",
			noAccess(sub[access.Rules](&accessTable)), func(c *Config) *access.Rules { return &c.Shares.Access })),
		of("server", "{}", "Settings of the server.", sub[Server](&serverTable), func(c *Config) *Server { return &c.Server }),
	})
}

func poolFields() []field {
	return slices.Concat([]field{
		of("weight", "1", "Its share of the pool above, in proportion to the weights of its siblings.",
			weight(share.CheckWeightOrNone), func(p *share.Pool) *float64 { return &p.Weight }),
		of("share", "", "The share as a percentage. All its siblings must have one, too.",
			percent, func(p *share.Pool) *float64 { return &p.Weight }),
		of("load", "", "The share under the policy load; a pool with 0% gets what no other pool can use. All its siblings must have one, too.",
			load, func(p *share.Pool) *float64 { return &p.Weight }),
		unless("nothing", of("min", "", "The resources that it is guaranteed while it has work.",
			amounts, func(p *share.Pool) *map[string]int64 { return &p.Min })),
		unless("no limit", of("max", "", "The resources that it never exceeds. A job that asks for more at once is refused.",
			amounts, func(p *share.Pool) *map[string]int64 { return &p.Max })),
		unless("no limit", of("max_running", "", "The maximum number of its tasks that run at once.",
			left(whole(0, maxTasks)), func(p *share.Pool) *int { return &p.MaxRunning })),
		unless("no limit", of("max_job_running", "", "The maximum number of tasks of one job that run at once.",
			left(whole(1, maxTasks)), func(p *share.Pool) *int { return &p.JobRunning })),
		unless("that of the pool above", of("time", "",
			"The time limit of its jobs that name none, at most max_time. none: no time limit, even if the pool above has one.",
			standardTime(), func(p *share.Pool) *time.Duration { return &p.Time })),
		unless("that of the pool above", of("max_time", "",
			"The largest time limit that its jobs may have. The smallest max_time on the path from the root applies.",
			largestTime(), func(p *share.Pool) *time.Duration { return &p.MaxTime })),
		unless("that of the pool above", of("policy", "", "How it divides its resources among its pools.", left(policyName()),
			func(p *share.Pool) *string { return &p.Policy })),
	}, optionFields(func(p *share.Pool) *share.Options { return &p.Options }), []field{
		unless("that of the pool above, or 0",
			of("factor", "", "Its factor pool under the policy multifactor, from 0 to 1.",
				maybe, func(p *share.Pool) **float64 { return &p.Factor })),
		unless("that of the pool above, or 0",
			of("assoc_factor", "", "Its factor assoc under the policy multifactor, from 0 to 1.",
				maybe, func(p *share.Pool) **float64 { return &p.AssocFactor })),
		starter(func(p *share.Pool) *share.Starter { return &p.Starter }),
		unless("that of the pool above", of("reclaim", "", "When running tasks of other pools are stopped for it.",
			left(sub[share.Reclaim](&starvingTable)), func(p *share.Pool) *share.Reclaim { return &p.Reclaim })),
		of("pools", "", "The pools below it.", pools, func(p *share.Pool) *[]share.Pool { return &p.Pools }),
	})
}

func ruleFields() []field {
	pool := of("pool", "", "The path of the pool; a field in braces is replaced by its value, with = and a number for each byte that a name may not hold.", template, func(r *share.Rule) *string { return &r.Pool })
	pool.must = true
	return []field{
		expression("user", "Matches who submitted the job."),
		expression("group", "Matches the user's primary group."),
		expression("kind", "Matches the kind of the job."),
		expression("requestor", "Matches the requestor, which is the user unless the job says otherwise."),
		pool,
	}
}

func shortlistFields() []field {
	return []field{
		of("pools", "5", "The number of pools that are drawn.", whole(1, 1000), func(s *Shortlist) *int { return &s.Pools }),
		of("jobs", "10", "The number of jobs that are taken from each pool.", whole(1, 1000), func(s *Shortlist) *int { return &s.Jobs }),
	}
}

// standardUserLimits holds the defaults, which the canonical form omits.
var standardUserLimits = allocation.UserLimits{Jobs: 100_000, Tasks: 10_000_000, Pools: 1000}

func userLimitFields() []field {
	return []field{
		of("jobs", "100000", "Jobs with tasks that have not started, including held jobs and jobs that wait for other jobs. 0: no limit.",
			whole(0, maxUserLimit), func(l *allocation.UserLimits) *int { return &l.Jobs }),
		of("tasks", "10000000", "Tasks of these jobs that have not started. 0: no limit.",
			whole(0, maxUserLimit), func(l *allocation.UserLimits) *int { return &l.Tasks }),
		of("pools", "1000", "Pools that the user's jobs have made and that the configuration does not name. The server keeps such pools forever, with their usage. 0: no limit.",
			whole(0, maxUserLimit), func(l *allocation.UserLimits) *int { return &l.Pools }),
		of("running", "0", "Tasks that run at once, in all pools together. Further tasks wait. 0: no limit.",
			whole(0, maxUserLimit), func(l *allocation.UserLimits) *int { return &l.Running }),
	}
}

// maxUserLimit is more than anybody can have.
const maxUserLimit = 1_000_000_000

func serverFields() []field {
	return []field{
		of("listen", "[]", "Addresses for browsers and Prometheus, such as 127.0.0.1:7447. Only loopback addresses are allowed. Commands and agents need none: they use the socket.",
			listen, func(s *Server) *[]string { return &s.Listen }),
		of("anonymous", "nothing", "What clients without a session see on an address of `listen`: nothing, metrics (for Prometheus), or view (the metrics, and everything that each user of the machine may see).",
			anonymous, func(s *Server) *string { return &s.Anonymous }),
		of("origins", "[]", "The addresses of the dashboard for browsers, if it is behind an http proxy: http://cluster.example. See the page on the dashboard.",
			origins, func(s *Server) *[]string { return &s.Origins }),
		of("socket", `""`, "The socket for commands, agents and bridges. If empty: /run/fairlead/fairlead.sock for root, and a socket in XDG_RUNTIME_DIR for other users.",
			line("path", maxSocket, anyText), func(s *Server) *string { return &s.Socket }),
		of("socket_mode", `"0666"`, "The mode of the socket: by default every user of the machine may connect. The server identifies each user by the connection.",
			octal, func(s *Server) *os.FileMode { return &s.SocketMode }),
		of("socket_group", `""`, "Group of the socket. With the mode \"0660\" only the server's user, this group and root can connect.",
			line("group", 64, anyText), func(s *Server) *string { return &s.SocketGroup }),
		of("database", "fairlead.db", "The store of the jobs: a file, or the URL of a database. A password in the URL stays in the file: wherever the configuration is shown or stored, `********` replaces it.",
			secret(line("path or URL", 4096, someText)), func(s *Server) *string { return &s.Database }),
		of("lease", "1m", "The duration of a task's lease. A holder that is silent for longer counts as lost.",
			span(3*time.Second, ""), func(s *Server) *time.Duration { return &s.LeaseTTL }),
		of("retention", "30d", "How long finished jobs are kept. 0: forever.",
			span(time.Second, "0"), func(s *Server) *time.Duration { return &s.Retention }),
		of("log_level", "info", "The lowest level that the server logs.", logLevel, levelOf),
		of("log_format", "text", "The format of the log.", logFormat, func(s *Server) *string { return &s.LogFormat }),
		of("tls", "{}", "Settings for nodes on other machines.", sub[TLS](&tlsTable),
			func(s *Server) *TLS { return &s.TLS }),
	}
}

func policyName() kind[string] {
	names := policy.Names()
	return choice("policy", names, names)
}
