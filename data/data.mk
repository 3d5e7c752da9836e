# data.mk - the golden files that ship, made from the table of facts.

MAKE_GOLDEN := $(BUILD)/data/make_golden

$(MAKE_GOLDEN): $(BUILD)/data/make_golden.o $(CORE_LIB)
	$(LINK) $(CORE_LIBS)

golden: $(MAKE_GOLDEN) ## make data/golden/*.json from data/golden-facts.tsv
	$(MAKE_GOLDEN) data/golden-facts.tsv data/golden

# The shipped prior: the shipped golden files, imported, exported, fitted.
PRIOR_WORK := $(BUILD)/prior
prior: golden all ## fit data/prior/schedule.json to the shipped golden files
	rm -rf $(PRIOR_WORK) && mkdir -p $(PRIOR_WORK) data/prior
	./emmy db import --db $(PRIOR_WORK)/store.db data/golden/*.json
	./emmy db export --db $(PRIOR_WORK)/store.db $(PRIOR_WORK)/dataset
	./emmy fit $(PRIOR_WORK)/dataset data/prior/schedule.json --folds 0 --out $(PRIOR_WORK)/fit

# tests/cli/golden_data.sh runs it
check: $(MAKE_GOLDEN)

.PHONY: golden prior
