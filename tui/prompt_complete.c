/*
 * prompt_complete.c - what Tab adds to the line at a prompt: names of commands, views, their arguments, columns.
 */
#include <string.h>

#include "tui/explore_int.h"

/* What may stand where the typed word stands. */
typedef struct offers {
  const char *word;
  size_t len;
  size_t n;       /* how many begin with the word */
  em_str listing; /* those, a blank between two */
  size_t common;  /* bytes of the first one that all others begin with, too */
} offers;

static void offer(offers *o, const char *text)
{
  if (strncmp(text, o->word, o->len) != 0) return;
  if (o->n++ == 0) {
    o->common = strlen(text);
  } else {
    size_t same = 0;
    while (same < o->common && o->listing.s && o->listing.s[same] == text[same]) same++;
    while (same && ((unsigned char)text[same] & 0xc0) == 0x80) same--; /* no part of a character */
    o->common = same;
    em_str_putc(&o->listing, ' ');
  }
  em_str_put(&o->listing, text);
}

/* ---- what is offered ---- */

/* Before the name stands what `lead` holds, behind it `tail`. */
static void offer_columns(offers *o, const em_view *v, const char *lead, const char *tail)
{
  char text[128];
  for (size_t i = 0; i < v->n_columns; i++) {
    snprintf(text, sizeof text, "%s%s%s", lead, v->columns[i].name, tail);
    offer(o, text);
  }
}

/* As "card/label", which a session knows a pool by; in quotes where it has blanks or one has begun with a quote. */
static void offer_pools(em_explorer *x, offers *o)
{
  em_pool_info info;
  em_str text = {0};
  for (size_t i = 0; i < em_session_n_pools(x->session); i++) {
    em_session_pool(x->session, i, &info);
    const char *quote = *o->word == '"' ? "\"" : *o->word == '\'' || strchr(info.label, ' ') ? "'" : "";
    em_str_clear(&text);
    em_str_printf(&text, "%s%s/%s%s", quote, em_card_short_name(info.gpu), info.label, quote);
    if (text.s) offer(o, text.s);
  }
  em_str_free(&text);
}

/* Argument `index` of the view that the line names. */
static void offer_arguments(em_explorer *x, const char *line, size_t index, offers *o)
{
  char name[64];
  snprintf(name, sizeof name, "%.*s", (int)strcspn(line, " "), line);
  const em_view *v = em_view_find(name);
  if (!v || index >= v->n_params) return;
  if (strcmp(v->params[index].name, "pool") == 0) offer_pools(x, o);
  for (size_t i = 0; strcmp(v->params[index].name, "card") == 0 && i < em_n_cards(); i++)
    offer(o, em_card_at(i)->short_name);
}

/* Where the last word of `text` begins, which may be empty yet; *index: words before it. */
static size_t last_word(const char *text, size_t *index)
{
  em_word w = em_word_at(text);
  for (*index = 0; *w.end || (!w.quoted && w.text[w.len]); ++*index) w = em_word_at(w.end);
  return (size_t)(w.start - text);
}

/* What may stand behind an action, of which `line` is typed; returns where the word begins that is being typed. */
static size_t offer_behind(em_explorer *x, em_action action, const char *line, offers *o)
{
  const em_view *v = em_explorer_top(x)->view;
  size_t index = 0, at = action == EM_ACT_OPEN ? last_word(line, &index) : 0;
  o->word = line + at;
  o->len = strlen(o->word);
  for (size_t i = 0; action == EM_ACT_COMMAND && i < EM_N_ACTIONS; i++) offer(o, em_action_at(i)->command);
  if (action == EM_ACT_SORT) offer_columns(o, v, *line == '-' ? "-" : "", "");
  if (action == EM_ACT_COPY) offer_columns(o, v, "", "");
  if (action == EM_ACT_FILTER) offer_columns(o, v, *line == '!' ? "!" : "", ":");
  if (action == EM_ACT_OPEN && index > 0) offer_arguments(x, line, index - 1, o);
  for (size_t i = 0; action == EM_ACT_OPEN && index == 0 && em_views[i]; i++) offer(o, em_views[i]->name);
  return at;
}

/* ---- Tab ---- */

/* Is there more to type behind this word? */
static bool wants_more(em_action action, const char *word)
{
  if (action == EM_ACT_COMMAND) return *em_action_at(em_action_of_command(word, strlen(word)))->argument;
  const em_view *v = action == EM_ACT_OPEN ? em_view_find(word) : NULL;
  return v && v->n_params > 0;
}

void em_prompt_complete(em_explorer *x)
{
  em_prompt *p = &x->prompt;
  em_action action = p->action;
  offers o = {0};
  size_t at = action == EM_ACT_COMMAND ? strcspn(p->text, " ") : 0;
  if (p->text[at] == ' ') { /* the command is whole */
    action = em_action_of_command(p->text, at);
    at += strspn(p->text + at, " ");
  } else {
    at = 0;
  }
  at += offer_behind(x, action, p->text + at, &o);
  if (o.n > 0 && o.listing.s && at + o.common + 1 < sizeof p->text) {
    memcpy(p->text + at, o.listing.s, o.common);
    p->text[at + o.common] = '\0';
    if (o.n == 1 && wants_more(action, p->text + at)) strcat(p->text, " ");
  }
  snprintf(p->offers, sizeof p->offers, "%s", o.n > 1 && o.listing.s ? o.listing.s : o.n ? "" : "no name begins so");
  em_str_free(&o.listing);
}
