/* sql_examples.c - questions that come up, and the statement that answers each; on the shipped golden files. */
#include "views/sql_int.h"

#define POOL "'rtx4080/matmul.square.1024'"

static const em_sql_example examples[] = {
  {"Which pools of one card does the prior miss by more than rank 10?",
   "select kernel, golden_rank, candidates, notes from pools\n"
   "  where card = 'rtx4080' and golden_rank > 10 order by golden_rank desc;"},
  {"Which features differ between the cold pick and the golden, and how much of the difference in quality does each explain?",
   "select feature, a, b, prefers, quality from contributions(" POOL ", 'pick', 'golden')\n"
   "  where standing = 'differs' order by abs(quality) desc;"},
  {"Which candidates are blind pairs of the golden: no model of these features can tell them apart?",
   "select rank, work, tile, reduce, stage, raster, differs_in from blind_pairs(" POOL ", 'golden') order by rank;"},
  {"Which knob value, at which level of the fork, leads away from the golden?",
   "with recursive walk(n, path, level, choice, notes) as (\n"
   "  select 0, '', null, null, 'pick golden'\n"
   "  union all\n"
   "  select n + 1, f.path, f.level, f.choice, f.notes from walk, fork_tree(" POOL ", walk.path) f\n"
   "    where n < 5 and f.notes like '%golden%')\n"
   "select level, choice from walk where notes = 'golden' order by n limit 1;"},
  {"Which trees turn the order of pick and golden, and on how many training rows do their leaves rest?",
   "select tree, quality, parted_by, rows_a, rows_b from tree_diff(" POOL ", 'pick', 'golden')\n"
   "  where prefers = 'A' order by quality desc limit 10;"},
  {"Which pools lie outside what was fitted, and by which columns?",
   "select p.kernel, count(*) as outside, group_concat(x.feature, ' ') as columns\n"
   "  from pools p, extrapolation(p.pool) x\n"
   "  where p.card = 'rtx4080' and x.reach <> 'inside' group by p.pool order by outside desc;"},
  {"Which pools regressed between two fits?",
   "select pool, rank_a, rank_b, holdout_a, holdout_b, change from fit_diff('0001', '0002')\n"
   "  where standing = 'worse' order by change desc limit 20;"},
  {"Which pools would the prior of a fit rank otherwise?",
   "select p.kernel, p.golden_rank, q.golden_rank as fitted from pools p\n"
   "  join pools('rtx4080', null, '_tune/fits/0002/prior.json') q using (pool)\n"
   "  where q.golden_rank <> p.golden_rank order by q.golden_rank - p.golden_rank;"},
  {"How far is the price of the pick below that of the golden, by tier?",
   "select tier, count(*), median(golden_price / pick_price) as median_ratio from pools\n"
   "  where card = 'rtx4080' group by tier;"},
  {"Which goldens are outside their pool, and why?", "select card, name, reason from skipped;"},
  {"How well does the prior rank, card by card?",
   "select card, pools, median, top1, top10, worst from ranks order by 1.0 * top1 / pools desc;"},
  {"Which recorded rows are slower than the reference beside them?",
   "select card, kernel, us, reference_us, speedup from measurements where speedup < 1 order by speedup;"},
  {"Which knobs differ between picks and goldens, and how often?",
   "select f.column1 as knob, count(*) as pools, sum(knob(golden_row, f.column1) is not knob(pick_row, f.column1)) as differ\n"
   "  from pools, (values ('WORK'), ('TILE'), ('REDUCE'), ('STAGE'), ('RASTER')) f\n"
   "  where card = 'rtx4080' and golden_row is not null group by 1 order by differ desc;"},
  {"Do goldens rank worse in larger pools?",
   "select card, count(*), spearman(candidates, golden_rank) as correlation from pools group by card;"},
  {"Which features does the prior split on most?",
   "select feature, count(*) as splits, count(distinct border) as borders from splits group by feature order by splits desc limit 10;"},
};

size_t em_n_sql_examples(void) { return COUNT(examples); }

const em_sql_example *em_sql_example_at(size_t i) { return &examples[i]; }
