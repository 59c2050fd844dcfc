"""A generation as one HTML file that replays itself: `page_data` builds the data, `page` embeds them in a page."""
