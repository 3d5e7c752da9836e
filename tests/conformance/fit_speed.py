"""fit_speed.py EMMY WORK - time and peak memory of fits beside CatBoost's, both reading the same dataset folder.

A made-up set of 350,000 rows x 43 columns in 1,000 groups, 200 trees of depth 6; and the shipped golden files with the
defaults of `emmy fit`.  Each fit is a process of its own, the least of several runs; the two take turns.  Ours is
the whole program: reading, drawing, binning, training, ranking every pool, writing.  CatBoost's time is that of `fit` alone, on a
Pool that is there already.  Memory is the peak resident set of each process, with and without the pages of mapped files
(ours maps the dataset); for CatBoost also what it was before `fit`.

  fit_speed.py --theirs DATASET PARAMETERS NEGATIVES    one of CatBoost's processes: prints seconds and KiB before the fit
"""

import json
import os
import resource
import sys
import tempfile
import time

import numpy as np

GROUPS, ROWS, COLUMNS = 1000, 350, 43
RUNS = int(os.environ.get("RUNS", "2"))
OBJECTIVES = os.environ.get("OBJECTIVES", "QuerySoftMax PairLogit YetiRank").split()
VALUES = (2, 6, 12, 40, 200, 5000)  # different values of a column, as features have them: few in some, many in others


def train(dataset, params, negatives):
    """One process of CatBoost's, which nobody else needs."""
    import catboost as cb

    with open(f"{dataset}/manifest.json") as f:
        groups = json.load(f)["golden"]
    columns = sorted({name for g in groups for name in g["feat_names"]})
    rng = np.random.default_rng(0)
    xs, ys, ids = [], [], []
    for i, g in enumerate(groups):
        raw = np.load(f"{dataset}/{g['matrix']}", mmap_mode="r")
        others = np.setdiff1d(np.arange(len(raw)), g["golden_ids"])
        rows = np.sort(np.concatenate([g["golden_ids"], rng.permutation(others)[:negatives] if negatives else others]))
        x = np.full((len(rows), len(columns)), np.nan, dtype=np.float32)
        place = {name: k for k, name in enumerate(g["feat_names"])}
        for c, name in enumerate(columns):
            if name in place:
                x[:, c] = raw[rows, place[name]]
        xs.append(x)
        ys.append(np.isin(rows, g["golden_ids"]).astype(np.float32))
        ids.append(np.full(len(rows), i))
    pool = cb.Pool(np.concatenate(xs), np.concatenate(ys), group_id=np.concatenate(ids))
    del xs, ys, ids
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.perf_counter()
    cb.CatBoost(params).fit(pool)
    print(time.perf_counter() - start, before)


def own_memory(pid):
    """KiB that a process has for itself, without the pages of files that it maps; 0 where the system does not say."""
    try:
        with open(f"/proc/{pid}/status") as f:
            return next((int(line.split()[1]) for line in f if line.startswith("RssAnon")), 0)
    except OSError:
        return 0


def child(command):
    """Seconds, peak KiB, peak KiB of its own (looked at now and then) and output of a process."""
    start, own = time.perf_counter(), 0
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as message:
        pid = os.posix_spawnp(command[0], command, os.environ,
                              file_actions=[(os.POSIX_SPAWN_DUP2, out.fileno(), 1), (os.POSIX_SPAWN_DUP2, message.fileno(), 2)])
        while True:
            done, status, usage = os.wait4(pid, os.WNOHANG)
            if done:
                break
            own = max(own, own_memory(pid))
            time.sleep(0.02)
        seconds = time.perf_counter() - start
        out.seek(0)
        message.seek(0)
        if status:
            raise SystemExit(f"{command[0]}: {message.read().strip()}")
        return seconds, usage.ru_maxrss, own, out.read()


def ours(emmy, work, dataset, options, threads):
    words = [word for key, value in options.items() for word in (f"--{key}", str(value))]
    seconds, peak, own, _ = child([emmy, "fit", *words, "--folds", "0", "--threads", str(threads), dataset, f"{work}/speed.json",
                              "--out", f"{work}/speed"])
    for file in ("prior.json", "metrics.json"):
        os.remove(f"{work}/speed/{file}")
    os.rmdir(f"{work}/speed")
    return seconds, peak, own


def theirs(dataset, options, threads):
    """The same settings in CatBoost's words."""
    params = dict(iterations=options["iterations"], depth=options["depth"], learning_rate=options["learning-rate"],
                  l2_leaf_reg=options["l2-leaf-reg"], loss_function=options["objective"], bootstrap_type="Bernoulli",
                  subsample=options["subsample"], sampling_unit="Group", rsm=options["rsm"], random_strength=0,
                  border_count=options["borders"], boosting_type="Plain", score_function="Cosine", thread_count=threads,
                  verbose=False, allow_writing_files=False)
    if options["objective"] != "YetiRank":  # which takes gradient steps alone
        params.update(leaf_estimation_method="Newton", leaf_estimation_iterations=options["leaf-steps"])
    _, peak, own, output = child([sys.executable, __file__, "--theirs", dataset, json.dumps(params), str(options["negatives"])])
    seconds, before = output.split()
    return float(seconds), peak, own, int(before)


