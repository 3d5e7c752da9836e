/*
 * fuzz_schedule.c - knob values, rows and typed knobs from arbitrary bytes.
 *
 * The first byte chooses the reader, the rest is its text.  Whatever a reader
 * accepts must print back as the text it was read from, and read again as the same.
 *
 * Built with a fuzzing engine it is driven by LLVMFuzzerTestOneInput; otherwise
 * (EM_FUZZ_MAIN) it runs the files it is given, or, given a number, as many
 * inputs of its own, made by mutating spellings.
 */
#include <stdlib.h>
#include <string.h>

#include "core/schedule/schedule.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool holds, const char *what, const char *text)
{
  if (holds) return;
  fprintf(stderr, "fuzz_schedule: %s does not hold for \"%s\"\n", what, text);
  abort();
}

static void check_error(int rc, const em_err *err, const char *text)
{
  demand(rc == EM_E_INPUT && err->code == EM_E_INPUT && err->msg[0], "a refusal with a message", text);
  for (const char *s = err->msg; *s; s++) demand((unsigned char)*s >= ' ' && *s != 0x7f, "a clean message", text);
}

static void fuzz_row(const char *text)
{
  em_err err;
  em_row r, again;
  char buf[EM_ROW_LEN];
  int rc = em_row_parse(text, &r, &err);
  if (rc) {
    check_error(rc, &err, text);
    return;
  }
  demand(strcmp(em_row_print(&r, buf), text) == 0, "print(parse(row)) == row", text);
  demand(em_row_parse(buf, &again, &err) == EM_OK && em_row_equal(&r, &again), "parse(print(row)) == row", text);
}

/* A value is a row of one family beside a WORK; `shape` chooses the WORK. */
static void fuzz_value(em_family f, unsigned shape, const char *text)
{
  static const char *const works[] = {"", "WORK= ", "WORK=t1 ", "WORK=t32x8 ", "WORK=w2x2 "};
  em_str line = {0};
  em_str_put(&line, f == EM_WORK ? "" : works[shape % 5]);
  em_str_printf(&line, "%s=%s", em_family_at(f)->name, text);
  if (line.s) fuzz_row(line.s);
  em_str_free(&line);
}

static void fuzz_knobs(const char *text)
{
  em_err err;
  em_knobs k, again;
  em_row row;
  bool single;
  int rc = em_knobs_parse_text(text, &k, &err);
  if (rc) {
    check_error(rc, &err, text);
    return;
  }
  em_str json = {0};
  cJSON *tree = NULL;
  em_place at = {.file = "fuzz"};
  em_knobs_print_json(&k, &json);
  if (json.s) {
    demand(em_json_parse(json.s, json.len, "fuzz", &tree, &err) == EM_OK, "knobs print as JSON", text);
    demand(em_knobs_from_json(tree, &at, &again, &err) == EM_OK, "from_json(print_json(knobs))", text);
    demand(em_knobs_compare(&k, &again) == 0 && em_knobs_same_schedule(&k, &again) && em_knobs_agree(&k, &again),
           "knobs through JSON", text);
    em_knobs_free(&again);
    em_json_free(tree);
  }
  demand(em_row_from_knobs(&k, &row, &single, &err) == EM_OK, "checked knobs project", text);
  em_str_free(&json);
  em_knobs_free(&k);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  if (size == 0) return 0;
  char *text = em_strndup((const char *)data + 1, size - 1);
  if (!text) return 0;
  unsigned reader = data[0] % 7;
  if (reader <= EM_RASTER)
    fuzz_value((em_family)reader, data[0] / 7u, text);
  else if (reader == 5)
    fuzz_row(text);
  else
    fuzz_knobs(text);
  em_free(text);
  return 0;
}

#ifdef EM_FUZZ_MAIN
/* Spellings to mutate: each token of each grammar at least once. */
static const char *const seeds[] = {
  "\x00t32x8",
  "\x00w2x4+p1",
  "\x15"
  "f4x8",
  "\x1cmma_m16n8k16_f16_f32/f4x8/k2",
  "\x16g4k/coop-t/v2/r4",
  "\x03"
  "d3/smem-async/p2",
  "\x03"
  "d2/smem-tma/c2/out",
  "\x03"
  "d1/reg",
  "\x04gm8",
  "\x05WORK=t32x8 TILE=f2x8 REDUCE= STAGE=d2/smem RASTER=gn4",
  "\x06WORK=t32,TILE@map.1/inner=f4,FAST_EXP=true,LOOPIFY=0,PLACE@reduce=cut",
  "\x06REDUCE=g2a,LAYOUT@w=folded",
};
enum { N_SEEDS = sizeof seeds / sizeof seeds[0], MOST = 256 };

static size_t mutate(uint64_t i, uint8_t buf[MOST])
{
  const char *seed = seeds[em_rng_below(1, 0, i, N_SEEDS)];
  size_t n = 1 + strlen(seed + 1);
  memcpy(buf, seed, n);
  uint64_t steps = em_rng_below(1, 1, i, 5);
  for (uint64_t s = 0; s < steps && n > 1; s++) {
    uint64_t draw = em_rng_u64(2 + s, i, 0);
    size_t at = 1 + (size_t)(draw >> 32) % (n - 1);
    static const char letters[] = "0123456789/xfktwprcvgmn+-=,@.\x1b\xc3 aTE";
    uint8_t c = (uint8_t)letters[(draw >> 8) % (sizeof letters - 1)];
    if (draw % 3 == 0) {
      buf[at] = c;
    } else if (draw % 3 == 1 && n < MOST) {
      memmove(buf + at + 1, buf + at, n - at);
      buf[at] = c;
      n++;
    } else {
      memmove(buf + at, buf + at + 1, n - at - 1);
      n--;
    }
  }
  return n;
}

static int run_file(const char *path)
{
  em_err err;
  char *text;
  size_t len;
  if (em_file_read(path, &text, &len, &err) != EM_OK) {
    fprintf(stderr, "fuzz_schedule: %s\n", err.msg);
    return 1;
  }
  LLVMFuzzerTestOneInput((const uint8_t *)text, len);
  em_free(text);
  return 0;
}

int main(int argc, char **argv)
{
  int64_t runs;
  if (argc == 2 && em_parse_i64(argv[1], 1, INT64_MAX, &runs)) {
    uint8_t buf[MOST];
    for (int64_t i = 0; i < runs; i++) LLVMFuzzerTestOneInput(buf, mutate((uint64_t)i, buf));
    return em_alloc_live() != 0;
  }
  if (argc < 2) fprintf(stderr, "usage: fuzz_schedule RUNS | FILE...\n");
  for (int i = 1; i < argc; i++)
    if (run_file(argv[i]) != 0) return 1;
  return argc < 2 ? 2 : 0;
}
#endif
