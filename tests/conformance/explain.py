"""explain.py EXPLAIN_TOOL WORK - explanations of models that CatBoost trains, CatBoost's and ours."""

import sys

import catboost as cb
import numpy as np

from common import Tally, run_tool
from theirs import FEATURES, N, settings, train, training_set

TOLERANCE = 1e-9


def ours(tool, work, verb, path, rows=None):
    if rows is None:
        run_tool(tool, verb, path, f"{work}/out.npy")
    else:
        np.save(f"{work}/rows.npy", np.ascontiguousarray(rows, dtype=np.float64))
        run_tool(tool, verb, path, f"{work}/rows.npy", f"{work}/out.npy")
    return np.load(f"{work}/out.npy")


def from_file(model, path):
    """The model as the file has it: CatBoost explains a non-symmetric one that it has just trained wrongly,
    its values not adding up to the score, and rightly once it is loaded from JSON (catboost/catboost#2136)."""
    model.save_model(path, format="json")
    return cb.CatBoost().load_model(path, format="json")


def gap(a, b):
    """The largest difference, relative to the size of the values at hand."""
    return float(np.max(np.abs(a - b)) / max(1.0, float(np.max(np.abs(b)))))


def compare(tally, tool, work, name, model, x, fresh):
    path = f"{work}/model.json"
    model = from_file(model, path)
    for kind, rows in (("training rows", x[:300]), ("new rows", fresh)):
        want = model.get_feature_importance(cb.Pool(rows), type="ShapValues")
        tally.check(f"{name}, SHAP of {kind}", gap(ours(tool, work, "shap", path, rows), want), TOLERANCE)
    want = model.get_feature_importance(type="PredictionValuesChange")
    tally.check(f"{name}, PredictionValuesChange", gap(ours(tool, work, "values", path)[:, 0], want), TOLERANCE)


def compare_loss(tally, tool, work, name, model, x, label):
    path = f"{work}/model.json"
    group = np.arange(N) // 20
    want = model.get_feature_importance(cb.Pool(x, label, group_id=group), type="LossFunctionChange")
    rows = np.column_stack([x, label, group])
    tally.check(f"{name}, LossFunctionChange", gap(ours(tool, work, "loss", path, rows)[:, 0], want), TOLERANCE)


def labels(y):
    label = np.zeros(N)
    for g in range(0, N, 20):
        label[g + int(np.argmax(y[g:g + 20]))] = 1
    return label


def main(tool, work):
    tally = Tally("explanations of CatBoost's models")
    for i, (name, loss, share, params) in enumerate(settings()):
        rng = np.random.default_rng(i)
        x, y = training_set(rng, share)
        fresh, _ = training_set(np.random.default_rng(1000 + i), share)
        model = train(loss, params, x, y)
        if name in ("one tree", "no bias"):
            model.set_scale_and_bias(1, 0.125)  # CatBoost explains no model with another scale
        try:
            compare(tally, tool, work, name, model, x, fresh[:300])
            if loss == "QuerySoftMax":
                compare_loss(tally, tool, work, name, model, x, labels(y))
        except (RuntimeError, cb.CatBoostError) as error:
            tally.refuse(name, error)
    return tally.close()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
