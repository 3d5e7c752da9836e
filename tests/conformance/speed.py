"""speed.py TOOL WORK - scoring time beside CatBoost's, in one run, one thread.

100,000 rows of 43 columns of doubles, as an evaluation has them; CatBoost's `predict` and
score_tool get the same matrix. Processor time, least of several runs each.
"""

import subprocess
import sys
import time

import catboost as cb
import numpy as np

ROWS, COLS = 100_000, 43


def fit(trees, policy):
    rng = np.random.default_rng(1)
    x = rng.normal(size=(ROWS, COLS))
    x[:, 5] = np.round(x[:, 5])
    x[rng.random(x.shape) < 0.1] = np.nan
    y = np.nan_to_num(x[:, :8]).sum(axis=1) + rng.normal(size=ROWS)
    model = cb.CatBoost(dict(iterations=trees, depth=6, loss_function="RMSE", grow_policy=policy, verbose=False,
                             thread_count=2, allow_writing_files=False))
    return model.fit(x[:20_000], y[:20_000]), x


def least(runs, call):
    best = float("inf")
    for _ in range(runs):
        start = time.process_time()
        call()
        best = min(best, time.process_time() - start)
    return best


def main(tool, work):
    for trees, policy in ((200, "SymmetricTree"), (1000, "SymmetricTree"), (200, "Depthwise")):
        model, x = fit(trees, policy)
        model.save_model(f"{work}/speed.json", format="json")
        np.save(f"{work}/speed.npy", x)
        pool = cb.Pool(x)
        theirs = least(10, lambda: model.predict(x, thread_count=1))
        pooled = least(10, lambda: model.predict(pool, thread_count=1))
        print(f"{trees} trees, {policy}: CatBoost {theirs * 1e3:.1f} ms from an array, {pooled * 1e3:.1f} ms from a Pool")
        done = subprocess.run([tool, "time", f"{work}/speed.json", f"{work}/speed.npy", "1"], capture_output=True, text=True, check=True)
        for line in done.stdout.splitlines():
            name, seconds = line.split()
            print(f"  {name:9} {float(seconds) * 1e3:6.1f} ms: {theirs / float(seconds):5.1f} and {pooled / float(seconds):5.1f} times as fast")


if __name__ == "__main__":
    main(*sys.argv[1:])
