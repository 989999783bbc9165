"""WebShop: a whole shop in one process: catalogue, search, pages, reward."""
