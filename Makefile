# fairlead: what there is to do. `make` lists it.

GO ?= go

.DEFAULT_GOAL := help

.PHONY: help
help: ## list what there is
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1\t\2/' | expand -t 22
	@echo 'Campaigns, for make campaign ONLY=NAME:'
	@./scripts/campaign --list

.PHONY: build
build: ## build ./fairlead
	$(GO) build -o fairlead ./cmd/fairlead

.PHONY: test
test: ## run all tests (ten minutes): programs that are missing are installed if that is allowed, and listed otherwise
	@./scripts/test

.PHONY: quick
quick: ## run the quick suite only (go test ./...)
	$(GO) test ./...

.PHONY: check
check: ## formatting, vet, staticcheck and the house rules
	@files=$$(gofmt -l .) || exit 1; test -z "$$files" || { echo "gofmt -w these:"; echo "$$files"; exit 1; }
	$(GO) vet -tags=real,campaign ./...
	$(GO) run honnef.co/go/tools/cmd/staticcheck -tags=real,campaign ./...
	cd bench && $(GO) vet ./...
	$(GO) test ./internal/tidy

.PHONY: campaign
campaign: ## run what depends on real time or random kills: all campaigns (about an hour), or those of ONLY=chaos-bridge
	@./scripts/campaign $(ONLY)

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

.PHONY: clean
clean: ## remove the built program
	rm -f fairlead
