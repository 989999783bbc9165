"""What an SVG shows: shapes with colours and places, and how well two drawings agree."""
