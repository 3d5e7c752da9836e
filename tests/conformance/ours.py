"""ours.py TOOL WORK - models that we write, loaded and scored by CatBoost.

CatBoost's JSON reader is off by one unit in the last place in one of seven numbers
of 17 digits, so a score that nearly cancels is held against the usual magnitude.
"""

import json
import sys

import catboost as cb
import numpy as np

from common import Tally, awkward_rows, difference, our_scores, run_tool


def random_model(rng, n_features, n_trees, depths, n_borders, nan, scale, bias, weights):
    """A model of our own making, in the least that core/prior reads; a third of the columns are unused."""
    features, owner = [], []
    for f in range(n_features):
        borders = [] if f % 3 == 1 else sorted(set(np.float32(rng.normal(size=n_borders)).tolist()))
        owner += [(f, b) for b in borders]
        features.append({"borders": borders, "feature_id": f"D_{f}", "has_nans": nan != "AsIs", "nan_value_treatment": nan})
    trees = []
    for _ in range(n_trees):
        depth = int(rng.integers(depths[0], depths[1] + 1)) if owner else 0
        tree = {"splits": [{"split_index": int(rng.integers(len(owner)))} for _ in range(depth)],
                "leaf_values": rng.normal(size=1 << depth).tolist()}
        if weights:
            tree["leaf_weights"] = rng.integers(0, 1000, size=1 << depth).tolist()
        trees.append(tree)
    return {"features_info": {"float_features": features}, "oblivious_trees": trees, "scale_and_bias": [scale, [bias]]}


def settings():
    for depths in ((1, 1), (0, 3), (6, 6), (4, 6), (7, 8), (9, 10), (14, 16)):
        for nan in ("AsFalse", "AsTrue", "AsIs"):
            yield f"depth {depths}, {nan}", dict(n_features=8, n_trees=12, depths=depths, n_borders=20, nan=nan,
                                                  scale=1, bias=0, weights=True)
    yield "no weights", dict(n_features=5, n_trees=50, depths=(6, 6), n_borders=10, nan="AsFalse", scale=1, bias=0, weights=False)
    yield "scale and bias", dict(n_features=5, n_trees=50, depths=(6, 6), n_borders=10, nan="AsFalse", scale=-0.3, bias=1e-3,
                                 weights=True)
    yield "700 borders", dict(n_features=5, n_trees=200, depths=(6, 6), n_borders=700, nan="AsFalse", scale=1, bias=0, weights=True)
    yield "one column", dict(n_features=1, n_trees=9, depths=(1, 4), n_borders=3, nan="AsFalse", scale=1, bias=0, weights=True)
    yield "no border at all", dict(n_features=2, n_trees=3, depths=(0, 0), n_borders=0, nan="AsIs", scale=1, bias=0.5, weights=True)


def main(tool, work):
    tally = Tally("models of ours, scored by CatBoost")
    for i, (name, spec) in enumerate(settings()):
        rng = np.random.default_rng(100 + i)
        model = random_model(rng, **spec)
        with open(f"{work}/made.json", "w") as f:
            json.dump(model, f)
        try:
            run_tool(tool, "print", f"{work}/made.json", f"{work}/ours.json")
            rows = awkward_rows(rng, [f["borders"] for f in model["features_info"]["float_features"]], spec["n_features"])
            theirs = cb.CatBoost()
            theirs.load_model(f"{work}/ours.json", format="json")
            want = theirs.predict(rows, prediction_type="RawFormulaVal")
            got = our_scores(tool, work, f"{work}/ours.json", rows)
            tally.check(name, difference(got, want, floor=np.mean(np.abs(want))))
        except (RuntimeError, cb.CatBoostError) as error:
            tally.refuse(name, error)
    return tally.close()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
