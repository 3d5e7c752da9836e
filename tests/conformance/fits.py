"""fits.py EMMY WORK TOOLS - priors that `emmy fit` makes, loaded, scored and explained by CatBoost.

A dataset of made-up pools, golden and measured ones; every objective and kind of label, depths 1 to 10, the ways to
weight, split and step. TOOLS is the folder of score_tool and explain_tool.
"""

import json
import os
import subprocess
import sys

import catboost as cb
import numpy as np

from common import Tally, awkward_rows, difference, our_scores, run_tool

NAMES = ["D_aspect", "D_cells", "D_l2_bm", "D_l2_bn", "D_reuse", "D_threads", "H_cc", "S_ext_n_symbolic_axis"]
POOLS, ROWS = 40, 50


def pool(rng):
    """A matrix, with missing values and few-valued columns, and latencies that follow it."""
    x = rng.normal(size=(ROWS, len(NAMES)))
    x[:, 1] = rng.integers(0, 2, size=ROWS)
    x[:, 2:4] = rng.integers(0, 6, size=(ROWS, 2))
    x[:, 4] *= 1e4
    x[rng.random(ROWS) < 0.2, 0] = np.nan
    x[:, 6] = rng.choice([70, 80, 90])
    x[:, 7] = rng.integers(0, 2)
    truth = np.where(x[:, 6] > 75, x[:, 2], -x[:, 2]) + 0.5 * x[:, 3] + np.isnan(x[:, 0]) - np.abs(x[:, 4] / 1e4)
    return x, np.exp(0.3 * (truth.max() - truth)) * rng.uniform(1, 1.1, size=ROWS) * 20


def make_dataset(emmy, work):
    """The export of a small store, its groups replaced."""
    run_tool(emmy, "db", "import", "--db", f"{work}/fits.db", "--fresh", "tests/fixtures/tiny.json")
    run_tool(emmy, "db", "export", "--db", f"{work}/fits.db", f"{work}/fits")
    with open(f"{work}/fits/manifest.json") as f:
        manifest = json.load(f)
    origin = manifest["golden"][0]["pools"]
    manifest["golden"], manifest["measured"], manifest["skipped"] = [], [], []
    os.makedirs(f"{work}/fits/measured", exist_ok=True)
    for i in range(POOLS):
        x, us = pool(np.random.default_rng(i))
        half = "measured" if i % 2 else "golden"
        file = f"{half}/{i:04d}"
        np.save(f"{work}/fits/{file}.npy", x)
        with open(f"{work}/fits/{file}.rows", "w") as f:
            f.write("".join(f"WORK=t{r + 1}\n" for r in range(ROWS)))
        group = {"key": f"card/{i}", "name": f"pool{i}", "tier": "thread", "gpu": "card", "shape": f"shape{i % 11}",
                 "dynamic": False, "feat_names": NAMES, "total": ROWS, "matrix": f"{file}.npy", "pools": origin}
        group.update({"h_opt": 3, "latency_us": us.tolist()} if i % 2 else {"golden_ids": [int(np.argmin(us))]})
        manifest[half].append(group)
    with open(f"{work}/fits/manifest.json", "w") as f:
        json.dump(manifest, f)


def settings():
    for objective in ("QuerySoftMax", "PairLogit", "YetiRank"):
        for depth in range(1, 11):
            yield {"objective": objective, "depth": depth}
        for labels in ("measured", "both"):
            for depth in (2, 6):
                yield {"objective": objective, "labels": labels, "depth": depth}
        yield {"objective": objective, "labels": "both", "leaf-method": "gradient", "score": "l2", "split-weight": "rows"}
    for bootstrap in ("none", "bayesian"):
        yield {"bootstrap": bootstrap, "rsm": 1, "bags": 3}
    for borders in (1, 2, 31):
        yield {"borders": borders, "random-strength": 1}


def fit(emmy, work, options):
    words = [word for key, value in options.items() for word in (f"--{key}", str(value))]
    done = subprocess.run([emmy, "fit", "--iterations", "20", "--folds", "0", "--features", "D_*,H_cc", "--threads", "1", *words,
                           f"{work}/fits", f"{work}/fit.json", "--out", f"{work}/fit-out"], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr.strip())
    for file in ("prior.json", "metrics.json"):
        os.remove(f"{work}/fit-out/{file}")
    os.rmdir(f"{work}/fit-out")
    with open(f"{work}/fit.json") as f:
        model = json.load(f)["model"]
    with open(f"{work}/fit-model.json", "w") as f:
        json.dump(model, f)
    return model


def check(tally, tools, work, name, model, rng):
    path = f"{work}/fit-model.json"
    features = model["features_info"]["float_features"]
    deepest = max(len(tree["splits"] or []) for tree in model["oblivious_trees"])
    rows = awkward_rows(rng, [f["borders"] or [] for f in features], len(features), 1000)
    theirs = cb.CatBoost().load_model(path, format="json")
    want = theirs.predict(rows, prediction_type="RawFormulaVal")
    tally.check(f"{name}, scores", difference(our_scores(f"{tools}/score_tool", work, path, rows), want, floor=np.mean(np.abs(want))))
    np.save(f"{work}/rows.npy", rows[:200])
    run_tool(f"{tools}/explain_tool", "shap", path, f"{work}/rows.npy", f"{work}/out.npy")
    shap = theirs.get_feature_importance(cb.Pool(rows[:200]), type="ShapValues")
    gap = np.max(np.abs(np.load(f"{work}/out.npy") - shap)) / max(1.0, np.max(np.abs(shap)))
    tally.check(f"{name}, SHAP", float(gap), 1e-9)
    tally.check(f"{name}, SHAP adds up", float(np.max(np.abs(shap.sum(axis=1) - want[:200]))), 1e-9)
    return deepest


def check_silence(tally, path):
    """CatBoost says what it misses in a model where no Python code sees it."""
    load = "import sys, catboost; catboost.CatBoost().load_model(sys.argv[1], format='json')"
    done = subprocess.run([sys.executable, "-c", load, path], capture_output=True, text=True)
    said = done.stdout + done.stderr
    tally.check(f"nothing to say of a model but \"{said.strip()}\"", float(len(said)), 0)


def main(emmy, work, tools):
    tally = Tally("priors of our fit, scored and explained by CatBoost")
    make_dataset(emmy, work)
    models, depths = 0, set()
    for i, options in enumerate(settings()):
        name = " ".join(f"{key} {value}" for key, value in options.items())
        try:
            depths.add(check(tally, tools, work, name, fit(emmy, work, options), np.random.default_rng(i)))
            models += 1
        except (RuntimeError, cb.CatBoostError) as error:
            tally.refuse(name, error)
    check_silence(tally, f"{work}/fit-model.json")
    print(f"{models} priors fitted, deepest trees {sorted(depths)}")
    return tally.close()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
