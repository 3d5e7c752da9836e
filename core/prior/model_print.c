/*
 * model_print.c - writes a model in CatBoost's JSON layout.
 *
 * Keys in CatBoost's order; one feature, one tree a line.  split_index is
 * counted anew, since it is all that CatBoost's loader reads of a split.
 */
#include <math.h>

#include "core/prior/model_int.h"

/* Shortest text that reads back as x; whole numbers without ".0", as CatBoost writes them. */
void em_put_number(em_str *out, double x)
{
  char buf[EM_DOUBLE_LEN];
  if (x == floor(x) && fabs(x) < 1e15 && !(x == 0 && signbit(x)))
    em_str_printf(out, "%.0f", x);
  else
    em_str_put(out, em_double_repr(x, buf));
}

static void put_line(em_str *out, int indent, const char *text) { em_str_printf(out, "\n%*s%s", indent, "", text); }

static void put_doubles(em_str *out, const double *x, size_t n)
{
  em_str_putc(out, '[');
  for (size_t i = 0; i < n; i++) {
    if (i) em_str_put(out, ", ");
    em_put_number(out, x[i]);
  }
  em_str_putc(out, ']');
}

static void put_feature(em_str *out, const em_model *m, size_t i)
{
  const em_model_feature *f = &m->features[i];
  em_str_put(out, "{\"borders\": [");
  for (size_t j = 0; j < f->n_borders; j++) {
    if (j) em_str_put(out, ", ");
    em_put_number(out, (double)m->borders[f->border_at + j]);
  }
  em_str_put(out, "], \"feature_id\": ");
  em_str_put_json(out, f->name);
  em_str_printf(out,
                ", \"feature_index\": %zu, \"flat_feature_index\": %zu, \"has_nans\": %s, "
                "\"nan_value_treatment\": \"%s\"}",
                i, i, f->has_nans ? "true" : "false", em_nan_treatment_name[f->nan]);
}

static void put_split(em_str *out, const em_model *m, uint32_t border)
{
  em_str_put(out, "{\"border\": ");
  em_put_number(out, (double)m->borders[border]);
  em_str_printf(out, ", \"float_feature_index\": %u, \"split_index\": %u, \"split_type\": \"FloatFeature\"}",
                m->border_feature[border], border);
}

static void put_oblivious(em_str *out, const em_model *m, size_t tree)
{
  const em_oblivious *t = &m->trees[tree];
  size_t leaves = (size_t)1 << t->n_splits;
  em_str_put(out, "{\"leaf_values\": ");
  put_doubles(out, m->leaf_values + t->leaf_at, leaves);
  if (t->weighted) {
    em_str_put(out, ", \"leaf_weights\": ");
    put_doubles(out, m->leaf_weights + t->leaf_at, leaves);
  }
  em_str_put(out, ", \"splits\": [");
  for (size_t i = 0; i < t->n_splits; i++) {
    if (i) em_str_put(out, ", ");
    put_split(out, m, m->split_border[t->split_at + i]);
  }
  em_str_put(out, "]}");
}

static void put_node(em_str *out, const em_model *m, size_t node)
{
  const em_node *n = &m->nodes[node];
  if (n->left) {
    em_str_put(out, "{\"left\": ");
    put_node(out, m, n->left);
    em_str_put(out, ", \"right\": ");
    put_node(out, m, n->right);
    em_str_put(out, ", \"split\": ");
    put_split(out, m, n->border);
  } else {
    em_str_put(out, "{\"value\": ");
    em_put_number(out, n->value);
    if (n->weighted) {
      em_str_put(out, ", \"weight\": ");
      em_put_number(out, n->weight);
    }
  }
  em_str_putc(out, '}');
}

static void put_features(em_str *out, const em_model *m, int indent)
{
  put_line(out, indent + 1, "\"features_info\": {");
  put_line(out, indent + 2, "\"float_features\": [");
  for (size_t i = 0; i < m->n_features; i++) {
    put_line(out, indent + 3, "");
    put_feature(out, m, i);
    if (i + 1 < m->n_features) em_str_putc(out, ',');
  }
  put_line(out, indent + 2, "]");
  put_line(out, indent + 1, "},");
}

static void put_trees(em_str *out, const em_model *m, int indent)
{
  put_line(out, indent + 1, m->symmetric ? "\"oblivious_trees\": [" : "\"trees\": [");
  for (size_t i = 0; i < m->n_trees; i++) {
    put_line(out, indent + 2, "");
    if (m->symmetric)
      put_oblivious(out, m, i);
    else
      put_node(out, m, m->roots[i]);
    if (i + 1 < m->n_trees) em_str_putc(out, ',');
  }
  put_line(out, indent + 1, "]");
}

static void put_scale_and_bias(em_str *out, const em_model *m, int indent)
{
  put_line(out, indent + 1, "\"scale_and_bias\": [");
  em_put_number(out, m->scale);
  em_str_put(out, ", ");
  put_doubles(out, &m->bias, 1); /* a list even for one: CatBoost reads a bare number as no bias */
  em_str_putc(out, ']');
}

/* Keys sorted: features_info, model_info, oblivious_trees | trees, scale_and_bias; "trees" sorts last. */
void em_model_print_indented(const em_model *m, int indent, em_str *out)
{
  em_str_putc(out, '{');
  put_features(out, m, indent);
  if (m->info) {
    put_line(out, indent + 1, "\"model_info\": ");
    em_json_print(m->info, out);
    em_str_putc(out, ',');
  }
  if (m->symmetric) {
    put_trees(out, m, indent);
    em_str_putc(out, ',');
    put_scale_and_bias(out, m, indent);
  } else {
    put_scale_and_bias(out, m, indent);
    em_str_putc(out, ',');
    put_trees(out, m, indent);
  }
  put_line(out, indent, "}");
}

void em_model_print(const em_model *m, em_str *out)
{
  em_model_print_indented(m, 0, out);
  em_str_putc(out, '\n');
}
