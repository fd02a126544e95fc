# fairlead: what there is to do. `make` lists it.

.DEFAULT_GOAL := help

.PHONY: help
help: ## list what there is
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1\t\2/' | expand -t 22
	@echo 'Campaigns, for make campaign ONLY=NAME:'
	@./scripts/campaign --list
	@echo 'SEED=N repeats a campaign that printed this seed: make campaign ONLY=chaos-server SEED=N.'

.PHONY: build
build: ## build ./fairlead
	go build -o fairlead ./cmd/fairlead

.PHONY: test
test: ## run all tests (ten minutes, the first time twenty): programs that are missing are installed if that is allowed, and listed otherwise
	@./scripts/test

.PHONY: quick
quick: ## run the quick suite only (go test ./...)
	go test ./...

.PHONY: check
check: ## formatting, vet, staticcheck and the house rules
	@files=$$(gofmt -l .) || exit 1; test -z "$$files" || { echo "gofmt -w these:"; echo "$$files"; exit 1; }
	go vet -tags=real,campaign ./...
	go run honnef.co/go/tools/cmd/staticcheck -tags=real,campaign ./...
	cd bench && go vet ./...
	go test ./internal/tidy

.PHONY: campaign
campaign: ## run what depends on real time or random kills: all campaigns (about two hours), or those of ONLY=chaos-bridge
	@./scripts/campaign $(ONLY)

.PHONY: bench
bench: ## measure this machine
	go run ./cmd/fairlead bench

.PHONY: bench-peers
bench-peers: ## measure it on PostgreSQL beside River and a bare loop of statements (about half an hour)
	cd bench && go run .

.PHONY: docs
docs: ## write the parts of docs/ that follow from the code
	go test ./cmd/fairlead -run 'TestReference|TestDocs' -update

.PHONY: docs-policies
docs-policies: ## replay two traces and write the tables and pictures of docs/explanation/comparing-policies.md anew; FAIRLEAD_TRACES is the folder that has kth-sp2.swf.gz and sdsc-sp2.swf.gz
	FAIRLEAD_TRACES=$(FAIRLEAD_TRACES) go test ./cmd/fairlead -count=1 -run TestDocsComparingPolicies -update

.PHONY: licenses
licenses: ## write the licenses of the modules that are in the program, when these have changed
	go test ./internal/notices -update

.PHONY: pictures
pictures: ## make the pictures of the dashboard in docs/ anew, by its tests in Chromium
	go test -count=1 -tags=real -run='TestRealPictures|TestRealMachines|TestRealPolicy|TestRealWeights' ./internal/web -update

.PHONY: clean
clean: ## remove the built program
	rm -f fairlead