def beside(name, emmy, work, dataset, options, threads):
    a, b = [], []
    for _ in range(RUNS):
        a.append(ours(emmy, work, dataset, options, threads))
        b.append(theirs(dataset, options, threads))
    a, b = [min(x) for x in zip(*a)], [min(x) for x in zip(*b)]
    print(f"{name}, {options['objective']}, {threads} threads: {a[0]:.2f} s, CatBoost {b[0]:.2f} s: {b[0] / a[0]:.2f} times as fast; peak "
          f"{a[1] / 1024:.0f} MiB ({a[2] / 1024:.0f} without mapped files), CatBoost {b[1] / 1024:.0f} MiB ({b[2] / 1024:.0f}; before "
          f"fit {b[3] / 1024:.0f}): {a[1] / b[1]:.2f} of it ({a[2] / max(1, b[2]):.2f})", flush=True)


def column_names(emmy):
    """Candidate features of the registry: the columns have to be ones that a fit knows."""
    rows = child([emmy, "view", "feature_registry", "--csv", "tests/fixtures/tiny.json"])[3].splitlines()[1:]
    return [row.split(",")[0] for row in rows if row.startswith("D_") and "*" not in row.split(",")[0]][:COLUMNS]


def make_up(emmy, work):
    """A dataset folder: the export of a small store, its groups replaced."""
    child([emmy, "db", "import", "--db", f"{work}/tiny.db", "--fresh", "tests/fixtures/tiny.json"])
    child([emmy, "db", "export", "--db", f"{work}/tiny.db", f"{work}/made-up"])
    with open(f"{work}/made-up/manifest.json") as f:
        manifest = json.load(f)
    origin, names, rng = manifest["golden"][0]["pools"], column_names(emmy), np.random.default_rng(3)
    manifest["golden"], manifest["skipped"] = [], []
    for g in range(GROUPS):
        x = np.stack([rng.integers(VALUES[c % len(VALUES)], size=ROWS) for c in range(COLUMNS)], axis=1).astype(float)
        np.save(f"{work}/made-up/golden/{g:04d}.npy", x)
        with open(f"{work}/made-up/golden/{g:04d}.rows", "w") as f:
            f.write("".join(f"WORK=t{r + 1}\n" for r in range(ROWS)))
        manifest["golden"].append({"key": f"card/{g}", "name": f"pool{g}", "tier": "thread", "gpu": "card", "shape": f"shape{g}",
                                   "dynamic": False, "feat_names": names, "total": ROWS, "matrix": f"golden/{g:04d}.npy",
                                   "golden_ids": [int(rng.integers(ROWS))], "pools": origin})
    with open(f"{work}/made-up/manifest.json", "w") as f:
        json.dump(manifest, f)
    return f"{work}/made-up"


def goldens(emmy, work):
    child([emmy, "db", "import", "--db", f"{work}/goldens.db", *sorted(f"data/golden/{f}" for f in os.listdir("data/golden"))])
    child([emmy, "db", "export", "--db", f"{work}/goldens.db", f"{work}/goldens"])
    return f"{work}/goldens"


def defaults(emmy, work):
    """The parameters of a fit that was told none, as its artifact has them."""
    child([emmy, "db", "export", "--db", f"{work}/tiny.db", f"{work}/tiny"])
    child([emmy, "fit", "--folds", "0", f"{work}/tiny", f"{work}/tiny.json", "--out", f"{work}/tiny-fit"])
    with open(f"{work}/tiny.json") as f:
        return json.load(f)["provenance"]["fit"]["params"]


def main(emmy, work):
    made_up, shipped, default = make_up(emmy, work), goldens(emmy, work), defaults(emmy, work)
    plain = {"iterations": 200, "depth": 6, "learning-rate": 0.1, "l2-leaf-reg": 1, "negatives": 0, "subsample": 0.8, "rsm": 1,
             "borders": 254, "leaf-steps": 10, "split-weight": "rows", "label-smoothing": 0, "bags": 1, "features": "D_*"}
    usual = {key: default[key] for key in ("iterations", "depth", "learning-rate", "l2-leaf-reg", "negatives", "subsample", "rsm",
                                           "borders", "leaf-steps", "split-weight")}
    usual.update({"label-smoothing": 0, "bags": 1})
    for objective in OBJECTIVES:  # the default first: the others take many minutes
        for threads in (1, 2):
            beside(f"{GROUPS * ROWS:,} rows x {COLUMNS}", emmy, work, made_up, dict(plain, objective=objective), threads)
            beside("shipped goldens", emmy, work, shipped, dict(usual, objective=objective), threads)


if __name__ == "__main__":
    if sys.argv[1] == "--theirs":
        train(sys.argv[2], json.loads(sys.argv[3]), int(sys.argv[4]))
    else:
        main(*sys.argv[1:])
