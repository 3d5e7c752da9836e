# conformance.mk - comparison with the real CatBoost; needs python3 with venv, and the network once.

CONFORMANCE_TOOLS := $(BUILD)/conformance/score_tool $(BUILD)/conformance/explain_tool

$(CONFORMANCE_TOOLS): $(BUILD)/conformance/%: $(BUILD)/tests/conformance/%.o $(CORE_LIB)
	$(LINK) $(CORE_LIBS)

conformance: all $(CONFORMANCE_TOOLS) ## compare models, scores and explanations with the real CatBoost
	@tests/conformance/run.sh $(BUILD)/conformance

conformance-speed: $(CONFORMANCE_TOOLS) ## time scoring and explaining beside the real CatBoost
	@tests/conformance/run.sh $(BUILD)/conformance speed explain_speed

# The part of `make bench` that needs CatBoost; some minutes.
bench-ratios: all $(CONFORMANCE_TOOLS)
	@if [ -e build/conformance/venv/installed ]; then \
	  OBJECTIVES=QuerySoftMax tests/conformance/run.sh $(BUILD)/conformance speed explain_speed fit_speed; \
	else \
	  echo "ratios to CatBoost: run make conformance-speed once, which installs it"; \
	fi

# Takes many minutes.
conformance-fit: all $(CONFORMANCE_TOOLS) ## fit beside the real CatBoost: held-out ranks with five seeds, times
	@tests/conformance/run.sh $(BUILD)/conformance fit fit_speed

.PHONY: conformance conformance-speed bench-ratios conformance-fit
