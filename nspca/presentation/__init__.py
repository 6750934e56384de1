"""Results as text and pictures for people: rounded numbers, phrases, colours and small SVG figures."""
