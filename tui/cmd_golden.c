/* cmd_golden.c - emmy golden format, check. */
#include <string.h>

#include "tui/cli.h"

int em_cmd_golden_format(const em_args *a, em_err *err)
{
  em_golden *g;
  em_str text = {0};
  const char *to = a->opt[EM_OPT_OUT_FILE].text;
  int rc = em_golden_read(a->words[0], &g, err);
  if (rc != EM_OK) return rc;
  if (to)
    rc = em_golden_write(g, to, err);
  else
    rc = em_golden_print(g, &text, err);
  if (rc == EM_OK && !to)
    rc = em_put_text(&text, err);
  else
    em_str_free(&text);
  em_golden_free(g);
  return rc;
}

/* ---- check ---- */

enum { NAME, CARD, KERNELS, ROUTING, MEASURED, PROPOSALS, INVENTORY, NOTES };

static const em_view_column columns[] = {
  {"file", "file", EM_TEXT, "", 40, 0, "the golden file"},
  {"card", "card", EM_TEXT, "", 26, 0, "card that it was recorded on"},
  {"kernels", "kernels", EM_INT, "kernels", 7, 0, "kernels"},
  {"routing", "routing", EM_INT, "rows", 7, 0, "kernel-set decisions"},
  {"measured", "measured", EM_INT, "rows", 8, 0, "measured rows"},
  {"proposals", "proposals", EM_INT, "rows", 9, 0, "rows with knobs and without a measurement"},
  {"inventory", "inventory", EM_INT, "rows", 9, 0, "rows without knobs"},
  {"notes", "notes", EM_TEXT, "", 30, 0, "what fails the check"},
};

typedef struct summary {
  const char *path;
  char *card;
  size_t kernels, routing, measured, proposals, inventory, drifted;
  bool canonical, known_card;
} summary;

static void put_notes(const summary *s, em_str *out)
{
  if (!s->canonical) em_str_put(out, "not in canonical form");
  if (s->drifted) em_str_printf(out, "%s%zu kernels with outdated stamps", out->len ? ", " : "", s->drifted);
  if (!s->known_card) em_str_printf(out, "%sunknown card", out->len ? ", " : "");
}

static void get(const void *ctx, size_t row, size_t column, em_cell *out)
{
  const summary *s = (const summary *)ctx + row;
  em_str notes = {0};
  switch (column) {
  case NAME: em_cell_text(out, s->path); break;
  case CARD: em_cell_text(out, s->card); break;
  case KERNELS: em_cell_int(out, (int64_t)s->kernels); break;
  case ROUTING: em_cell_int(out, (int64_t)s->routing); break;
  case MEASURED: em_cell_int(out, (int64_t)s->measured); break;
  case PROPOSALS: em_cell_int(out, (int64_t)s->proposals); break;
  case INVENTORY: em_cell_int(out, (int64_t)s->inventory); break;
  default:
    put_notes(s, &notes);
    em_cell_printf(out, "%s", notes.s ? notes.s : "");
    em_str_free(&notes);
  }
}

/* Is the file, byte for byte, what the printer writes? */
static int compare_bytes(const em_golden *g, const char *path, bool *same, em_err *err)
{
  em_str canonical = {0};
  em_map file;
  int rc = em_golden_print(g, &canonical, err);
  if (rc == EM_OK) rc = em_map_open(path, &file, err);
  if (rc == EM_OK) {
    *same = file.len == canonical.len && memcmp(file.data, canonical.s, file.len) == 0;
    em_map_close(&file);
  }
  em_str_free(&canonical);
  return rc;
}

static int check_file(const char *path, summary *s, em_err *err)
{
  em_golden *g;
  int rc = em_golden_read(path, &g, err);
  if (rc != EM_OK) return rc;
  *s = (summary){.path = path, .kernels = g->n_kernels, .routing = g->n_routing};
  for (size_t i = 0; i < g->n_rows; i++) {
    const em_golden_row *r = &g->rows[i];
    if (r->measured)
      s->measured++;
    else if (r->has_knobs)
      s->proposals++;
    else
      s->inventory++;
  }
  for (size_t i = 0; i < g->n_kernels; i++) s->drifted += g->kernels[i].drifted;
  s->known_card = !g->gpu_name || em_card_lookup(g->gpu_name);
  if (g->gpu_name && !(s->card = em_strdup(g->gpu_name))) rc = em_fail_nomem(err);
  if (rc == EM_OK) rc = compare_bytes(g, path, &s->canonical, err);
  em_golden_free(g);
  return rc;
}

int em_cmd_golden_check(const em_args *a, em_err *err)
{
  size_t n = a->n_words, bad = 0;
  summary *all = em_calloc(n, sizeof *all);
  int rc = all ? EM_OK : em_fail_nomem(err);
  for (size_t i = 0; i < n && rc == EM_OK; i++) {
    rc = check_file(a->words[i], &all[i], err);
    if (rc == EM_OK) bad += !all[i].canonical || !all[i].known_card || all[i].drifted;
  }
  em_table t = {columns, sizeof columns / sizeof *columns, n, get, all};
  if (rc == EM_OK) rc = em_table_print(a, &t, err);
  for (size_t i = 0; all && i < n; i++) em_free(all[i].card);
  em_free(all);
  if (rc == EM_OK && bad) rc = em_fail(err, EM_E_CHECK, "%zu of %zu files failed the check", bad, n);
  return rc;
}
