"""The data of the shop, which its storefront and its administration share."""
