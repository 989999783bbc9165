"""WebShop: a whole shop to search, compare and buy in; catalogue, goals and reward first, pages on top of them."""
