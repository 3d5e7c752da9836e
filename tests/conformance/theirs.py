"""theirs.py TOOL WORK - models that CatBoost trains, scored by us."""

import json
import sys

import catboost as cb
import numpy as np

from common import Tally, awkward_rows, difference, our_scores

N, FEATURES = 1200, 9


def training_set(rng, nan_share):
    """Numbers of several kinds; column 4 is constant, column 6 takes no part in the label."""
    x = rng.normal(size=(N, FEATURES))
    x[:, 1] = np.round(x[:, 1] * 3)
    x[:, 2] = rng.integers(0, 2, size=N)
    x[:, 3] *= 1e6
    x[:, 4] = 5
    x[:, 5] = np.exp(x[:, 5] * 8)
    y = x[:, 0] + 0.3 * x[:, 1] + x[:, 2] * x[:, 7] + 1e-6 * x[:, 3] + 0.1 * rng.normal(size=N)
    if nan_share:
        x[rng.random(x.shape) < nan_share] = np.nan
    return x, y


def settings():
    """(name, loss, share of NaN, CatBoost's parameters) of each model."""
    base = dict(iterations=30, verbose=False, allow_writing_files=False, thread_count=2, random_seed=1)
    for depth in range(1, 11):
        for mode in ("Min", "Max"):
            yield f"depth {depth}, nan_mode {mode}", "RMSE", 0.15, dict(base, depth=depth, nan_mode=mode)
    for policy in ("Depthwise", "Lossguide"):
        for mode, share in (("Min", 0.15), ("Max", 0.15), ("Min", 0)):
            yield f"{policy}, nan_mode {mode}, NaN {share}", "RMSE", share, dict(base, depth=5, grow_policy=policy, nan_mode=mode)
    yield "Lossguide, 100 leaves", "RMSE", 0, dict(base, depth=12, grow_policy="Lossguide", max_leaves=100, min_data_in_leaf=1)
    for borders in (1, 2, 31, 32, 127, 254, 255, 256, 600, 1500):
        yield f"{borders} borders", "RMSE", 0.05, dict(base, iterations=300, border_count=borders)
    for loss in ("QuerySoftMax", "YetiRank", "PairLogit", "QueryRMSE"):
        yield loss, loss, 0.1, dict(base)
    yield "no bias", "RMSE", 0, dict(base, boost_from_average=False)
    yield "unused columns", "RMSE", 0.1, dict(base, ignored_features=[0, 3, 8])
    yield "NaN forbidden", "RMSE", 0, dict(base, nan_mode="Forbidden")
    yield "one tree", "RMSE", 0, dict(base, iterations=1)
    yield "many trees", "RMSE", 0.1, dict(base, iterations=700, depth=4)


def train(loss, params, x, y):
    model = cb.CatBoost(dict(params, loss_function=loss))
    if loss == "RMSE":
        return model.fit(cb.Pool(x, y))
    label = np.zeros(N)
    for g in range(0, N, 20):
        label[g + int(np.argmax(y[g:g + 20]))] = 1
    return model.fit(cb.Pool(x, label, group_id=np.arange(N) // 20))


def variants(path, work):
    """The file as CatBoost wrote it, and as other versions write it."""
    with open(path) as f:
        model = json.load(f)
    yield "as written", path
    symmetric = "oblivious_trees" in model
    for feature in model["features_info"]["float_features"]:
        feature["borders"] = feature["borders"] or None
    for tree in model.get("oblivious_trees", []):
        del tree["leaf_weights"]
        tree["splits"] = tree["splits"] or None
        for split in tree["splits"] or []:
            del split["split_index"]
    if symmetric:
        scale, bias = model["scale_and_bias"]
        model["scale_and_bias"] = [scale, bias[0]]
    del model["model_info"]
    with open(f"{work}/old.json", "w") as f:
        json.dump(model, f)
    yield "old spellings", f"{work}/old.json"


def main(tool, work):
    tally = Tally("models of CatBoost's, scored by us")
    models = 0
    for i, (name, loss, share, params) in enumerate(settings()):
        rng = np.random.default_rng(i)
        model = train(loss, params, *training_set(rng, share))
        if name in ("one tree", "no bias"):
            model.set_scale_and_bias(-1.75, 0.125)
        path = f"{work}/model.json"
        model.save_model(path, format="json")
        rows = awkward_rows(rng, [list(b) for b in borders_of(path)], FEATURES)
        want = model.predict(rows, prediction_type="RawFormulaVal")
        models += 1
        for kind, file in variants(path, work):
            try:
                tally.check(f"{name}, {kind}", difference(our_scores(tool, work, file, rows), want))
            except RuntimeError as error:
                tally.refuse(f"{name}, {kind}", error)
    print(f"{models} models trained")
    return tally.close()


def borders_of(path):
    with open(path) as f:
        return [feature["borders"] or [] for feature in json.load(f)["features_info"]["float_features"]]


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
