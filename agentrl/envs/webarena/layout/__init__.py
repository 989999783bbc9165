"""Where the elements of a page stand, worked out without a browser: HTML, style sheets, boxes, lines, labels."""
