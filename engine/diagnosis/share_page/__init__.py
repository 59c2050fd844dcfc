"""A generation as one HTML file that replays itself in a browser.

`labels` formats text and numbers, `page_data` builds the data, `page` embeds the data in a page.
"""
