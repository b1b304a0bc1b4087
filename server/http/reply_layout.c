/* Content negotiation (RFC 9110, 12.5.1) between the three forms of a layout. */
#include "reply_layout.h"

#include "layout.h"
#include "reply.h"
#include "router.h"

#include <string.h>
#include <strings.h>

/* Bytes of one picture. The most crowded layouts that are drawn take about one MiB. */

static const struct {
    const char *kind, *name; /* kind/name */
} types[] = {
    [LAYOUT_JSON] = {"application", "json"},
    [LAYOUT_SVG] = {"image", "svg+xml"},
    [LAYOUT_TEXT] = {"text", "plain"},
};

enum { FORMS = sizeof(types) / sizeof(types[0]) };

/* Cut the part up to `stop` off the front, without blanks around it. */
static struct soma_text take_part(struct soma_text *text, char stop)
{
    const char *at = memchr(text->ptr, stop, text->len);
    struct soma_text part = {text->ptr, at == NULL ? text->len : (size_t)(at - text->ptr)};
    size_t taken = at == NULL ? text->len : part.len + 1;
    text->ptr += taken;
    text->len -= taken;
    while (part.len > 0 && strchr(" \t", part.ptr[0]) != NULL) {
        part.ptr++;
        part.len--;
    }
    while (part.len > 0 && strchr(" \t", part.ptr[part.len - 1]) != NULL)
        part.len--;
    return part;
}

static bool is_word(struct soma_text text, const char *word)
{
    return text.len == strlen(word) && strncasecmp(text.ptr, word, text.len) == 0;
}

/* Thousandths of the parameter "q=0.5"; 1000 when it is another one. */
static unsigned quality_of(struct soma_text parameter)
{
    unsigned quality = 0, digit = 1000;
    if (parameter.len < 3 || strncasecmp(parameter.ptr, "q=", 2) != 0)
        return 1000;
    for (size_t i = 2; i < parameter.len; i++) {
        char c = parameter.ptr[i];
        if (c == '.' && i == 3)
            continue;
        if (c < '0' || c > '9')
            return 0;
        quality += (unsigned)(c - '0') * digit;
        digit /= 10;
    }
    return quality > 1000 ? 1000 : quality;
}

/* How exactly a range names this form: 3 as it is, 2 by its kind, 1 as anything, 0 not. */
static unsigned exactness_of(struct soma_text range, enum layout_form form)
{
    struct soma_text rest = range;
    struct soma_text kind = take_part(&rest, '/');
    if (is_word(kind, "*") && is_word(rest, "*"))
        return 1;
    if (!is_word(kind, types[form].kind))
        return 0;
    return is_word(rest, types[form].name) ? 3 : is_word(rest, "*") ? 2 : 0;
}

enum layout_form layout_form_of(struct soma_text accept)
{
    unsigned quality[FORMS] = {0}, exactness[FORMS] = {0};
    while (accept.len > 0) {
        struct soma_text range = take_part(&accept, ',');
        struct soma_text type = take_part(&range, ';');
        unsigned q = 1000;
        while (range.len > 0 && q == 1000)
            q = quality_of(take_part(&range, ';'));
        for (int form = 0; form < FORMS; form++) {
            unsigned how = exactness_of(type, (enum layout_form)form);
            if (how > exactness[form]) {
                exactness[form] = how;
                quality[form] = q;
            }
        }
    }
    int best = LAYOUT_JSON;
    for (int form = 1; form < FORMS; form++) {
        if (quality[form] > quality[best] || (quality[form] > 0 && quality[form] == quality[best] &&
                                              exactness[form] > exactness[best]))
            best = form;
    }
    return (enum layout_form)best;
}

void reply_layout(struct request *req)
{
    struct soma_writer writer;
    enum layout_form form = layout_form_of(req->accept);
    if (form == LAYOUT_JSON) {
        reply_result(req, &req->result);
        return;
    }
    soma_writer_init(&writer, SOMA_LAYOUT_BYTES_MAX);
    if (form == LAYOUT_SVG)
        layout_svg(&writer, &req->result.u.layout);
    else
        layout_text(&writer, &req->result.u.layout);
    reply_writer(req, req->route->op->http,
                 form == LAYOUT_SVG ? "image/svg+xml" : "text/plain; charset=utf-8", &writer);
}
