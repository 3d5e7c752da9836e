"""fit.py EMMY WORK - our fit beside CatBoost's, on the shipped golden files: same pools, columns, folds, settings, seeds.

Both draw their own negatives; both are ranked over whole pools as the dataset holds them, ties against the golden.
Fits of ours: with CatBoost's settings; the same with our way to weigh a split; and the defaults, which make the shipped
prior. Printed per pair of fits: both figures, and the mean difference (first - second) with the 95 % interval of a
paired bootstrap over pools. fit_speed.py has the times.
"""

import json
import os
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor

import catboost as cb
import numpy as np

SEEDS, NEGATIVES = 5, 1000
OURS = {"iterations": 200, "depth": 6, "learning-rate": 0.1, "l2-leaf-reg": 1, "negatives": NEGATIVES, "bootstrap": "bernoulli",
        "subsample": 0.8, "bags": 1, "leaf-method": "newton", "leaf-steps": 10, "score": "cosine", "split-weight": "rows",
        "random-strength": 0, "rsm": 1, "borders": 254, "label-smoothing": 0}
FITS = {"ours": OURS, "ours, split by curvature": dict(OURS, **{"split-weight": "curvature"}), "shipped": {}}
PAIRS = [("ours", "CatBoost"), ("ours, split by curvature", "CatBoost"), ("shipped", "CatBoost"), ("shipped", "ours"),
         ("shipped", "ours, split by curvature")]
FIGURES = {"top-1": lambda r: (r < 1).mean(axis=1), "top-10": lambda r: (r < 10).mean(axis=1),
           "mean log2(1 + rank)": lambda r: np.log2(1 + r).mean(axis=1)}
THEIRS = dict(iterations=200, depth=6, learning_rate=0.1, l2_leaf_reg=1, loss_function="QuerySoftMax", bootstrap_type="Bernoulli",
              subsample=0.8, sampling_unit="Group", leaf_estimation_method="Newton", leaf_estimation_iterations=10,
              score_function="Cosine", random_strength=0, border_count=254, boosting_type="Plain", verbose=False,
              allow_writing_files=False)


def load(dataset, columns):
    """Of each golden group: key, matrix in the order of the columns (NaN where it has none), golden rows."""
    groups = []
    with open(f"{dataset}/manifest.json") as f:
        golden = json.load(f)["golden"]
    for g in golden:
        raw = np.load(f"{dataset}/{g['matrix']}")
        place = {name: i for i, name in enumerate(g["feat_names"])}
        x = np.full((len(raw), len(columns)), np.nan, dtype=np.float32)
        for c, name in enumerate(columns):
            if name in place:
                x[:, c] = raw[:, place[name]]
        groups.append((g["key"], x, np.array(g["golden_ids"])))
    return groups


def train(groups, seed, threads):
    rng = np.random.default_rng(seed)
    xs, ys, ids = [], [], []
    for i, (_, x, golden) in enumerate(groups):
        others = np.setdiff1d(np.arange(len(x)), golden)
        rows = np.sort(np.concatenate([golden, rng.permutation(others)[:NEGATIVES]]))
        xs.append(x[rows])
        ys.append(np.isin(rows, golden).astype(float))
        ids.append(np.full(len(rows), i))
    pool = cb.Pool(np.concatenate(xs), np.concatenate(ys), group_id=np.concatenate(ids))
    return cb.CatBoost(dict(THEIRS, random_seed=seed, thread_count=threads)).fit(pool)


def rank(model, x, golden):
    score = model.predict(x, thread_count=1)
    others = np.ones(len(x), dtype=bool)
    others[golden] = False
    return int(np.sum(score[others] >= score[golden].max()))


def hold_out(job):
    groups, folds, seed, fold = job
    model = train([g for g, f in zip(groups, folds) if f != fold], seed, 1)
    return [(g[0], seed, rank(model, g[1], g[2])) for g, f in zip(groups, folds) if f == fold]


def interval(difference):
    rng = np.random.default_rng(0)
    draws = difference[rng.integers(len(difference), size=(10_000, len(difference)))].mean(axis=1)
    return np.percentile(draws, [2.5, 97.5])


def emmy(program, *args):
    subprocess.run([program, *args], check=True, stdout=subprocess.DEVNULL)


def our_fit(program, work, name, settings):
    options = [word for key, value in settings.items() for word in (f"--{key}", str(value))]
    emmy(program, "fit", *options, "--folds", "5", "--repeats", str(SEEDS), f"{work}/dataset", f"{work}/{name}.json",
         "--out", f"{work}/{name}")
    with open(f"{work}/{name}/metrics.json") as f:
        return json.load(f)


def their_ranks(groups, folds):
    jobs = [(groups, folds, seed, fold) for seed in range(SEEDS) for fold in sorted(set(folds))]
    ranks = {g[0]: [0] * SEEDS for g in groups}
    with ProcessPoolExecutor(len(os.sched_getaffinity(0))) as workers:
        for found in workers.map(hold_out, jobs):
            for key, seed, r in found:
                ranks[key][seed] = r
    return ranks


def held_out_ranks(program, work):
    """By fit: pools x seeds."""
    held = {}
    for k, (name, settings) in enumerate(FITS.items()):
        metrics = our_fit(program, work, f"ours{k}", settings)
        held[name] = metrics["cv"]["holdout_per_golden"]
    groups = load(f"{work}/dataset", metrics["header"]["columns"])
    keys = [g[0] for g in groups]
    if len(set(keys)) != len(keys) or any(set(keys) != set(h) for h in held.values()):
        raise SystemExit("the metrics files and the dataset do not hold the same pools")
    folds = [held["ours"][key]["fold"] for key in keys]
    if any([h[key]["fold"] for key in keys] != folds for h in held.values()):
        raise SystemExit("the fits do not hold out the same folds")
    held["CatBoost"] = {key: {"ranks": ranks} for key, ranks in their_ranks(groups, folds).items()}
    return {name: np.array([h[key]["ranks"] for key in keys], dtype=float) for name, h in held.items()}


def compare_ranks(program, work):
    ranks = held_out_ranks(program, work)
    for first, second in PAIRS:
        print(f"held out, {len(ranks[first])} pools, {SEEDS} seeds: {first}; {second}; difference with 95 % interval")
        for name, figure in FIGURES.items():
            a, b = figure(ranks[first]), figure(ranks[second])
            low, high = interval(a - b)
            print(f"  {name:20} {a.mean():.4f} {b.mean():.4f} {(a - b).mean():+.4f} ({low:+.4f} to {high:+.4f})")


def main(program, work):
    sys.stdout.reconfigure(line_buffering=True)  # it takes minutes
    emmy(program, "db", "import", "--db", f"{work}/store.db", *sorted(f"data/golden/{f}" for f in os.listdir("data/golden")))
    emmy(program, "db", "export", "--db", f"{work}/store.db", f"{work}/dataset")
    compare_ranks(program, work)


if __name__ == "__main__":
    main(*sys.argv[1:])
