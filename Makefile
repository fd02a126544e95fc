# fairlead: what there is to do. `make` lists it.

GO ?= go

.DEFAULT_GOAL := help

.PHONY: help
help: ## list what there is
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1\t\2/' | expand -t 22

.PHONY: build
build: ## build ./fairlead
	$(GO) build -o fairlead ./cmd/fairlead

.PHONY: test
test: ## set up and run all tests: what is missing is installed if it may be, else named
	@./scripts/test

.PHONY: quick
quick: ## run the quick suite only (go test ./...)
	$(GO) test ./...

.PHONY: check
check: ## formatting, vet, staticcheck and the house rules
	@test -z "$$(gofmt -l . | tee /dev/stderr)" || { echo "gofmt -w the files above"; exit 1; }
	$(GO) vet -tags=chaos,real ./...
	$(GO) tool staticcheck -tags=chaos,real ./...
	cd bench && $(GO) vet ./...
	$(GO) test ./internal/tidy

.PHONY: starvation
starvation: ## let CASES=20000 adversaries try to starve a job; then let them try with each of sixteen planted mistakes
	$(GO) test -count=1 -v -timeout=20m -run=TestStarvation ./sched -cases=$(or $(CASES),20000) -mistakes

.PHONY: chaos
chaos: ## kill the server and agents at random instants; KILLS=200 by default; check histories of leases
	$(GO) test -count=1 -v -timeout=60m -tags=chaos -run=TestChaos -skip='TestChaosPostgres|TestChaosBridge' ./cmd/fairlead -kills=$(or $(KILLS),200)
	$(GO) test -count=1 -v -timeout=60m -tags=chaos -run=TestChaosHistory ./store/sqlite -histories=6

.PHONY: chaos-bridge
chaos-bridge: ## kill bridges to Slurm, beanstalkd, RabbitMQ and our own queue at random instants, each KILLS=100 times by default, and these queues and the server a quarter as often; check what the jobs wrote down
	$(GO) test -count=1 -v -timeout=60m -tags=chaos -run=TestChaosBridge ./cmd/fairlead -bridge-kills=$(or $(KILLS),100)

.PHONY: chaos-postgres
chaos-postgres: ## hurt four servers, their agents and the PostgreSQL that they share at random instants, KILLS=300 times by default; check histories of leases
	$(GO) test -count=1 -v -timeout=60m -tags=chaos -run=TestChaosHistory ./store/postgres -histories=6
	$(GO) test -count=1 -v -timeout=60m -tags=chaos -run='TestChaosPostgres|TestChaosChecker' ./cmd/fairlead -kills=$(or $(KILLS),300)

.PHONY: chaos-histories
chaos-histories: ## record HISTORIES=100 histories of leases on PostgreSQL and as many on SQLite, of LENGTH=10s each, and check that they are linearizable: a line for each, and a sum
	$(GO) test -count=1 -v -timeout=0 -tags=chaos -run=TestChaosHistory ./store/postgres -histories=$(or $(HISTORIES),100) -history=$(or $(LENGTH),10s)
	$(GO) test -count=1 -v -timeout=0 -tags=chaos -run=TestChaosHistory ./store/sqlite -histories=$(or $(HISTORIES),100) -history=$(or $(LENGTH),10s)

.PHONY: soak-postgres
soak-postgres: ## let servers join and leave one PostgreSQL under load for DURATION (default 10m), and explain how long jobs waited
	$(GO) test -count=1 -v -timeout=0 -tags=chaos -run=TestSoakPostgres ./cmd/fairlead -soak=$(or $(DURATION),10m)

.PHONY: real
real: ## let three users of this machine do real work and compare what they get with their weights; run 5,000 jobs through a tree of mixed policies under changes; replay what ran on eight made-up machines; compare with its Slurm, if there is one; flood a service with three tenants on PostgreSQL; click through the dashboard in Chromium
	$(GO) test -count=1 -v -timeout=20m -tags=real -run=TestReal ./cmd/fairlead
	$(GO) test -count=1 -v -timeout=20m -tags=real -run=TestReal ./examples/imageservice
	$(GO) test -count=1 -v -timeout=10m -tags=real -run=TestReal ./internal/web

.PHONY: bench
bench: ## measure this machine
	$(GO) run ./cmd/fairlead bench

.PHONY: bench-peers
bench-peers: ## measure it on PostgreSQL beside River and a bare loop of statements (about half an hour)
	cd bench && $(GO) run .

.PHONY: docs
docs: ## write the parts of docs/ that follow from the code
	$(GO) test ./cmd/fairlead -run 'TestReference|TestDocs' -update

.PHONY: docs-policies
docs-policies: ## replay two traces and write the tables and pictures of docs/explanation/comparing-policies.md anew; FAIRLEAD_TRACES is the folder that has kth-sp2.swf.gz and sdsc-sp2.swf.gz
	FAIRLEAD_TRACES=$(FAIRLEAD_TRACES) $(GO) test ./cmd/fairlead -count=1 -run TestDocsComparingPolicies -update

.PHONY: licenses
licenses: ## write the licenses of the modules that are in the program, when these have changed
	$(GO) test ./internal/notices -update

.PHONY: pictures
pictures: ## make the pictures of the dashboard in docs/ anew, by its tests in Chromium
	$(GO) test -count=1 -tags=real -run='TestRealPictures|TestRealMachines|TestRealPolicy|TestRealWeights' ./internal/web -update

.PHONY: fuzz
fuzz: ## fuzz every target for FUZZTIME (default 20s each)
	@./scripts/fuzz $(or $(FUZZTIME),20s)

.PHONY: clean
clean: ## remove what was built
	rm -f fairlead
