"""The storefront: catalogue, search, cart, checkout and the customer's account."""
