"""explain_speed.py EXPLAIN_TOOL WORK - time of SHAP values beside CatBoost's, in one run, one thread.

10,000 rows of 43 columns, 200 trees of depth 6. Processor time, least of three runs each.
"""

import sys
import time

import catboost as cb
import numpy as np

from common import run_tool


def main(tool, work):
    rng = np.random.default_rng(1)
    x = rng.normal(size=(20000, 43))
    y = (x[:, :6].sum(1) > 4).astype(float)
    model = cb.CatBoost(dict(loss_function="RMSE", iterations=200, depth=6, verbose=False, allow_writing_files=False))
    model.fit(x, y)
    model.save_model(f"{work}/model.json", format="json")
    np.save(f"{work}/rows.npy", x[:10000])
    pool, theirs = cb.Pool(x[:10000]), []
    for _ in range(3):
        start = time.process_time()
        model.get_feature_importance(pool, type="ShapValues", thread_count=1)
        theirs.append(time.process_time() - start)
    mine = float(run_tool(tool, "time", f"{work}/model.json", f"{work}/rows.npy", "1"))
    print(f"SHAP, 10,000 rows, 200 trees: {mine:.3f} s against CatBoost's {min(theirs):.3f} s, {min(theirs) / mine:.1f} times as fast")


if __name__ == "__main__":
    main(*sys.argv[1:])
