-- The shop's tables. Money is in dollars, times are "2025-06-16 09:00:00", flags are 0 or 1.
CREATE TABLE category (
    id INTEGER PRIMARY KEY, parent_id INTEGER, name TEXT NOT NULL, url_path TEXT NOT NULL UNIQUE, position INTEGER NOT NULL
);
CREATE TABLE product (
    id INTEGER PRIMARY KEY, sku TEXT NOT NULL UNIQUE, name TEXT NOT NULL, url_key TEXT NOT NULL UNIQUE,
    category_id INTEGER NOT NULL, brand TEXT NOT NULL DEFAULT '', kind TEXT NOT NULL DEFAULT '',
    price REAL NOT NULL, special_price REAL, qty INTEGER NOT NULL, is_in_stock INTEGER NOT NULL DEFAULT 1,
    status INTEGER NOT NULL DEFAULT 1, -- 1 enabled, 2 disabled, as in Magento
    sale INTEGER NOT NULL DEFAULT 0, is_new INTEGER NOT NULL DEFAULT 0, weight REAL,
    catalogue_index INTEGER, -- of the generated catalogue; NULL for products that an administrator added
    description TEXT NOT NULL DEFAULT '', short_description TEXT NOT NULL DEFAULT '',
    created_at TEXT NOT NULL, updated_at TEXT NOT NULL
);
CREATE INDEX product_category ON product (category_id, price);
CREATE INDEX product_name ON product (name);
CREATE TABLE product_option (
    id INTEGER PRIMARY KEY, product_id INTEGER NOT NULL, name TEXT NOT NULL, value TEXT NOT NULL, position INTEGER NOT NULL
);
CREATE INDEX product_option_product ON product_option (product_id);
CREATE TABLE customer (
    id INTEGER PRIMARY KEY, email TEXT NOT NULL UNIQUE, password TEXT NOT NULL, firstname TEXT NOT NULL,
    lastname TEXT NOT NULL, group_name TEXT NOT NULL DEFAULT 'General', telephone TEXT NOT NULL DEFAULT '',
    subscribed INTEGER NOT NULL DEFAULT 0, created_at TEXT NOT NULL
);
CREATE TABLE address (
    id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL, firstname TEXT NOT NULL, lastname TEXT NOT NULL,
    company TEXT NOT NULL DEFAULT '', telephone TEXT NOT NULL, street TEXT NOT NULL, city TEXT NOT NULL,
    region TEXT NOT NULL, postcode TEXT NOT NULL, country TEXT NOT NULL,
    is_billing INTEGER NOT NULL DEFAULT 0, is_shipping INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX address_customer ON address (customer_id);
CREATE TABLE review (
    id INTEGER PRIMARY KEY, product_id INTEGER NOT NULL, customer_id INTEGER, nickname TEXT NOT NULL,
    title TEXT NOT NULL, detail TEXT NOT NULL, rating INTEGER NOT NULL, -- stars, 1 to 5
    status TEXT NOT NULL DEFAULT 'Approved', -- Approved, Pending, Not Approved
    created_at TEXT NOT NULL
);
CREATE INDEX review_product ON review (product_id, status, rating, created_at); -- sums need no look at the texts
CREATE TABLE sales_order (
    id INTEGER PRIMARY KEY, increment_id TEXT NOT NULL UNIQUE, -- "000000187"
    customer_id INTEGER, customer_name TEXT NOT NULL, customer_email TEXT NOT NULL,
    status TEXT NOT NULL, -- Pending, Processing, Complete, Canceled, Closed, On Hold, Fraud
    created_at TEXT NOT NULL, updated_at TEXT NOT NULL,
    subtotal REAL NOT NULL, shipping_amount REAL NOT NULL, tax_amount REAL NOT NULL DEFAULT 0,
    discount_amount REAL NOT NULL DEFAULT 0, coupon_code TEXT NOT NULL DEFAULT '', grand_total REAL NOT NULL,
    shipping_method TEXT NOT NULL, payment_method TEXT NOT NULL,
    shipping_name TEXT NOT NULL, shipping_street TEXT NOT NULL, shipping_city TEXT NOT NULL, shipping_region TEXT NOT NULL,
    shipping_postcode TEXT NOT NULL, shipping_country TEXT NOT NULL, shipping_telephone TEXT NOT NULL,
    billing_name TEXT NOT NULL, billing_street TEXT NOT NULL, billing_city TEXT NOT NULL, billing_region TEXT NOT NULL,
    billing_postcode TEXT NOT NULL, billing_country TEXT NOT NULL, billing_telephone TEXT NOT NULL
);
CREATE INDEX sales_order_customer ON sales_order (customer_id);
CREATE INDEX sales_order_created ON sales_order (created_at);
CREATE TABLE order_item (
    id INTEGER PRIMARY KEY, order_id INTEGER NOT NULL, product_id INTEGER NOT NULL, sku TEXT NOT NULL, name TEXT NOT NULL,
    options TEXT NOT NULL DEFAULT '', -- "Color: Blue, Size: M"
    price REAL NOT NULL, qty INTEGER NOT NULL, qty_invoiced INTEGER NOT NULL DEFAULT 0,
    qty_shipped INTEGER NOT NULL DEFAULT 0, qty_refunded INTEGER NOT NULL DEFAULT 0, row_total REAL NOT NULL
);
CREATE INDEX order_item_order ON order_item (order_id);
CREATE INDEX order_item_product ON order_item (product_id);
CREATE TABLE order_comment (
    id INTEGER PRIMARY KEY, order_id INTEGER NOT NULL, status TEXT NOT NULL, comment TEXT NOT NULL,
    is_notified INTEGER NOT NULL DEFAULT 0, is_visible INTEGER NOT NULL DEFAULT 0, created_at TEXT NOT NULL
);
CREATE INDEX order_comment_order ON order_comment (order_id);
CREATE TABLE invoice (
    id INTEGER PRIMARY KEY, increment_id TEXT NOT NULL UNIQUE, order_id INTEGER NOT NULL, state TEXT NOT NULL, -- Paid, Pending, Canceled
    grand_total REAL NOT NULL, created_at TEXT NOT NULL
);
CREATE INDEX invoice_order ON invoice (order_id);
CREATE TABLE shipment (
    id INTEGER PRIMARY KEY, increment_id TEXT NOT NULL UNIQUE, order_id INTEGER NOT NULL, carrier TEXT NOT NULL DEFAULT '',
    tracking_title TEXT NOT NULL DEFAULT '', tracking_number TEXT NOT NULL DEFAULT '', created_at TEXT NOT NULL
);
CREATE INDEX shipment_order ON shipment (order_id);
CREATE TABLE creditmemo (
    id INTEGER PRIMARY KEY, increment_id TEXT NOT NULL UNIQUE, order_id INTEGER NOT NULL, grand_total REAL NOT NULL,
    created_at TEXT NOT NULL
);
CREATE INDEX creditmemo_order ON creditmemo (order_id);
CREATE TABLE cart_item ( -- of a customer, or of a guest's session
    id INTEGER PRIMARY KEY, customer_id INTEGER, session_id INTEGER, product_id INTEGER NOT NULL,
    options TEXT NOT NULL DEFAULT '', qty INTEGER NOT NULL
);
CREATE INDEX cart_item_customer ON cart_item (customer_id);
CREATE TABLE cart_coupon ( -- the code that was applied to a cart
    id INTEGER PRIMARY KEY, customer_id INTEGER, session_id INTEGER, code TEXT NOT NULL
);
CREATE TABLE compare_item (
    id INTEGER PRIMARY KEY, customer_id INTEGER, session_id INTEGER, product_id INTEGER NOT NULL
);
CREATE TABLE wishlist_item (
    id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL, product_id INTEGER NOT NULL, options TEXT NOT NULL DEFAULT '',
    comment TEXT NOT NULL DEFAULT '', qty INTEGER NOT NULL DEFAULT 1, added_at TEXT NOT NULL
);
CREATE INDEX wishlist_item_customer ON wishlist_item (customer_id);
CREATE TABLE newsletter_subscriber (
    id INTEGER PRIMARY KEY, email TEXT NOT NULL, customer_id INTEGER, status TEXT NOT NULL DEFAULT 'Subscribed'
);
CREATE TABLE contact_message (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL, email TEXT NOT NULL, telephone TEXT NOT NULL DEFAULT '',
    comment TEXT NOT NULL, created_at TEXT NOT NULL
);
CREATE TABLE cms_page (
    id INTEGER PRIMARY KEY, title TEXT NOT NULL, identifier TEXT NOT NULL UNIQUE, content_heading TEXT NOT NULL DEFAULT '',
    content TEXT NOT NULL, is_active INTEGER NOT NULL DEFAULT 1, created_at TEXT NOT NULL, updated_at TEXT NOT NULL
);
CREATE TABLE search_term (
    id INTEGER PRIMARY KEY, query TEXT NOT NULL UNIQUE, results INTEGER NOT NULL, uses INTEGER NOT NULL
);
CREATE TABLE product_view ( -- how often a product was looked at in a month ("2025-05")
    id INTEGER PRIMARY KEY, product_id INTEGER NOT NULL, month TEXT NOT NULL, views INTEGER NOT NULL
);
CREATE INDEX product_view_product ON product_view (product_id);
CREATE TABLE cart_rule ( -- "Cart Price Rules" of the marketing menu
    id INTEGER PRIMARY KEY, name TEXT NOT NULL, coupon_code TEXT NOT NULL DEFAULT '', action TEXT NOT NULL, -- by_percent, by_fixed
    discount_amount REAL NOT NULL, is_active INTEGER NOT NULL DEFAULT 1, from_date TEXT NOT NULL DEFAULT '',
    to_date TEXT NOT NULL DEFAULT '', times_used INTEGER NOT NULL DEFAULT 0,
    min_subtotal REAL NOT NULL DEFAULT 0, description TEXT NOT NULL DEFAULT ''
);
CREATE TABLE admin_user (
    id INTEGER PRIMARY KEY, username TEXT NOT NULL UNIQUE, password TEXT NOT NULL, firstname TEXT NOT NULL,
    lastname TEXT NOT NULL, email TEXT NOT NULL
);
