/* Which form of a layout an Accept field asks for. */
#include "expect.h"
#include "reply_layout.h"
#include "suites.h"

#include <string.h>

static void test_forms(void)
{
    static const struct {
        const char *accept;
        enum layout_form form;
    } rows[] = {
        {"", LAYOUT_JSON},
        {"*/*", LAYOUT_JSON},
        {"application/json", LAYOUT_JSON},
        {"application/*", LAYOUT_JSON},
        {"image/svg+xml", LAYOUT_SVG},
        {"IMAGE/SVG+XML", LAYOUT_SVG},
        {"image/*", LAYOUT_SVG},
        {"text/plain", LAYOUT_TEXT},
        {"text/plain; charset=utf-8", LAYOUT_TEXT},
        {"text/*;q=0.1", LAYOUT_TEXT},
        {" text/plain ; q=0.5 , image/svg+xml;q=0.4", LAYOUT_TEXT},
        {"text/plain;q=0.5,image/svg+xml;q=0.51", LAYOUT_SVG},
        {"text/plain;q=0.999, application/json", LAYOUT_JSON},
        {"image/svg+xml;q=0", LAYOUT_JSON},
        {"*/*, image/svg+xml;q=0", LAYOUT_JSON},
        {"*/*;q=0.8, application/json;q=0", LAYOUT_SVG},
        {"image/svg+xml, */*", LAYOUT_SVG},
        {"application/json, image/svg+xml", LAYOUT_JSON},
        /* what browsers send for a page and for a picture */
        {"text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8",
         LAYOUT_JSON},
        {"image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8", LAYOUT_SVG},
        /* none of the three, and nonsense */
        {"image/png", LAYOUT_JSON},
        {"text/html", LAYOUT_JSON},
        {"plain", LAYOUT_JSON},
        {"/", LAYOUT_JSON},
        {",,;;q=,/;", LAYOUT_JSON},
        {"text/plain;q=x", LAYOUT_JSON},
        {"text/plain;q=9", LAYOUT_TEXT},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct soma_text accept = {rows[i].accept, strlen(rows[i].accept)};
        EXPECT(layout_form_of(accept) == rows[i].form, "\"%s\" gives form %d", rows[i].accept,
               (int)layout_form_of(accept));
    }
    EXPECT(layout_form_of((struct soma_text){NULL, 0}) == LAYOUT_JSON, "without Accept");
}

static const struct soma_test tests[] = {
    {"forms", test_forms},
    {NULL, NULL},
};

const struct soma_suite suite_layout_accept = {"layout_accept", tests};
