"""The administration of the shop: orders, products, customers, content, marketing and reports."""
