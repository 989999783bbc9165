"""The places that official tasks of WebArena-Lite look at, and what they show once an agent has done such tasks."""

from __future__ import annotations

from typing import NamedTuple

from tests.envs.webarena.evaluators.form_filling import ACCOUNT, TEXT


class Hook(NamedTuple):
    """A page, where a locator looks on it, and what it must find there."""

    url: str
    locator: str
    contents: str


def at(selector: str, property: str = "outerText") -> str:
    """The locator of an element."""
    return f"document.querySelector('{selector}').{property}"


INNER = "document.querySelector('.submission__inner')"
LINKS = (
    f"[...{INNER}.querySelectorAll('[href],[src]')]"
    ".map(elem => elem.getAttribute('href') || elem.getAttribute('src')).join(' ')"
)
NOTES = at('[id="notes-list"', "lastElementChild.querySelector('.timeline-discussion-body').outerText")
VOTE = at("div.submission__vote", "querySelector('form').getAttribute('class')")
BRANCH = "document.querySelectorAll('.detail-page-description > a.gl-font-monospace')[{}].outerText"
MESSAGE = at('[title="What\u2019s on your mind?"', "value")
CONTENT = at(".data.item.content")
OVERVIEW = """document.querySelector('.product.attribute.overview [itemprop="description"]')?.outerText"""
ME, ISSUE, POST = "__GITLAB__/byteblaze", "{new_issue}", "{post}"
MINE = "__GITLAB__/dashboard/issues?scope=all&state=opened&assignee_username=byteblaze"
ADDRESS, EDIT = "__SHOPPING__/customer/address", "__REDDIT__/f/{moderated}/edit"
ORDERS = "__SHOPPING_ADMIN__/sales/order"
PRODUCT, STOCK = "__SHOPPING_ADMIN__/catalog/product/edit/id/126/", "product[quantity_and_stock_status]"
CMS = "__SHOPPING_ADMIN__/cms/page/edit/page_id/2/"
HOOKS = [
    Hook(ME, at(".cover-status", "lastChild.textContent"), TEXT),
    Hook(ME, at('.profile-header [itemprop="url"]'), "egg.tart.com"),
    Hook("__GITLAB__/users/byteblaze/starred", "", "tarred"),
    Hook("__GITLAB__/users/byteblaze/following", at(".user-profile"), "@"),
    Hook("{project}", at(".visibility-icon", "getAttribute('title')"), "P"),
    Hook("{project}/-/commits", "", "ommit"),
    Hook("{project}/-/raw/{target}/README.md", "", "#"),
    Hook("{project}/-/issues/{issue}", NOTES, TEXT),
    Hook(MINE, "", TEXT),
    Hook(ISSUE, at('[data-qa-selector="title_content"]'), TEXT),
    Hook(ISSUE, at('[data-testid="sidebar-due-date"'), "Jan 3, 2030"),
    Hook(ISSUE, at(".block.assignee"), "Byte Blaze"),
    Hook("{new_request}", BRANCH.format(0), "{branch}"),
    Hook("{new_request}", BRANCH.format(1), "{target}"),
    Hook("{new_request}", at(".block.reviewer"), "Byte Blaze"),
    Hook(f"__REDDIT__/user/{ACCOUNT}", at(".user-bio__biography"), TEXT),
    Hook("__REDDIT__/", at("#sidebar > section"), "ubscribed"),
    Hook("__REDDIT__/f/{forum}/{submission}", VOTE, "vote vote--user-upvoted"),
    Hook(EDIT, at("#forum_description", "value"), TEXT),
    Hook(EDIT, at("#forum_sidebar", "value"), TEXT),
    Hook(POST, f"{INNER}.outerText", TEXT),
    Hook(POST, at(".submission__title"), TEXT),
    Hook(POST, at(".submission__body"), "Some body"),
    Hook(POST, at(".comment__body"), TEXT),
    Hook(POST, LINKS, "http://example.com/picture.jpg"),
    Hook(POST, f"{INNER}.outerText + {LINKS}", "http://example.com/picture.jpg"),
    Hook("__SHOPPING__/wishlist/", at(".products-grid.wishlist"), "$"),
    Hook("__SHOPPING__/checkout/cart", "", "Cart"),
    Hook("__SHOPPING__/newsletter/manage/", at('[title="General Subscription"', "checked.toString()"), "true"),
    Hook(ADDRESS, at(".box.box-address-shipping > .box-content"), "Emma Lopez"),
    Hook(ADDRESS, at(".box.box-address-billing > .box-content"), "Emma Lopez"),
    Hook("func:shopping_get_latest_order_url()", at(".order-details-items.ordered"), "{sku}"),
    Hook(ORDERS + "/view/order_id/{order}/", at("#order_status"), "e"),
    Hook(ORDERS + "/view/order_id/{order}", "", "Address"),
    Hook(ORDERS + "/commentsHistory/order_id/{order}/active_tab/order_shipments/", "", "istory"),
    Hook(ORDERS + "/?filters[status]=Canceled", at("div.admin__data-grid-filters-current"), "Canceled"),
    Hook(CMS, at('input[name="title"]', "value"), TEXT),
    Hook("__SHOPPING_ADMIN__/../{product}.html", f"{CONTENT} + ({OVERVIEW} || '')", "e"),
    Hook(PRODUCT, at('input[name="product[sale]"]', "value"), ""),
    Hook(PRODUCT, at('[name="product[status]"', "value"), "1"),
    Hook(PRODUCT, at('[name="product[price]"', "value"), "."),
    Hook(PRODUCT, at(f'[name="{STOCK}[is_in_stock]"', "value"), "1"),
    Hook(PRODUCT, at(f'[name="{STOCK}[qty]"', "value"), ""),
    Hook(PRODUCT, at('[data-index="configurable"'), "Config"),
    Hook("{report}", at('[id="sales_report_from"', "value"), "2/1/23"),
    Hook("{report}", at('[id="sales_report_to"', "value"), "2/28/23"),
    Hook("__MAP__/search?query=cafe", at('[id="sidebar_content"'), "Results"),
    Hook("{directions}", at('[name="route_from"', "value"), "Museum"),
    Hook("{directions}", at('[name="route_to"', "value"), "Station"),
    Hook("{directions}", at("div#content select.routing_engines", "selectedIndex"), "1"),
]
