"""How long calls take: samples of old and new in turn, and what may be concluded from them."""
