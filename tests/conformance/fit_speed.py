"""fit_speed.py BENCH WORK - fitting time beside CatBoost's: 350,000 rows x 43 columns, 1,000 groups, 200 trees of depth 6.

The program makes its rows itself (tests/bench/bench.c) and these are made alike; wall time, least of several runs.
CatBoost's time is that of `fit` on a Pool that is there already, ours has binning and ranking in it.
"""

import subprocess
import sys
import time

import catboost as cb
import numpy as np

GROUPS, ROWS, COLUMNS = 1000, 350, 43


def pool():
    rng = np.random.default_rng(3)
    values = [2, 6, 12, 40, 200, 5000]
    x = np.stack([rng.integers(values[c % 6], size=GROUPS * ROWS) for c in range(COLUMNS)], axis=1).astype(np.float32)
    y = np.zeros(GROUPS * ROWS)
    y[np.arange(GROUPS) * ROWS + rng.integers(ROWS, size=GROUPS)] = 1
    return cb.Pool(x, y, group_id=np.repeat(np.arange(GROUPS), ROWS))


def theirs(data, threads):
    best = float("inf")
    for _ in range(3):
        start = time.perf_counter()
        cb.CatBoost(dict(iterations=200, depth=6, learning_rate=0.1, l2_leaf_reg=1, loss_function="QuerySoftMax",
                         bootstrap_type="Bernoulli", subsample=0.8, sampling_unit="Group", leaf_estimation_method="Newton",
                         leaf_estimation_iterations=10, random_strength=0, boosting_type="Plain", thread_count=threads,
                         verbose=False, allow_writing_files=False)).fit(data)
        best = min(best, time.perf_counter() - start)
    return best


def main(bench, _work):
    data = pool()
    done = subprocess.run([bench, "fit"], capture_output=True, text=True, check=True)
    for threads, line in zip((1, 2), done.stdout.splitlines()):
        ours = float(line[28:].split()[0])
        other = theirs(data, threads)
        print(f"{threads} threads: ours {ours:.2f} s, CatBoost {other:.2f} s: {other / ours:.2f} times as fast")


if __name__ == "__main__":
    main(*sys.argv[1:])
