/* mdoc.h - text as mdoc, the language of manual pages. */
#ifndef EM_MDOC_H
#define EM_MDOC_H

#include "tui/cli.h"

/* As mdoc reads it back: backslash and quotes lose their meaning. */
void em_mdoc_escaped(em_str *out, const char *s, size_t n);
/* One sentence a line, long ones broken; an empty line becomes a paragraph. */
void em_mdoc_text(em_str *out, const char *s);
/* An entry of a tagged list: ".It Cm name", and the text with a full stop. */
void em_mdoc_item(em_str *out, const char *name, const char *text);

#endif
