"""common.py - what both directions of the comparison use."""

import subprocess

import numpy as np

TOLERANCE = 1e-12


def run_tool(tool, *args):
    """What a tool prints; its error is ours."""
    done = subprocess.run([tool, *args], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr.strip())
    return done.stdout


def our_scores(tool, work, model, rows):
    """Scores of a model file, by every code path (score_tool fails if they differ)."""
    np.save(f"{work}/rows.npy", np.ascontiguousarray(rows, dtype=np.float64))
    run_tool(tool, "scores", model, f"{work}/rows.npy", f"{work}/out.npy")
    return np.load(f"{work}/out.npy")[:, 0]


def difference(a, b, floor=1e-300):
    """The largest difference relative to the larger magnitude, or to `floor`."""
    scale = np.maximum(np.maximum(np.abs(a), np.abs(b)), floor)
    return float(np.max(np.abs(a - b) / scale))


def awkward_rows(rng, borders, n_features, n=3000):
    """Rows that hit borders, miss them by one float or less, and hold what breaks scorers."""
    rows = rng.normal(size=(n, n_features))
    special = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 3.4028234663852886e38, -3.4028234663852886e38, 1e-45, 1e300, -1e300])
    for f in range(n_features):
        pick = rng.random(n)
        if len(borders[f]):
            b = np.array(borders[f], dtype=np.float32)[rng.integers(len(borders[f]), size=n)]
            step = rng.integers(5, size=n)
            with np.errstate(over="ignore", invalid="ignore"):
                near = np.select(
                    [step == 0, step == 1, step == 2, step == 3],
                    [b.astype(np.float64), np.nextafter(b, np.float32(np.inf)).astype(np.float64),
                     np.nextafter(b, np.float32(-np.inf)).astype(np.float64), b.astype(np.float64) * (1 + 1e-12)],
                    b.astype(np.float64) * (1 - 1e-12))
            rows[:, f] = np.where(pick < 0.5, near, rows[:, f])
        rows[:, f] = np.where(pick > 0.9, special[rng.integers(len(special), size=n)], rows[:, f])
    return rows


class Tally:
    """Counts of one direction, printed at its end."""

    def __init__(self, what):
        self.what, self.passed, self.failed, self.worst = what, 0, 0, 0.0

    def check(self, name, delta, tolerance=TOLERANCE):
        self.worst = max(self.worst, delta)
        if delta <= tolerance:
            self.passed += 1
        else:
            self.failed += 1
            print(f"FAILED {self.what}: {name}: differ by {delta:.3g}")

    def refuse(self, name, reason):
        self.failed += 1
        print(f"FAILED {self.what}: {name}: {reason}")

    def close(self):
        print(f"{self.what}: {self.passed} passed, {self.failed} failed, largest difference {self.worst:.3g}")
        return 1 if self.failed else 0
