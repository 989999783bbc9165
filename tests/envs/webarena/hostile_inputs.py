# ruff: noqa: E501 (a table)
"""Two hundred texts that have broken web sites: markup, SQL, templates, control characters, numbers, sheer length."""

from __future__ import annotations

MARK = "mArK{}kRaM"  # in every text, so that it is found again wherever it is shown

_MARKUP = (
    "<script>alert('@')</script>", "<img src=x onerror=alert('@')>", "\"><svg onload=alert('@')>", "'><b>@</b>",
    "</textarea><script>@</script>", "</title><script>@</script>", "</option></select><i>@</i>", "<!--@", "-->@<b>",
    "<a href=\"javascript:alert('@')\">@</a>", "<iframe src=//example.com/@>", "<style>*{display:none}@</style>",
    "<form action=//example.com><input name=@></form>", "<base href=//example.com/@>", "<meta http-equiv=refresh content='0;url=//e/@'>",
    "\" autofocus onfocus=alert('@') x=\"", "' style='display:none' x='@", "&lt;script&gt;@&lt;/script&gt;", "&#60;b&#62;@", "&amp;amp;@&",
    "<![CDATA[@]]>", "<?php echo '@'; ?>", "<%= '@' %>", "<x:y z=\"@\">", "<\0script>@</script>", "<scr<script>ipt>@", "<table><td>@",
    "</div></div></div></body></html>@", "<details open ontoggle=alert('@')>", "<math><mi//xlink:href=\"data:x,@\">",
    "<select><option selected>@", "<input name=q value=@>", "<button formaction=//example.com/@>@", "<label for=search>@</label>", "<a>@</a><a>@</a>",
    "<div class=submission__inner>@</div>", "<td data-label='Account'>@</td>", "<title>@</title>", "<body data-page=@>", "<link rel=stylesheet href=//e/@>",
    "[link](javascript:alert('@'))", "![x](http://example.com/@.png)", "```\n</pre><b>@", "<p>@<p>@<p>@", "<h1 id=sidebar_content>@</h1>",
)  # fmt: skip
_SQL = (
    "' OR '1'='1 @", "'; DROP TABLE product; -- @", "\"; DELETE FROM user; -- @", "1; UPDATE session SET user_id = 1 -- @", "') OR 1=1 -- @",
    "%' OR 1=1 -- @", "@' UNION SELECT password FROM customer --", "\\' @", "@%", "@_", "@*", "1 OR 1=1 @", "NULL @", "@'||'x", "x'@'",
    "@\"@", "`@`", "[@]", "@ ESCAPE '\\'", "MATCH '@'", "@ -- ", "/*@*/", "@;;;", "ATTACH 'x' AS '@'", "PRAGMA @", "?1 ?2 @", ":name @", "$1 @",
    "'' '' @ ''", "@' COLLATE NOCASE --",
)  # fmt: skip
_TEMPLATES = (
    "{{ 7*7 }}@", "{% raw %}@", "{{ context.db }}@", "{{ ''.__class__.__mro__ }}@", "{# @ #}", "${7*7}@", "#{7*7}@", "<%= 7*7 %>@", "{0.__class__}@",
    "{@}", "%(x)s @", "%s%s%n @", "{{@}}", "{% for x in y %}@", "{{ cycler.__init__.__globals__ }}@", "{{ config }}@", "@{{", "@}}", "@{%", "\\{{@\\}}",
    "__SHOPPING__@", "__GITLAB__ @", "func:@", "document.querySelector('@')", "<image>@", "<answer>@</answer>", "</answer>@", "<|im_end|>@", "exit(message='@')", "do(action='Click', element='@')",
)  # fmt: skip
_CHARACTERS = (
    "@\0", "\x01\x02@\x7f", "@\r\nSet-Cookie: a=b", "@\n\n\n", "\t@\t", "\u202e@", "\u200b@\u200d", "\ufeff@", "\ufffe@", "\U0010ffff@", "e\u0301@" * 3,
    "@" + "\u0300" * 500, "\u0130\u0131@", "\u1e9e@", "ﷺ@", "日本語@", "🏴󠁧󠁢󠁥󠁮󠁧󠁿@", "@\u2028\u2029", "\xa0@\xa0", "@\x1b[31m", "\u0627\u0644@", "ß@ﬀ", "@\\u003cscript", "%3Cscript%3E@", "%00@",
    "@%0d%0aX: y", "+@+", "@&x=1&y=2", "@=@", "@;@", "?@#@",
)  # fmt: skip
_PLACES = (
    "../../etc/passwd@", "/../../@", "..%2f..%2f@", "C:\\@", "file:///etc/passwd?@", "http://169.254.169.254/@", "//example.com/@", "/static/../@", "@/../../x", "~/.ssh/@",
    "javascript:alert('@')", "data:text/html,@", "mailto:@", "tel:@", "ftp://@", "http://shopping.localhost/@", "/f/@/edit", "-/@", "@.html", ".@",
)  # fmt: skip
_NUMBERS = (
    "-1@", "0@", "999999999999999999999@", "1e309@", "NaN@", "Infinity@", "0x41@", "1,000.00@", "٣@", "1.5.5@", "--@", "2025-02-30@", "99/99/9999@", "24:61@", "0000000000@", "+1@", "1/0@", "½@", "²@", "12 @",
    "@-1", "@0", "1@2", "9" * 40 + "@", "-0@", "1e-9@", "0b1@", "1_000@", "١٢٣@", "3.@", "  @  ", "true@", "None@", "[]@", "undefined@",
)  # fmt: skip
_LONG = (
    "@" + "a" * 1_000_000, "@ " + "word " * 100_000, "@" + "<b>" * 50_000, "@" + "\n" * 100_000, "@" + "&" * 100_000, "@" + "(" * 20_000, "@" + "😀" * 50_000,
    "@" + "'" * 100_000, "@" + "{{" * 50_000,
)  # fmt: skip


def hostile_inputs() -> list[tuple[str, str]]:
    """Pairs of mark and text."""
    texts = (*_MARKUP, *_SQL, *_TEMPLATES, *_CHARACTERS, *_PLACES, *_NUMBERS, *_LONG)
    return [(MARK.format(number), text.replace("@", MARK.format(number))) for number, text in enumerate(texts)]
