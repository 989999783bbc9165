"""What the web sites of environments share when people visit them."""
